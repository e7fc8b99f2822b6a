//! What the kernel says of the calling thread, as one reading in which everything fits together.
//!
//! Clocks and files cannot be read at one instant. What matters is that the thread does not leave the
//! CPU in between: as long as it runs, wall and CPU time advance alike and the run delay stands still.
//! Every time it leaves is counted, as `ru_nvcsw` or `ru_nivcsw`; the third field of schedstat counts
//! the same switches from the other side, at the return. So the count is read before and after, and
//! the reading holds if it has not moved. The count by getrusage is the cheaper one, is there without
//! /proc, and tells more: whether the thread slept or was pushed away.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, gettid};

const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

/// A switch inside one attempt is rare, a few in a row mean a machine in which nothing runs for 2 us.
const ATTEMPTS: usize = 4;

/// The state of a thread's times at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reading {
    /// `CLOCK_MONOTONIC`, ns.
    pub wall_ns: u64,
    /// `CLOCK_THREAD_CPUTIME_ID`, ns.
    pub cpu_ns: u64,
    /// Second field of schedstat, ns; `None` where there is none.
    pub run_delay_ns: Option<u64>,
    pub switches: Switches,
}

/// How often a thread left the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Switches {
    /// It had nothing to do (`ru_nvcsw`).
    pub voluntary: u64,
    /// Another was to run (`ru_nivcsw`).
    pub involuntary: u64,
}

impl Reading {
    /// Whether one thread can have had both: nothing of it runs backwards.
    pub fn can_follow(&self, earlier: &Self) -> bool {
        self.wall_ns >= earlier.wall_ns
            && self.cpu_ns >= earlier.cpu_ns
            && self.run_delay_ns.unwrap_or(u64::MAX) >= earlier.run_delay_ns.unwrap_or(0)
            && self.switches.voluntary >= earlier.switches.voluntary
            && self.switches.involuntary >= earlier.switches.involuntary
    }
}

/// Where readings come from; tests have a kernel of their own.
pub trait Source {
    fn switches(&self) -> Switches;
    fn run_delay_ns(&self) -> Option<u64>;
    fn wall_ns(&self) -> u64;
    fn cpu_ns(&self) -> u64;
}

/// A reading, and whether it holds: `false` if the thread left the CPU during every attempt.
///
/// With the one before it, an undisturbed reading need not look at the file.
pub fn read(source: &impl Source, last: Option<&Reading>) -> (Reading, bool) {
    let mut reading = Reading::default();
    for _ in 0..ATTEMPTS {
        let before = source.switches();
        let run_delay_ns = match last {
            // It has not left the CPU since, so that it cannot have waited for one.
            Some(last) if last.switches == before => last.run_delay_ns,
            _ => source.run_delay_ns(),
        };
        let early_ns = source.wall_ns();
        let cpu_ns = source.cpu_ns();
        let late_ns = source.wall_ns();
        reading = Reading {
            // The CPU time is of a moment within the call. What this is off by is the same each time
            // but for cold caches, and nothing systematic is left over to be called hidden.
            wall_ns: early_ns.midpoint(late_ns),
            cpu_ns,
            run_delay_ns,
            switches: before,
        };
        if source.switches() == before {
            return (reading, true);
        }
    }
    (reading, false)
}

/// The calling thread.
#[derive(Debug)]
pub struct OwnThread {
    id: Pid,
    schedstat: Result<File, String>,
}

impl OwnThread {
    /// Opens what is read of the calling thread.
    pub fn open() -> Self {
        Self {
            id: gettid(),
            schedstat: open_schedstat(),
        }
    }

    /// The calling thread by its clocks alone.
    pub fn clocks_only() -> Self {
        Self {
            id: gettid(),
            schedstat: Err("it was not asked for".to_owned()),
        }
    }

    /// The same for the thread that calls now.
    pub fn reopen(&self) -> Self {
        match self.schedstat {
            Ok(_) => Self::open(),
            Err(ref why) => Self {
                id: gettid(),
                schedstat: Err(why.clone()),
            },
        }
    }

