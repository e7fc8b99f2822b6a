//! Whether a run counts: the machine must have belonged to it. Steal, and CPU that went to anything
//! but the server, the load and the recorder, are measured here and nowhere taken from the report.
//!
//! The outside's part is what /proc/stat counted as busy, less the CPU time of our own processes.
//! So it sees short-lived programs and other containers too, which no list of processes shows.

use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::processes::{self, Process};

/// Above this share of the machine's CPU time a run is void.
const LIMIT: f64 = 0.05;

/// The parent of all kernel threads.
const KERNEL_THREADS: u32 = 2;

/// The counters at one moment, in clock ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    busy: u64,
    steal: u64,
    total: u64,
    ours: u64,
}

impl Reading {
    /// Reads the machine, and this process with everything that it started.
    pub fn take() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        let (busy, steal, total) =
            machine(&text).context("/proc/stat does not begin with the sum of all CPUs")?;
        Ok(Self {
            busy,
            steal,
            total,
            ours: own_ticks(),
        })
    }
}

/// (busy, steal, all), from the text of /proc/stat. Guest time is already part of user time.
/// Interrupts are left out of busy: they are the work of nobody in particular, and tick-based
/// kernels charge them to the process that they interrupted.
fn machine(text: &str) -> Option<(u64, u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut fields = line
        .split_ascii_whitespace()
        .map(|field| field.parse::<u64>().ok());
    let mut next = || fields.next().flatten();
    let (user, nice, system) = (next()?, next()?, next()?);
    let rest = [next()?, next()?, next()?, next()?];
    let steal = next().unwrap_or(0);
    let busy = user + nice + system;
    Some((busy, steal, busy + steal + rest.iter().sum::<u64>()))
}

/// CPU of this process, of all below it (servers, the load, the recorder, troublemakers), and of
/// their children that ended. Kernel threads are left out like interrupts: they write back and
/// decompress for whoever asked, and in a run that waits for the disk that is the run itself.
fn own_ticks() -> u64 {
    let all = Process::all();
    processes::tree(&all, std::process::id())
        .into_iter()
        .chain(processes::tree(&all, KERNEL_THREADS))
        .map(|process| process.ticks + process.reaped_ticks)
        .sum()
}

/// How much of the machine was not the run's, as shares of all its CPU time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Disturbance {
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Used by other processes.
    pub outside: f64,
}

impl Disturbance {
    /// What happened between two readings.
    pub fn between(before: Reading, after: Reading) -> Self {
        let total = after.total.saturating_sub(before.total);
        let share = |ticks: u64| {
            if total == 0 {
                0.0
            } else {
                ticks as f64 / total as f64
            }
        };
        let busy = after.busy.saturating_sub(before.busy);
        let ours = after.ours.saturating_sub(before.ours);
        Self {
            steal: share(after.steal.saturating_sub(before.steal)),
            // The two are counted differently, so a quiet machine may read a hair below zero.
            outside: share(busy.saturating_sub(ours)),
        }
    }

    /// Why the run does not count, if it does not.
    pub fn void_reason(self) -> Option<String> {
        let percent = |share: f64| share * 100.0;
        if self.steal > LIMIT {
            Some(format!("steal {:.1} %", percent(self.steal)))
        } else if self.outside > LIMIT {
            Some(format!("outside CPU {:.1} %", percent(self.outside)))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(busy: u64, steal: u64, total: u64, ours: u64) -> Reading {
        Reading {
            busy,
            steal,
            total,
            ours,
        }
    }

    #[test]
    fn the_first_line_is_the_machine() {
        let text = "cpu  10 2 30 400 5 6 7 8 9 1\ncpu0 1 1 1 1\n";
        assert_eq!(machine(text), Some((42, 8, 468)));
        assert_eq!(
            machine("cpu  1 2 3 4 5 6 7"),
            Some((6, 0, 28)),
            "before steal was counted"
        );
        assert_eq!(machine("intr 1"), None);
    }

    #[test]
    fn shares_are_of_the_whole_machine() {
        let before = reading(100, 10, 1000, 50);
        let quiet = Disturbance::between(before, reading(600, 20, 2000, 540));
        assert_eq!((quiet.steal, quiet.outside), (0.01, 0.01));
        assert_eq!(quiet.void_reason(), None);
        let stolen = Disturbance::between(before, reading(600, 70, 2000, 550));
        assert_eq!(stolen.void_reason().as_deref(), Some("steal 6.0 %"));
        let shared = Disturbance::between(before, reading(600, 10, 2000, 450));
        assert_eq!(shared.void_reason().as_deref(), Some("outside CPU 10.0 %"));
    }

    #[test]
    fn no_time_and_more_than_all_are_no_disturbance() {
        let reading = reading(100, 10, 1000, 50);
        assert_eq!(Disturbance::between(reading, reading).void_reason(), None);
        let ours_larger = Reading {
            total: 2000,
            ours: 900,
            ..reading
        };
        assert_eq!(Disturbance::between(reading, ours_larger).outside, 0.0);
    }
}
