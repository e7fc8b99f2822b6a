//! `serve hot-mutex`: a thread per connection, and one mutex. A holder sleeps, so the CPUs stay
//! idle and nothing but the lock is in the way.

use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::request;

/// Arguments of `serve hot-mutex`.
#[derive(Args)]
pub struct MutexArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// How long a request sleeps, us
    #[arg(long, default_value_t = 300)]
    sleep: u64,
    /// Sleep beside the mutex instead of under it
    #[arg(long)]
    outside: bool,
}

/// Serves until killed.
pub fn serve(arguments: &MutexArguments) -> Result<u8> {
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    let mutex = Mutex::new(0_u64);
    let sleep = Duration::from_micros(arguments.sleep);
    let outside = arguments.outside;
    request::answer_each(&listener, "worker", move |stream, _| {
        answer(stream, &mutex, sleep, outside);
    })
}

fn answer(mut stream: TcpStream, mutex: &Mutex<u64>, sleep: Duration, outside: bool) {
    while request::receive(&mut stream) {
        if outside {
            std::thread::sleep(sleep);
        }
        let mut answered = mutex.lock().unwrap_or_else(PoisonError::into_inner);
        *answered += 1;
        if !outside {
            std::thread::sleep(sleep);
        }
        drop(answered);
        if !request::send(&mut stream) {
            return;
        }
    }
}
