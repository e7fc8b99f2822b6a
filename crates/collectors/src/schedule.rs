//! When the sampler wakes, and what is due then.

use std::time::Duration;

use model::Timestamp;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use kernel::Error;
use kernel::clock::boottime;

/// The shortest period, which is the length of a tick, ns.
pub(crate) const TICK_NS: i64 = sensors::TICK.as_nanos() as i64;

/// Period of measuring the scheduler's clocks, in ticks: they drift by 20 ns a second.
pub(crate) const CALIBRATION_TICKS: u64 = 100;

/// The ticks between the previous wake-up and this one: a late wake-up may pass several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    pub(crate) before: Option<u64>,
    pub(crate) tick: u64,
}

impl Due {
    /// Whether a multiple of `ticks` was passed; at the first wake-up everything is due.
    pub(crate) fn every(self, ticks: u64) -> bool {
        let ticks = ticks.max(1);
        self.before
            .is_none_or(|before| self.tick / ticks > before / ticks)
    }
}

/// A period in ticks, at least one.
pub(crate) const fn ticks_of(period: Duration) -> u64 {
    let ticks = period.as_nanos() as u64 / TICK_NS as u64;
    if ticks == 0 { 1 } else { ticks }
}

/// Expires at `first + n x TICK_NS` on the boot clock, even over a suspend.
pub(crate) struct Timer {
    descriptor: std::os::fd::OwnedFd,
    pub(crate) first: Timestamp,
}

impl Timer {
    pub(crate) fn new() -> Result<Self, Error> {
        let descriptor =
            rustix::time::timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC)
                .map_err(Error::Timer)?;
        let first = boottime() + TICK_NS;
        let time = |ns: i64| Timespec {
            tv_sec: ns / 1_000_000_000,
            tv_nsec: ns % 1_000_000_000,
        };
        let schedule = Itimerspec {
            it_interval: time(TICK_NS),
            it_value: time(first.as_ns()),
        };
        rustix::time::timerfd_settime(&descriptor, TimerfdTimerFlags::ABSTIME, &schedule)
            .map_err(Error::Timer)?;
        Ok(Self { descriptor, first })
    }

    /// Waits for the next deadline, but not beyond `until`; returns whether the deadline came first.
    pub(crate) fn comes_before(&self, until: Timestamp) -> Result<bool, rustix::io::Errno> {
        let left = until.ns_since(boottime()).max(0);
        let timeout = Timespec {
            tv_sec: left / 1_000_000_000,
            tv_nsec: left % 1_000_000_000,
        };
        let mut files = [PollFd::new(&self.descriptor, PollFlags::IN)];
        match poll(&mut files, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Waits for the next deadline; returns how many have passed since the last call.
    pub(crate) fn wait(&self) -> Result<u64, rustix::io::Errno> {
        let mut count = [0u8; 8];
        loop {
            match rustix::io::read(&self.descriptor, &mut count) {
                Ok(_) => return Ok(u64::from_ne_bytes(count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}
