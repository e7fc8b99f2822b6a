//! `serve spin-lock`: a thread per connection, and one lock that waits in a loop. Whoever has it computes, so the CPUs
//! are full of threads of which one works.

use std::hint::spin_loop;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::request;

/// Arguments of `serve spin-lock`.
#[derive(Args)]
pub struct SpinArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// CPU time of a request under the lock, us
    #[arg(long, default_value_t = 200)]
    work: u64,
    /// Compute beside the lock instead of under it
    #[arg(long)]
    outside: bool,
}

/// A lock that does not sleep.
struct SpinLock(AtomicBool);

impl SpinLock {
    #[inline(never)]
    fn take(&self) {
        while self.0.swap(true, Ordering::Acquire) {
            while self.0.load(Ordering::Relaxed) {
                spin_loop();
            }
        }
    }

    fn release(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Serves until killed.
pub fn serve(arguments: &SpinArguments) -> Result<u8> {
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    let lock = SpinLock(AtomicBool::new(false));
    let (work, outside) = (Duration::from_micros(arguments.work), arguments.outside);
    request::answer_each(&listener, "worker", move |stream, _| {
        answer(stream, &lock, work, outside);
    })
}

fn answer(mut stream: TcpStream, lock: &SpinLock, work: Duration, outside: bool) {
    while request::receive(&mut stream) {
        if outside {
            request::compute(work);
        }
        lock.take();
        if !outside {
            request::compute(work);
        }
        lock.release();
        if !request::send(&mut stream) {
            return;
        }
    }
}