    /// Whether it is still this thread that calls: in the child of a fork it is not, and the kept
    /// file would speak of the parent's.
    pub fn is_calling(&self) -> bool {
        self.id == gettid()
    }

    /// Why the run delay is not known.
    pub fn lack(&self) -> Option<&str> {
        self.schedstat.as_ref().err().map(String::as_str)
    }
}

impl Source for OwnThread {
    fn switches(&self) -> Switches {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("every Linux since 2.6.26 has it");
        Switches {
            voluntary: usage.voluntary_context_switches().cast_unsigned(),
            involuntary: usage.involuntary_context_switches().cast_unsigned(),
        }
    }

    fn run_delay_ns(&self) -> Option<u64> {
        let file = self.schedstat.as_ref().ok()?;
        run_delay(file).ok()
    }

    fn wall_ns(&self) -> u64 {
        wall_ns()
    }

    fn cpu_ns(&self) -> u64 {
        clock_ns(ClockId::CLOCK_THREAD_CPUTIME_ID)
    }
}

/// `CLOCK_MONOTONIC`, ns.
pub fn wall_ns() -> u64 {
    clock_ns(ClockId::CLOCK_MONOTONIC)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("every Linux has this clock");
    time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_nsec().cast_unsigned()
}

fn open_schedstat() -> Result<File, String> {
    let file = File::open(SCHEDSTAT).map_err(|error| format!("{SCHEDSTAT}: {error}"))?;
    match run_delay(&file) {
        Ok(_) => Ok(file),
        Err(error) => Err(format!("{SCHEDSTAT}: {error}")),
    }
}

fn run_delay(file: &File) -> io::Result<u64> {
    // Three numbers of 20 digits, blanks and the end of the line.
    let mut text = [0; 64];
    let length = file.read_at(&mut text, 0)?;
    parse(&text[..length]).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "three numbers were expected, the last above 0 (0 where the kernel does not account)",
        )
    })
}

