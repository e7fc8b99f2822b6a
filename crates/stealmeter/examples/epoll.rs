//! A loop on epoll: a timer rings every 10 ms, each ring is 2 ms of work. The argument says for how
//! many seconds.
//!
//! It looks for events without waiting first. Only where there are none it goes to sleep, and only
//! then pays for boundaries.
#![allow(clippy::print_stdout)]

mod each_second;

use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use stealmeter::Meter;

fn main() -> nix::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(10));
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
    let period = TimeSpec::from_duration(Duration::from_millis(10));
    timer.set(Expiration::Interval(period), TimerSetTimeFlags::empty())?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;

    let mut meter = Meter::new();
    each_second::print(meter.reader());
    let mut events = [EpollEvent::empty(); 16];
    while Instant::now() < end {
        let mut ready = epoll.wait(&mut events, EpollTimeout::ZERO)?;
        if ready == 0 {
            meter.before_wait();
            let woken = epoll.wait(&mut events, EpollTimeout::NONE);
            meter.after_wait();
            ready = woken?;
        } else {
            meter.tick();
        }
        if ready > 0 {
            timer.wait()?;
            work(Duration::from_millis(2));
        }
    }
    Ok(())
}

fn work(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
