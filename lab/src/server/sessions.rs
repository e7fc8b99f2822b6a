//! `sessions`: an application without a connection pool. Each of its workers opens a PostgreSQL
//! session, asks something, keeps the session for a while and closes it; when the server has no
//! room it tries again. pgbench cannot do that: it gives up at the first refusal.
//!
//! Of the protocol ("Frontend/Backend Protocol", PostgreSQL's documentation) only what that takes:
//! no password, simple queries, messages skipped by their length.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use super::load::Tally;

/// Version 3.0.
const PROTOCOL: u32 = 196_608;
/// A refused worker waits this long, as a well-behaved application would.
const RETRY: Duration = Duration::from_millis(100);
/// Longer messages are not answers to our question.
const LONGEST: usize = 1 << 20;

/// Arguments of `sessions`.
#[derive(Args)]
pub struct SessionsArguments {
    /// Print nothing before the end
    #[arg(long)]
    quiet: bool,
    /// The server's socket
    socket: PathBuf,
    /// Who asks; needs no password
    #[arg(long)]
    user: String,
    /// Which database
    #[arg(long)]
    database: String,
    /// Workers
    #[arg(long, default_value_t = 40)]
    workers: u32,
    /// How long a worker keeps its session, ms
    #[arg(long, default_value_t = 200)]
    keep: u64,
    /// How long to run, s
    #[arg(long, default_value_t = 10)]
    seconds: u32,
}

/// Runs the load.
pub fn sessions(arguments: &SessionsArguments) -> Result<u8> {
    let tally = Arc::new(Tally::default());
    let hello = Arc::new(startup(&arguments.user, &arguments.database));
    for _ in 0..arguments.workers {
        let (tally, hello) = (Arc::clone(&tally), Arc::clone(&hello));
        let (socket, keep) = (
            arguments.socket.clone(),
            Duration::from_millis(arguments.keep),
        );
        let thread = std::thread::Builder::new().name("worker".to_owned());
        let work = move || {
            let mut asked = Instant::now();
            while !tally.ended() {
                if session(&socket, &hello, keep).is_ok() {
                    // With the time of all refused attempts: that is what the user of it waits.
                    tally.done(asked.elapsed());
                    asked = Instant::now();
                } else {
                    tally.failed();
                    std::thread::sleep(RETRY);
                }
            }
        };
        thread.spawn(work).context("cannot start a thread")?;
    }
    tally.report(arguments.seconds, arguments.quiet);
    // The threads end with the process, wherever they wait.
    Ok(0)
}

/// Opens so many sessions at once over TCP, waits until the server is ready for each, and ends them.
pub fn at_once(address: &str, count: u32, user: &str, database: &str) -> Result<()> {
    let hello = startup(user, database);
    let open = (0..count).map(|_| -> Result<TcpStream> {
        let mut stream = TcpStream::connect(address).context("cannot reach the server")?;
        stream.write_all(&hello)?;
        Ok(stream)
    });
    let mut open: Vec<TcpStream> = open.collect::<Result<_>>()?;
    open.iter_mut().try_for_each(until_ready)?;
    for stream in &mut open {
        stream.write_all(&message(b'X', b""))?;
    }
    Ok(())
}

fn session(socket: &PathBuf, hello: &[u8], keep: Duration) -> Result<()> {
    let mut stream = UnixStream::connect(socket).context("cannot reach the server")?;
    stream.write_all(hello)?;
    until_ready(&mut stream)?;
    stream.write_all(&message(b'Q', b"SELECT 1\0"))?;
    until_ready(&mut stream)?;
    std::thread::sleep(keep);
    stream.write_all(&message(b'X', b""))?;
    Ok(())
}

/// Reads messages up to ReadyForQuery; an error when the server says one.
fn until_ready(stream: &mut impl Read) -> Result<()> {
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let Some(rest) = length.checked_sub(4).filter(|rest| *rest <= LONGEST) else {
            bail!("the server does not speak PostgreSQL's protocol");
        };
        stream.read_exact(&mut vec![0; rest])?;
        match head[0] {
            b'Z' => return Ok(()),
            b'E' => bail!("refused"),
            _ => {}
        }
    }
}

fn startup(user: &str, database: &str) -> Vec<u8> {
    let mut body = PROTOCOL.to_be_bytes().to_vec();
    for word in ["user", user, "database", database] {
        body.extend(word.as_bytes());
        body.push(0);
    }
    body.push(0);
    with_length(&body)
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(with_length(body));
    bytes
}

/// The length counts itself.
fn with_length(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend(body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_length() {
        assert_eq!(message(b'X', b""), [b'X', 0, 0, 0, 4]);
        let hello = startup("a", "b");
        assert_eq!(hello.len(), 4 + 4 + 5 + 2 + 9 + 2 + 1);
        assert_eq!(hello[..8], [0, 0, 0, 27, 0, 3, 0, 0]);
    }

    #[test]
    fn answers_end_with_ready_or_an_error() {
        let ready = [&b"R\0\0\0\x08\0\0\0\0"[..], b"Z\0\0\0\x05I"].concat();
        assert!(until_ready(&mut &ready[..]).is_ok());
        assert!(until_ready(&mut &b"E\0\0\0\x05x"[..]).is_err());
        assert!(
            until_ready(&mut &b"R\0\0\0\0"[..]).is_err(),
            "no such length"
        );
        assert!(until_ready(&mut &b"R\xff\xff\xff\xff"[..]).is_err());
    }
}
