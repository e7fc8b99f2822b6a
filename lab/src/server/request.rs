//! What client and server say to each other: eight bytes there, eight bytes back. And computing for
//! a while, which is what a request costs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Length of a request and of its answer.
pub const BYTES: usize = 8;

/// Reads one request or answer; false when the other side has closed.
pub fn receive(stream: &mut TcpStream) -> bool {
    stream.read_exact(&mut [0; BYTES]).is_ok()
}

/// Sends one request or answer; false when the other side has closed.
pub fn send(stream: &mut TcpStream) -> bool {
    stream.write_all(&[7; BYTES]).is_ok()
}

/// A listening socket, said on standard output with the thread that matters.
pub fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))
}

/// Says where the server is reached, and the id of the thread that everything goes through.
pub fn say(listener: &TcpListener, thread: i32) -> Result<()> {
    let address = listener.local_addr().context("a socket has an address")?;
    println!("listening on {address}, thread {thread}");
    Ok(())
}

/// Answers each connection in a thread of this name, until killed; `answer` is also told how many came before.
pub fn answer_each(
    listener: &TcpListener,
    name: &str,
    answer: impl Fn(TcpStream, u64) + Send + Sync + 'static,
) -> Result<u8> {
    let answer = Arc::new(answer);
    for number in 0.. {
        let (stream, _) = listener.accept().context("cannot accept a connection")?;
        // Small answers must not wait for more to send.
        let _ = stream.set_nodelay(true);
        let answer = Arc::clone(&answer);
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || answer(stream, number))
            .context("cannot start a thread")?;
    }
    Ok(0)
}

/// The address and the thread of that line.
pub fn said(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("listening on ")?.split_once(", thread ")
}

/// Uses the CPU for a time, by the clock: a slower machine does not make it longer.
pub fn compute(for_how_long: Duration) {
    let start = Instant::now();
    let mut value = 1_u64;
    while start.elapsed() < for_how_long {
        for _ in 0..200 {
            value =
                std::hint::black_box(value.wrapping_mul(6_364_136_223_846_793_005).rotate_left(9));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_as_it_is_said() {
        let line = "listening on 127.0.0.1:7, thread 42";
        assert_eq!(said(line), Some(("127.0.0.1:7", "42")));
        assert_eq!(said("ready"), None);
    }

    #[test]
    fn computing_takes_at_least_its_time() {
        let start = Instant::now();
        compute(Duration::from_millis(2));
        assert!(start.elapsed() >= Duration::from_millis(2));
    }
}
