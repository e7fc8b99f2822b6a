//! A thread that reads the kernel's own accounts every 50 ms: CPU time of a control group, and the
//! run-queue delay of each process in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use model::{Timestamp, Window};
use rustix::time::{ClockId, clock_gettime};

use crate::groups;

/// Between readings. Some 15 processes cost 0.2 ms each time: under 1 % of a CPU.
const PERIOD: Duration = Duration::from_millis(50);

/// The file with a group's CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Account {
    /// `cpuacct.usage`, ns.
    V1,
    /// `usage_usec` of `cpu.stat`.
    V2,
}

impl Account {
    fn read(self, folder: &Path) -> Option<u64> {
        match self {
            Account::V1 => number(&fs::read_to_string(folder.join("cpuacct.usage")).ok()?),
            Account::V2 => {
                let text = fs::read_to_string(folder.join("cpu.stat")).ok()?;
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("usage_usec "))?;
                Some(number(line)? * 1000)
            }
        }
    }
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A counter as it was read.
pub type Readings = Vec<(Timestamp, u64)>;

/// What was seen.
#[derive(Default, Debug)]
pub struct Testimony {
    /// CPU time of the group, ns.
    pub usage: Readings,
    /// Run-queue delay by process, ns (second field of /proc/PID/schedstat; the server's processes
    /// have one thread each).
    pub delay: BTreeMap<u32, Readings>,
}

impl Testimony {
    /// How often the group was read.
    pub fn samples(&self) -> usize {
        self.usage.len()
    }

    /// CPU time of the group over a window, ns; `None` when the window was not seen whole.
    pub fn usage_over(&self, window: Window) -> Option<f64> {
        let (first, last) = (self.usage.first()?.0, self.usage.last()?.0);
        let seen = first <= window.start && window.end <= last;
        seen.then(|| at(&self.usage, window.end) - at(&self.usage, window.start))
    }

    /// Run-queue delay of all processes over a window, added up, ns.
    pub fn delay_over(&self, window: Window) -> f64 {
        let grown = |readings: &Readings| {
            let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
                return 0.0;
            };
            // A process born inside the window had waited for nothing before.
            let start = if first.0 > window.start {
                0.0
            } else {
                at(readings, window.start)
            };
            let gone_before = last.0 < window.start;
            if gone_before || first.0 >= window.end {
                0.0
            } else {
                at(readings, window.end) - start
            }
        };
        self.delay.values().map(grown).sum()
    }
}

/// A counter's value at an instant: on the straight line between its readings, level outside them.
fn at(readings: &Readings, instant: Timestamp) -> f64 {
    let after = readings.partition_point(|reading| reading.0 <= instant);
    match (
        after.checked_sub(1).map(|before| readings[before]),
        readings.get(after),
    ) {
        (Some(before), Some(next)) => {
            let part = instant.ns_since(before.0) as f64 / next.0.ns_since(before.0) as f64;
            before.1 as f64 + part * (next.1 as f64 - before.1 as f64)
        }
        (Some(only), None) => only.1 as f64,
        (None, Some(first)) => first.1 as f64,
        (None, None) => 0.0,
    }
}

/// The thread, reading.
pub struct Witness {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Testimony>>,
}

impl Witness {
    /// Starts reading the group in `folder`.
    pub fn start(folder: PathBuf, account: Account) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("witness".to_owned())
            .spawn(move || {
                let mut testimony = Testimony::default();
                while !stopped.load(Ordering::Relaxed) {
                    read(&folder, account, &mut testimony);
                    std::thread::sleep(PERIOD);
                }
                testimony
            })
            .context("cannot start the thread that measures")?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Ends the reading.
    pub fn stop(mut self) -> Testimony {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn read(folder: &Path, account: Account, testimony: &mut Testimony) {
    if let (time, Some(usage)) = timed(|| account.read(folder)) {
        testimony.usage.push((time, usage));
    }
    for pid in groups::members(folder) {
        if let (time, Some(delay)) = timed(|| delay(pid)) {
            testimony.delay.entry(pid).or_default().push((time, delay));
        }
    }
}

fn delay(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    number(text.split(' ').nth(1)?)
}

/// A reading with the middle of the time that it took: a busy machine may hold it up in between.
fn timed<T>(read: impl FnOnce() -> T) -> (Timestamp, T) {
    let before = now();
    let value = read();
    (before + now().ns_since(before) / 2, value)
}

pub(super) fn now() -> Timestamp {
    let time = clock_gettime(ClockId::Boottime);
    Timestamp::from_ns(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: f64) -> Timestamp {
        Timestamp::from_seconds(s)
    }

    fn testimony(delays: &[&[(f64, u64)]]) -> Testimony {
        let readings = |drawn: &[(f64, u64)]| -> Readings {
            drawn
                .iter()
                .map(|(time, value)| (seconds(*time), *value))
                .collect()
        };
        Testimony {
            usage: readings(&[(0.0, 100), (2.0, 300), (10.0, 1100)]),
            delay: (1..)
                .zip(delays.iter().map(|drawn| readings(drawn)))
                .collect(),
        }
    }

    #[test]
    fn a_counter_is_a_straight_line_between_readings() {
        let seen = testimony(&[]);
        let window = Window::new(seconds(1.0), seconds(6.0));
        assert_eq!(seen.usage_over(window), Some(500.0));
        let longer = Window::new(seconds(1.0), seconds(11.0));
        assert_eq!(seen.usage_over(longer), None, "not seen whole");
        assert_eq!(Testimony::default().usage_over(window), None);
    }

    #[test]
    fn processes_may_come_and_go() {
        let window = Window::new(seconds(2.0), seconds(4.0));
        let delay = |drawn: &[(f64, u64)]| testimony(&[drawn]).delay_over(window);
        assert_eq!(delay(&[(0.0, 10), (8.0, 90)]), 20.0, "there all the time");
        assert_eq!(delay(&[(3.0, 7), (4.0, 9)]), 9.0, "born inside");
        assert_eq!(delay(&[(0.0, 0), (3.0, 30)]), 10.0, "ended inside");
        assert_eq!(delay(&[(0.0, 0), (1.0, 30)]), 0.0, "gone before");
        assert_eq!(delay(&[(5.0, 30), (6.0, 40)]), 0.0, "born after");
        let two: &[&[(f64, u64)]] = &[&[(0.0, 10), (8.0, 90)], &[(3.0, 7), (4.0, 9)]];
        assert_eq!(testimony(two).delay_over(window), 29.0);
    }

    #[test]
    fn the_clock_runs() {
        let (first, ()) = timed(|| std::thread::sleep(Duration::from_millis(2)));
        assert!(now() > first);
    }
}