/// The run delay in a schedstat file: CPU time, run delay, times on a CPU.
///
/// A thread that reads has been on a CPU. Kernels that do not account write `0 0 0`.
fn parse(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let (_cpu, delay, times) = (fields.next()?, fields.next()?, fields.next()?);
    let times: u64 = times.parse().ok()?;
    (times > 0).then(|| delay.parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use proptest::prelude::*;

    use super::*;

    /// A thread on a kernel that is scripted: the n-th look at anything finds it switched away so
    /// many times more, for 1,000 ns each, asleep for 600 of them.
    #[derive(Default)]
    struct Scripted {
        switches_at: RefCell<Vec<u64>>,
        now: Cell<Reading>,
        files_read: Cell<usize>,
    }

    impl Scripted {
        fn switching(at_each_look: &[u64]) -> Self {
            let scripted = Self::default();
            scripted
                .switches_at
                .replace(at_each_look.iter().rev().copied().collect());
            scripted
        }

        fn look(&self) -> Reading {
            let switches = self.switches_at.borrow_mut().pop().unwrap_or(0);
            let mut now = self.now.get();
            now.wall_ns += 10 + switches * 1_000;
            now.cpu_ns += 10;
            now.run_delay_ns = Some(now.run_delay_ns.unwrap_or(0) + switches * 400);
            now.switches.voluntary += switches;
            self.now.set(now);
            now
        }
    }

    impl Source for Scripted {
        fn switches(&self) -> Switches {
            self.look().switches
        }

        fn run_delay_ns(&self) -> Option<u64> {
            self.files_read.set(self.files_read.get() + 1);
            self.look().run_delay_ns
        }

        fn wall_ns(&self) -> u64 {
            self.look().wall_ns
        }

        fn cpu_ns(&self) -> u64 {
            self.look().cpu_ns
        }
    }

    /// What a reading that holds has away from the CPU must be what the script took.
    fn consistent(reading: &Reading) -> bool {
        let away_ns = reading.switches.voluntary * 1_000;
        reading.wall_ns == reading.cpu_ns + away_ns
            && reading.run_delay_ns.unwrap_or(0) == reading.switches.voluntary * 400
    }

    #[test]
    fn without_a_switch_the_file_is_not_read() {
        let thread = Scripted::default();
        let (reading, holds) = read(&thread, Some(&Reading::default()));
        assert!(holds && consistent(&reading), "{reading:?}");
        assert_eq!(thread.files_read.get(), 0);
    }

    #[test]
    fn a_switch_in_the_middle_is_noticed_and_the_next_attempt_holds() {
        // An attempt looks six times: count, file, clock, CPU time, clock, count.
        for look in 1..6 {
            let mut script = [0; 6];
            script[0] = 1;
            script[look] = 1;
            let thread = Scripted::switching(&script);
            let (reading, holds) = read(&thread, Some(&Reading::default()));
            assert!(holds && consistent(&reading), "{look}: {reading:?}");
            assert_eq!(thread.files_read.get(), 2);
        }
    }

    #[test]
    fn a_thread_that_never_stays_is_torn_after_a_bounded_number_of_attempts() {
        let thread = Scripted::switching(&[1; 100]);
        let (_, holds) = read(&thread, Some(&Reading::default()));
        assert!(!holds);
        assert_eq!(thread.files_read.get(), ATTEMPTS);
    }

    #[test]
    fn readings_of_one_thread_only_grow() {
        let earlier = Reading {
            wall_ns: 10,
            cpu_ns: 5,
            run_delay_ns: Some(3),
            switches: Switches {
                voluntary: 2,
                involuntary: 1,
            },
        };
        assert!(earlier.can_follow(&earlier));
        let blind = Reading {
            run_delay_ns: None,
            ..earlier
        };
        assert!(blind.can_follow(&earlier) && earlier.can_follow(&blind));
        let fewer = Switches {
            voluntary: 1,
            ..earlier.switches
        };
        let others = [
            Reading {
                cpu_ns: 4,
                ..earlier
            },
            Reading {
                run_delay_ns: Some(2),
                ..earlier
            },
            Reading {
                switches: fewer,
                ..earlier
            },
        ];
        for other in others {
            assert!(!other.can_follow(&earlier), "{other:?}");
        }
    }

    #[test]
    fn the_kernel_counts_returns_to_the_cpu_as_getrusage_counts_departures() {
        let thread = OwnThread::open();
        let file = thread.schedstat.as_ref();
        let file = file.expect("kernels of this decade have it, with /proc");
        let returns = |file: &File| -> u64 {
            let mut text = [0; 64];
            let length = file.read_at(&mut text, 0).expect("it was read before");
            let text = String::from_utf8_lossy(&text[..length]);
            let third = text.split_ascii_whitespace().nth(2);
            third.and_then(|n| n.parse().ok()).expect("three numbers")
        };
        for _ in 0..50 {
            // The first time on a CPU is a return without a departure.
            let same = (0..10).any(|_| {
                let before = thread.switches();
                let returns = returns(file);
                let after = thread.switches();
                before == after && returns == after.voluntary + after.involuntary + 1
            });
            assert!(same, "the two counts drifted apart");
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
    }

    #[test]
    fn schedstat_as_kernels_write_it() {
        assert_eq!(parse(b"83185 498363 2\n"), Some(498_363));
        assert_eq!(parse(b"0 0 0\n"), None);
        assert_eq!(parse(b"12 34\n"), None);
        assert_eq!(parse(b"12 x 3\n"), None);
        assert_eq!(parse(b"1 18446744073709551615 1"), Some(u64::MAX));
        assert_eq!(parse(b""), None);
    }

    proptest! {
        #[test]
        fn what_holds_is_consistent_whenever_switches_come(
            script in proptest::collection::vec(0..2_u64, 0..40),
        ) {
            let thread = Scripted::switching(&script);
            let mut last = Reading::default();
            for _ in 0..4 {
                let (reading, holds) = read(&thread, Some(&last));
                if holds {
                    prop_assert!(consistent(&reading), "{:?}", reading);
                    last = reading;
                }
            }
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&bytes);
        }
    }
}
