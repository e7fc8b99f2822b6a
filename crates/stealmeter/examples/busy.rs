//! A loop that never sleeps: it looks into a channel again and again. Another thread sends something
//! every 10 ms, which is 2 ms of work. The argument says for how many seconds.
//!
//! There is nothing to mark, only the round itself.
#![allow(clippy::print_stdout)]

mod each_second;

use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use stealmeter::Meter;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(10));
    let (sender, requests) = mpsc::channel();
    thread::spawn(move || {
        while sender.send(Duration::from_millis(2)).is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
    });

    let mut meter = Meter::new();
    each_second::print(meter.reader());
    while Instant::now() < end {
        match requests.try_recv() {
            Ok(time) => work(time),
            Err(TryRecvError::Empty) => std::hint::spin_loop(),
            Err(TryRecvError::Disconnected) => break,
        }
        meter.tick();
    }
}

fn work(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
