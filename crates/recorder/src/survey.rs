//! Whom a recording of the whole machine follows: the servers that have work, and who else uses the CPUs or waits.
//!
//! To follow somebody costs more than to count what all processes use, so only so many are followed. What they wait
//! for is not known here: the recording says it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use targets::{Look, Part, listeners};

/// Between the first two looks, and between later ones.
const FIRST: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_secs(5);
/// Looks take at most one part in so many of the time.
const SHARE: u32 = 400;
/// Parts of a machine that are followed, and how many of these places are kept for servers.
const MOST_FOLLOWED: usize = 8;
const MOST_SERVERS: usize = 5;
/// Threads of all of them.
const MOST_THREADS: u32 = 2_000;
/// Who is on a CPU, or waits, for less than this on average is not followed; a server has work already then.
const LEAST: f64 = 0.02;
const LEAST_OF_SERVER: f64 = 0.000_5;

/// Looks for those who are to be followed.
pub(super) struct PartSearch {
    pub(super) proc: PathBuf,
    /// Our own process, as `proc` shows it.
    pub(super) own: Option<u32>,
}

impl PartSearch {
    /// Reports those who are to be followed, once each, until `stop` is closed, nobody listens, or no more are
    /// followed.
    pub(super) fn run(self, report: impl Fn(Vec<Part>) -> bool, stop: &Receiver<()>) {
        let look = || Look::new(&self.proc, self.own);
        let servers = self.servers();
        let mut followed = Followed::default();
        let (mut before, mut wait) = (look(), FIRST);
        while stop.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let began = Instant::now();
            let now = look();
            let parts = now.since(&before, &self.proc, self.own);
            let chosen = followed.choose(parts, &servers);
            if !chosen.is_empty() && !report(chosen) || followed.is_full() {
                return;
            }
            before = now;
            wait = AGAIN.max(began.elapsed() * SHARE);
        }
    }

    /// The processes that listen on a port.
    fn servers(&self) -> HashSet<u32> {
        let all = listeners(&self.proc);
        let ports = all.iter().filter(|listener| listener.port.is_some());
        ports.filter_map(|listener| listener.pid).collect()
    }
}

/// Those who are followed already.
#[derive(Default)]
struct Followed {
    /// By control group, or the topmost process.
    known: HashSet<(Option<String>, u32)>,
    threads: u32,
}

impl Followed {
    fn is_full(&self) -> bool {
        self.known.len() >= MOST_FOLLOWED
    }

    /// Who of these is to be followed from now on; they come in the order of what they did.
    fn choose(&mut self, parts: Vec<Part>, servers: &HashSet<u32>) -> Vec<Part> {
        let is_server = |part: &Part| part.pids.iter().any(|pid| servers.contains(pid));
        let works = |part: &Part| {
            let least = if is_server(part) {
                LEAST_OF_SERVER
            } else {
                LEAST
            };
            part.waiting() + part.on_cpu >= least
        };
        let parts = parts.into_iter().filter(works);
        let (serving, others): (Vec<_>, Vec<_>) = parts.partition(is_server);
        let late = serving.iter().skip(MOST_SERVERS).cloned();
        let mut chosen = Vec::new();
        let first = serving.iter().take(MOST_SERVERS).cloned();
        for part in first.chain(others).chain(late) {
            let process = match part.unit.group {
                Some(_) => 0,
                None => part.pids.first().copied().unwrap_or(0),
            };
            let key = (part.unit.group.clone(), process);
            let fits = self.threads + part.threads <= MOST_THREADS || self.known.is_empty();
            if !self.is_full() && fits && self.known.insert(key) {
                self.threads += part.threads;
                chosen.push(part);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{MachineUnit, UnitKind};

    fn part(pid: u32, on_cpu: f64, delayed: f64) -> Part {
        Part {
            unit: MachineUnit {
                kind: UnitKind::Process,
                group: None,
            },
            name: format!("p{pid}"),
            pids: vec![pid],
            threads: 4,
            on_cpu,
            delayed,
            blocked: 0.0,
        }
    }

    fn chosen(followed: &mut Followed, parts: Vec<Part>, servers: &[u32]) -> Vec<u32> {
        let servers = servers.iter().copied().collect();
        let chosen = followed.choose(parts, &servers);
        chosen.iter().map(|part| part.pids[0]).collect()
    }

    #[test]
    fn a_server_with_little_work_comes_before_a_crowd_that_has_the_cpus() {
        let crowd = (1..20).map(|pid| part(pid, 0.5, 0.4));
        let parts = crowd.chain([part(77, 0.001, 0.0), part(78, 0.0, 0.0)]);
        let mut followed = Followed::default();
        let found = chosen(&mut followed, parts.collect(), &[77, 78]);
        assert_eq!(found, [77, 1, 2, 3, 4, 5, 6, 7]);
        assert!(followed.is_full());
    }

    #[test]
    fn who_begins_to_wait_later_is_followed_then_and_nobody_twice() {
        let mut followed = Followed::default();
        let found = chosen(
            &mut followed,
            vec![part(1, 0.9, 0.0), part(2, 0.01, 0.0)],
            &[],
        );
        assert_eq!(found, [1]);
        let found = chosen(
            &mut followed,
            vec![part(1, 0.9, 0.0), part(2, 0.01, 0.3)],
            &[],
        );
        assert_eq!(found, [2]);
    }

    #[test]
    fn too_many_threads_are_not_followed_unless_nobody_else_is() {
        let crowd = |pid| Part {
            threads: 3_000,
            ..part(pid, 2.0, 0.0)
        };
        let mut followed = Followed::default();
        let found = chosen(
            &mut followed,
            vec![crowd(1), crowd(2), part(3, 1.0, 0.0)],
            &[],
        );
        assert_eq!(found, [1]);
    }
}
