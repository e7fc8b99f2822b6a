//! `serve downstream`: the service behind a service. A web server with a thread per connection, whose
//! answers take as long as it is told and cost next to nothing; or a name server that is as slow.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::request;

/// A name's question is shorter than this in UDP (RFC 1035).
const LONGEST_QUESTION: usize = 512;
/// Bytes 2 and 3 of an answer: it is one, and there was no error.
const ANSWERED: [u8; 2] = [0x80, 0x00];

/// Arguments of `serve downstream`.
#[derive(Args)]
pub struct DownstreamArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// How long a request sleeps, us
    #[arg(long, default_value_t = 20_000)]
    sleep: u64,
    /// Answer questions for names over UDP instead
    #[arg(long)]
    names: bool,
}

/// Serves until killed.
pub fn serve(arguments: &DownstreamArguments) -> Result<u8> {
    let sleep = Duration::from_micros(arguments.sleep);
    if arguments.names {
        return names(&arguments.listen, sleep);
    }
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    request::answer_each(&listener, "downstream", move |stream, _| {
        answer(stream, sleep);
    })
}

/// Answers until the other side closes. A request without a body ends with its first empty line.
fn answer(mut stream: TcpStream, sleep: Duration) {
    let Ok(copy) = stream.try_clone() else {
        return;
    };
    let mut lines = BufReader::new(copy).lines();
    loop {
        let mut head = lines.by_ref().map_while(|line| line.ok());
        if !head.any(|line| line.is_empty()) {
            return;
        }
        if !sleep.is_zero() {
            std::thread::sleep(sleep);
        }
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Says to every question that it was understood and that there is no such record: a client that
/// waits for an answer waits as long for this one.
fn names(address: &str, sleep: Duration) -> Result<u8> {
    let socket = UdpSocket::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    println!("listening on {address}, thread 0");
    loop {
        let mut question = [0; LONGEST_QUESTION];
        let (length, from) = socket.recv_from(&mut question).context("cannot receive")?;
        let socket = socket.try_clone().context("cannot duplicate a socket")?;
        std::thread::spawn(move || {
            std::thread::sleep(sleep);
            if let Some(flags) = question.get_mut(2..4) {
                flags.copy_from_slice(&ANSWERED);
            }
            let _ = socket.send_to(&question[..length], from);
        });
    }
}
