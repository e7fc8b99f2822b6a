//! The one connection to a server.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use sensors::redis::REDIS;

use super::address::Address;
use super::info::{self, Answers, Info};
use super::resp::{self, Reply};
use super::trouble;
use crate::url::Endpoint;
use crate::{Connection, Hidden, Poll, Process, Server, Trouble};

/// A server that does not take a connection within this time is as good as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// One that does not answer within this time is too busy.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of one answer; the largest, INFO commandstats of all commands, has some 30,000.
const MOST_BYTES: u64 = 4 << 20;
/// What one poll asks.
const QUESTIONS: [&[&str]; 4] = [
    &["INFO"],
    &["INFO", "commandstats"],
    &["SLOWLOG", "LEN"],
    &["LATENCY", "LATEST"],
];

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// An open connection.
pub(super) struct Client {
    stream: BufReader<Box<dyn Stream>>,
    address: Address,
    /// The server's clock at the last poll, s since 1970.
    polled_s: i64,
    is_closed: bool,
}

impl Client {
    /// Connects and asks who answers.
    pub(super) fn connect(address: &Address) -> Result<(Self, Server), Trouble> {
        let stream = open(&address.endpoint).map_err(|error| trouble::failed(&error, address))?;
        let mut client = Self {
            stream: BufReader::new(stream),
            address: address.clone(),
            polled_s: i64::MAX,
            is_closed: false,
        };
        client.log_in()?;
        let [info, commands, slowlog, latency] = client.ask()?;
        let text = client.text(info)?;
        let info = Info::read(&text);
        client.polled_s = clock_s(&info);
        let hidden = [commands, slowlog, latency];
        let refused = hidden.iter().filter_map(|reply| match reply {
            Reply::Refused(said) => Some(trouble::refused(said, address).sentence),
            _ => None,
        });
        let hidden = refused.map(|sentence| Hidden {
            table: &REDIS,
            sentence,
        });
        let server = Server {
            process: process(&info),
            facts: facts(&info),
            hidden: hidden.collect(),
        };
        Ok((client, server))
    }

    fn log_in(&mut self) -> Result<(), Trouble> {
        let Address { user, password, .. } = &self.address;
        let words = match (user.clone(), password.clone()) {
            (None, None) => return Ok(()),
            (None, Some(password)) => vec!["AUTH".to_owned(), password],
            (Some(user), password) => {
                vec!["AUTH".to_owned(), user, password.unwrap_or_default()]
            }
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [reply] = self.exchange([&words])?;
        match reply {
            // As redis-cli: a password from the environment may be meant for another server.
            Reply::Refused(said) if trouble::needs_no_password(&said) => Ok(()),
            reply => self.text(reply).map(drop),
        }
    }

    fn ask(&mut self) -> Result<[Reply; 4], Trouble> {
        self.exchange(QUESTIONS)
    }

    /// Sends commands in one piece and takes their replies. After trouble no reply can be told from
    /// another, so the connection is over.
    fn exchange<const N: usize>(&mut self, commands: [&[&str]; N]) -> Result<[Reply; N], Trouble> {
        let mut replies = [const { Reply::Nothing }; N];
        let all = commands.map(resp::command).concat();
        let mut exchanged = self.stream.get_mut().write_all(&all);
        for reply in &mut replies {
            exchanged = exchanged.and_then(|()| {
                *reply = resp::read(&mut self.stream.by_ref().take(MOST_BYTES))?;
                Ok(())
            });
        }
        exchanged.map_err(|error| {
            self.is_closed = true;
            trouble::failed(&error, &self.address)
        })?;
        Ok(replies)
    }

    /// The text of a reply that has one.
    fn text(&self, reply: Reply) -> Result<String, Trouble> {
        match reply {
            Reply::Text(text) => Ok(text),
            Reply::Refused(said) => Err(trouble::refused(&said, &self.address)),
            _ => Err(trouble::odd(&self.address)),
        }
    }
}

impl Connection for Client {
    fn poll(&mut self) -> Result<Poll, Trouble> {
        let [info, commands, slowlog, latency] = self.ask()?;
        let mut text = self.text(info)?;
        if let Reply::Text(commands) = commands {
            text += &commands;
        }
        let info = Info::read(&text);
        let since_s = std::mem::replace(&mut self.polled_s, clock_s(&info));
        let row = info::row(&Answers {
            info,
            slowlog: match slowlog {
                Reply::Number(length) => Some(length),
                _ => None,
            },
            spikes: info::spikes(&latency),
            since_s,
        });
        Ok(Poll {
            server: row.into_iter().map(|(_, value)| value).collect(),
            ..Poll::default()
        })
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}

fn open(endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
    match endpoint {
        Endpoint::Tcp(host, port) => {
            let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
            for address in (host.as_str(), *port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                    Ok(stream) => {
                        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
                        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
                        stream.set_nodelay(true)?;
                        return Ok(Box::new(stream));
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
        Endpoint::Socket(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
            Ok(Box::new(stream))
        }
    }
}

/// The server's clock, s since 1970; without one every spike is new.
fn clock_s(info: &Info<'_>) -> i64 {
    info.number("server_time_usec")
        .map_or(i64::MIN, |us| us / 1_000_000)
}

fn process(info: &Info<'_>) -> Option<Process> {
    let age_s = info.number("uptime_in_seconds")?;
    Some(Process::Numbered {
        pid: info.text("process_id")?.parse().ok()?,
        age_ns: age_s.saturating_mul(1_000_000_000),
        is_ours: false,
    })
}

/// What is kept of INFO: versions and settings, never a path or an address.
fn facts(info: &Info<'_>) -> BTreeMap<String, String> {
    const KEPT: [(&str, &str); 7] = [
        ("redis_version", "version"),
        ("server_name", "server_name"),
        ("valkey_version", "valkey_version"),
        ("redis_mode", "mode"),
        ("role", "role"),
        ("maxmemory_policy", "maxmemory_policy"),
        ("aof_enabled", "aof_enabled"),
    ];
    let known = KEPT
        .iter()
        .filter_map(|(field, name)| Some(((*name).to_owned(), info.text(field)?.to_owned())));
    known.collect()
}
