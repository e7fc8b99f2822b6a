//! `serve workers`: a process per connection, as PostgreSQL has them. Some keep memory that they do
//! not need, more and more of it, until the kernel ends them; the others serve on.

use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use super::request;

/// How long a request sleeps: neither a CPU nor memory limits what the others get done.
const WORK: Duration = Duration::from_millis(1);
/// What a leaking worker takes per second, bytes.
const LEAK: f64 = 60e6;
/// Not taken from the kernel before something is written to it.
const PAGE: usize = 4096;

/// Arguments of `serve workers`.
#[derive(Args)]
pub struct WorkersArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// How many workers leak memory
    #[arg(long, default_value_t = 0)]
    leaking: u32,
    /// How long they do not, s
    #[arg(long, default_value_t = 0.0)]
    after: f64,
}

/// Arguments of `worker`, whose standard input is its connection.
#[derive(Args)]
pub struct WorkerArguments {
    /// When it begins to leak, s
    #[arg(long)]
    leaks_after: Option<f64>,
}

/// Serves until killed.
pub fn serve(arguments: &WorkersArguments) -> Result<u8> {
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    for number in 0.. {
        let (stream, _) = listener.accept().context("cannot accept a connection")?;
        // Small answers must not wait for more to send.
        let _ = stream.set_nodelay(true);
        let mut command = Command::new(&own);
        command.arg("worker");
        if number < arguments.leaking {
            let after = arguments.after.to_string();
            command.args(["--leaks-after", &after]);
        }
        let mut worker = command
            .stdin(Stdio::from(OwnedFd::from(stream)))
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start a worker")?;
        std::thread::Builder::new()
            .name("reaper".to_owned())
            .spawn(move || worker.wait())
            .context("cannot start a thread")?;
    }
    Ok(0)
}

/// Serves one connection until it is closed.
pub fn work(arguments: &WorkerArguments) -> Result<u8> {
    let connection = std::io::stdin().as_fd().try_clone_to_owned();
    let mut stream = TcpStream::from(connection.context("it has a connection")?);
    let start = Instant::now();
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut size = 0;
    while request::receive(&mut stream) {
        std::thread::sleep(WORK);
        if let Some(after) = arguments.leaks_after {
            let more = due(start.elapsed(), after).saturating_sub(size);
            size += more;
            kept.push(vec![7; more]);
        }
        if !request::send(&mut stream) {
            break;
        }
    }
    drop(kept);
    Ok(0)
}

/// What a worker of that age has kept, in whole pages.
fn due(age: Duration, after: f64) -> usize {
    let leaking = (age.as_secs_f64() - after).max(0.0);
    (leaking * LEAK) as usize / PAGE * PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_begins_late_and_grows() {
        let at = |seconds| due(Duration::from_secs_f64(seconds), 2.0);
        assert_eq!(at(1.0), 0);
        assert_eq!(at(2.0), 0);
        assert!((59_000_000..=60_000_000).contains(&at(3.0)));
        assert_eq!(at(3.0) % PAGE, 0);
    }
}
