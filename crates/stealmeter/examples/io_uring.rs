//! A loop on io_uring: a timeout of 10 ms is asked for, each completion is 2 ms of work. The argument
//! says for how many seconds.
//!
//! Completions that are there already are taken without a system call. Only where there are none it
//! asks the kernel to wait, and only then pays for boundaries.
#![allow(clippy::print_stdout)]

mod each_second;

use std::time::{Duration, Instant};

use io_uring::types::Timespec;
use io_uring::{IoUring, opcode};
use stealmeter::Meter;

fn main() -> std::io::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(10));
    let mut ring = IoUring::new(8)?;
    let pause = Timespec::new().nsec(10_000_000);

    let mut meter = Meter::new();
    each_second::print(meter.reader());
    ask_for_timeout(&mut ring, &pause)?;
    while Instant::now() < end {
        if ring.completion().is_empty() {
            meter.before_wait();
            let woken = ring.submit_and_wait(1);
            meter.after_wait();
            woken?;
        } else {
            meter.tick();
        }
        let completed = ring.completion().count();
        for _ in 0..completed {
            work(Duration::from_millis(2));
            ask_for_timeout(&mut ring, &pause)?;
        }
    }
    Ok(())
}

#[allow(unsafe_code)]
fn ask_for_timeout(ring: &mut IoUring, pause: &Timespec) -> std::io::Result<()> {
    let entry = opcode::Timeout::new(pause).build();
    // SAFETY: the kernel reads the time when the entry is submitted, which is before `main` returns
    // and lets go of it.
    unsafe { ring.submission().push(&entry) }.map_err(std::io::Error::other)
}

fn work(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
