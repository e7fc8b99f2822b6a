//! Time in which a process could have gone on. It stands still while the machine keeps the process from
//! running: while it waits for a CPU or a disk, or is stopped. A limit in this time is exceeded by what
//! hangs, and by nothing that is merely slow.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::processes::{self, Process};

/// Far longer than anything that a recorder does when nobody keeps it from doing it, on any machine.
pub(super) const HANGS: Duration = Duration::from_secs(600);
/// How often the processes are looked at: a walk over /proc each time.
const LOOK: Duration = Duration::from_millis(200);

/// The time that a process and its descendants had so far.
pub(super) struct OwnTime {
    root: u32,
    looked: Instant,
    threads: Threads,
    had: Duration,
}

/// State and time on a CPU by thread.
type Threads = BTreeMap<u32, Thread>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Thread {
    state: u8,
    run_ns: u64,
}

impl OwnTime {
    /// Begins now.
    pub(super) fn of(root: u32) -> Self {
        Self {
            root,
            looked: Instant::now(),
            threads: threads_of(root),
            had: Duration::ZERO,
        }
    }

    /// The time up to now; looks again only now and then.
    pub(super) fn had(&mut self) -> Duration {
        let since = self.looked.elapsed();
        if since >= LOOK {
            let now = threads_of(self.root);
            if !is_delayed(&self.threads, &now) {
                // Who looks may have been kept from it too: a look stands for one period.
                self.had += since.min(2 * LOOK);
            }
            self.threads = now;
            self.looked = Instant::now();
        }
        self.had
    }
}

/// Whether any thread was kept from going on between two looks.
fn is_delayed(before: &Threads, now: &Threads) -> bool {
    now.iter().any(|(tid, thread)| {
        let ran = before
            .get(tid)
            .is_none_or(|before| before.run_ns != thread.run_ns);
        match thread.state {
            b'D' | b'T' | b't' => true,
            b'R' => !ran,
            _ => false,
        }
    })
}

/// Whether each thread of a process was stopped by a signal.
pub(super) fn is_stopped(pid: u32) -> bool {
    let threads = threads_of(pid);
    !threads.is_empty() && threads.values().all(|thread| thread.state == b'T')
}

fn threads_of(root: u32) -> Threads {
    let all = Process::all();
    let tree = processes::tree(&all, root);
    let folders = tree
        .iter()
        .map(|process| format!("/proc/{}/task", process.pid));
    let entries = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let thread = |folder: &Path| {
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let state = *stat.rsplit_once(") ")?.1.as_bytes().first()?;
        let times = fs::read_to_string(folder.join("schedstat")).ok()?;
        let run_ns = times.split(' ').next()?.parse().ok()?;
        Some(Thread { state, run_ns })
    };
    entries
        .filter_map(|entry| {
            let tid = entry.file_name().to_str()?.parse().ok()?;
            Some((tid, thread(&entry.path())?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use signal_hook::consts::{SIGCONT, SIGSTOP};

    use super::*;
    use crate::interrupt;

    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn state_of(pid: u32) -> Option<u8> {
        threads_of(pid).get(&pid).map(|thread| thread.state)
    }

    fn until(condition: impl Fn() -> bool) {
        while !condition() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn it_stands_still_while_a_process_is_stopped_and_goes_on_with_it() {
        let sleeper = Command::new("sleep").arg("600").spawn().unwrap();
        let sleeper = Sleeper(sleeper);
        let pid = sleeper.0.id();
        until(|| state_of(pid) == Some(b'S'));
        interrupt::signal(pid, SIGSTOP);
        until(|| state_of(pid) == Some(b'T'));
        let mut time = OwnTime::of(pid);
        std::thread::sleep(3 * LOOK);
        assert_eq!(time.had(), Duration::ZERO);
        interrupt::signal(pid, SIGCONT);
        until(|| state_of(pid) == Some(b'S'));
        // A sleeper that nothing delays has time: what never ends is found to hang.
        while time.had() < 2 * LOOK {
            std::thread::sleep(LOOK);
        }
    }

    #[test]
    fn who_waits_for_a_cpu_or_a_disk_is_delayed_and_who_runs_or_sleeps_is_not() {
        let one = |state, run_ns| Threads::from([(1, Thread { state, run_ns })]);
        for (before, now, delayed) in [
            (one(b'R', 5), one(b'R', 5), true),
            (one(b'S', 5), one(b'R', 5), true),
            (one(b'R', 5), one(b'R', 6), false),
            (one(b'S', 5), one(b'S', 5), false),
            (one(b'S', 5), one(b'D', 6), true),
            (one(b'S', 5), one(b'T', 5), true),
            (Threads::new(), one(b'R', 5), false),
            (one(b'R', 5), Threads::new(), false),
        ] {
            assert_eq!(is_delayed(&before, &now), delayed, "{before:?} {now:?}");
        }
    }
}
