//! `churn`: a process whose threads and connections come and go, busy all the while.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use fastrand::Rng;

use super::request;

/// Arguments of `churn`.
#[derive(Args)]
pub struct ChurnArguments {
    /// Threads at a time
    #[arg(long, default_value_t = 2)]
    threads: u32,
    /// What the lengths of their lives follow from
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Replaces threads until killed.
pub fn churn(arguments: &ChurnArguments) -> Result<u8> {
    let listener = request::listen("127.0.0.1:0")?;
    let address = listener.local_addr().context("a socket has an address")?;
    let accept = std::thread::Builder::new().name("accept".to_owned());
    accept
        .spawn(move || hold(&listener))
        .context("cannot start a thread")?;
    println!("listening on {address}");
    let mut random = Rng::with_seed(arguments.seed);
    let live = |life: Duration| {
        let thread = std::thread::Builder::new().name("mayfly".to_owned());
        let live = move || {
            let connection = TcpStream::connect(address);
            request::compute(life);
            drop(connection);
        };
        thread.spawn(live).context("cannot start a thread")
    };
    let mut alive = std::collections::VecDeque::new();
    loop {
        while alive.len() < arguments.threads as usize {
            alive.push_back(live(Duration::from_millis(random.u64(50..800)))?);
        }
        alive.retain(|thread| !thread.is_finished());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Holds each connection until the next few have come.
fn hold(listener: &TcpListener) {
    let mut held = std::collections::VecDeque::new();
    for connection in listener.incoming().flatten() {
        held.push_back(connection);
        if held.len() > 4 {
            held.pop_front();
        }
    }
}
