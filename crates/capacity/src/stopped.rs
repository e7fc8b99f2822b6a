//! Processes that are stopped for a while.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A process that may be stopped: its number, and when it was started, so that a later one with its number is left alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Stopped {
    pid: u32,
    /// In ticks since the machine's start (field 22 of proc_pid_stat(5)).
    started: u64,
}

impl Stopped {
    /// The process that has this number now; `None` where it has ended.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self {
            pid,
            started: started(pid)?,
        })
    }

    /// Its number.
    pub const fn pid(self) -> u32 {
        self.pid
    }

    /// Stops it; one that has ended is no error.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn stop(self) -> Result<(), Error> {
        self.send(Signal::STOP, "stop")
    }

    /// Lets it go on; one that has ended is no error.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn resume(self) -> Result<(), Error> {
        self.send(Signal::CONT, "resume")
    }

    fn send(self, signal: Signal, what: &'static str) -> Result<(), Error> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let Some(Ok(process)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
            return Ok(());
        };
        // The descriptor holds the process: if it is the right one now, it stays that.
        if started(self.pid) != Some(self.started) {
            return Ok(());
        }
        match pidfd_send_signal(&process, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(errno) => Err(Error::Signal {
                what,
                pid: self.pid,
                source: errno.into(),
            }),
        }
    }
}

fn started(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything.
    let behind = text.rsplit_once(')')?.1;
    behind.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    fn state(pid: u32) -> char {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        let behind = text.rsplit_once(')').expect("a name").1;
        behind.trim_start().chars().next().expect("a state")
    }

    fn becomes(pid: u32, is_stopped: bool) {
        let until = Instant::now() + Duration::from_secs(10);
        while (state(pid) == 'T') != is_stopped {
            assert!(Instant::now() < until, "it is {}", state(pid));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_process_stops_and_goes_on_and_a_later_one_with_its_number_is_left_alone() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let process = Stopped::of(child.id()).expect("it runs");
        let other = Stopped {
            started: process.started + 1,
            ..process
        };
        other.stop().expect("it is another one");
        assert_ne!(state(child.id()), 'T');
        process.stop().expect("it is ours");
        becomes(child.id(), true);
        other.resume().expect("it is another one");
        becomes(child.id(), true);
        process.resume().expect("it is ours");
        becomes(child.id(), false);
        child.kill().expect("it sleeps");
        child.wait().expect("it ended");
        process.stop().expect("it is gone");
        assert_eq!(Stopped::of(child.id()), None);
    }
}
