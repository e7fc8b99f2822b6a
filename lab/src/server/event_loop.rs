//! `serve single-thread`: one thread waits for all connections and computes each answer itself.
//! With `--loops 2` there are two such threads, and a connection belongs to one of them.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};

use super::cpus::pin;
use super::request;

/// How long a loop without a connection waits before it looks for new ones.
const IDLE: Duration = Duration::from_millis(20);

/// Arguments of `serve single-thread`.
#[derive(Args)]
pub struct LoopArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// CPU time of a request, us
    #[arg(long, default_value_t = 400)]
    work: u64,
    /// How many threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    loops: u8,
    /// The one CPU that these threads may use; the process itself may use all
    #[arg(long)]
    cpu: Option<usize>,
}

/// Serves until killed.
pub fn serve(arguments: &LoopArguments) -> Result<u8> {
    let listener = request::listen(&arguments.listen)?;
    let work = Duration::from_micros(arguments.work);
    let cpu = arguments.cpu;
    let (say_id, ids) = channel();
    let mut loops: Vec<Sender<TcpStream>> = Vec::new();
    for _ in 0..arguments.loops {
        let (give, take) = channel();
        let say_id = say_id.clone();
        std::thread::Builder::new()
            .name("loop".to_owned())
            .spawn(move || {
                if cpu.is_some_and(|cpu| pin(cpu).is_err()) {
                    // Nobody says an id then, and the server ends.
                    return;
                }
                let _ = say_id.send(rustix::thread::gettid().as_raw_nonzero().get());
                turn(&take, work);
            })
            .context("cannot start a thread")?;
        loops.push(give);
    }
    drop(say_id);
    let first = ids.recv().context("a loop says its id")?;
    request::say(&listener, first)?;
    deal(&listener, &loops)
}

/// Gives connections to the loops by turns.
fn deal(listener: &TcpListener, loops: &[Sender<TcpStream>]) -> Result<u8> {
    for turn in 0.. {
        let (stream, _) = listener.accept().context("cannot accept a connection")?;
        // Small answers must not wait for more to send.
        let _ = stream.set_nodelay(true);
        loops[turn % loops.len()]
            .send(stream)
            .context("a loop has ended")?;
    }
    Ok(0)
}

fn turn(newcomers: &Receiver<TcpStream>, work: Duration) {
    let mut connections: Vec<TcpStream> = Vec::new();
    loop {
        connections.extend(newcomers.try_iter());
        if connections.is_empty() {
            match newcomers.recv() {
                Ok(first) => connections.push(first),
                Err(_) => return,
            }
        }
        let ready = ready(&connections);
        let mut kept = Vec::with_capacity(connections.len());
        for (mut stream, ready) in connections.drain(..).zip(ready) {
            let open = !ready || {
                let asked = request::receive(&mut stream);
                if asked {
                    request::compute(work);
                }
                asked && request::send(&mut stream)
            };
            if open {
                kept.push(stream);
            }
        }
        connections = kept;
    }
}

/// Which connections have something to read, after waiting for one that has.
fn ready(connections: &[TcpStream]) -> Vec<bool> {
    let mut polled: Vec<PollFd> = connections
        .iter()
        .map(|stream| PollFd::new(stream, PollFlags::IN))
        .collect();
    let limit = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(IDLE.subsec_nanos()),
    };
    if poll(&mut polled, Some(&limit)).is_err() {
        return vec![false; connections.len()];
    }
    polled.iter().map(|fd| !fd.revents().is_empty()).collect()
}
