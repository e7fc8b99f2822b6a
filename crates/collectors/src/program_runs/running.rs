//! Which programs run at a moment, from the events of their processes.

use std::collections::{HashMap, VecDeque};

use kernel::bpf::processes::Event;
use model::{EntityId, MISSING};
use sensors::program_run::{End, WIDTH};

/// Processes that are followed at a time.
const MOST_RUNNING: usize = 32_768;
/// Runs that have ended and are not written yet.
const MOST_ENDED: usize = 32_768;
/// How long a run waits for its process to be let go, ns.
const PATIENCE_NS: u64 = 1_000_000_000;
/// Events of two CPUs may change places within this time, ns.
const DISORDER_NS: u64 = 50_000_000;

/// A process, and the program that it runs.
#[derive(Clone, Debug)]
pub(super) struct Running {
    /// When the process began: with the pid, its identity.
    pub(super) start_ns: u64,
    /// When the program did.
    pub(super) began_ns: u64,
    /// CPU time of the process when the program began, ns.
    pub(super) cpu_before_ns: u64,
    pub(super) parent: u32,
    pub(super) parent_entity: Option<EntityId>,
    /// Texts as a row has them.
    pub(super) command: i64,
    pub(super) parent_command: i64,
    pub(super) file: i64,
    pub(super) is_exec: bool,
    /// Whether neither its fork nor an exec of it was seen.
    pub(super) is_old: bool,
}

impl Running {
    /// The process alone, and nothing known of what it runs.
    pub(super) fn new(start_ns: u64) -> Self {
        Self {
            start_ns,
            began_ns: start_ns,
            cpu_before_ns: 0,
            parent: 0,
            parent_entity: None,
            command: MISSING,
            parent_command: MISSING,
            file: MISSING,
            is_exec: false,
            is_old: false,
        }
    }
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) pid: u32,
    pub(super) run: Running,
    pub(super) at_ns: u64,
    /// CPU time of the process by then, ns.
    cpu_ns: Option<u64>,
    /// How it ended; `None` where that was lost.
    end: Option<End>,
    status: Option<u32>,
    /// Whether nothing more will be known.
    is_whole: bool,
}

impl Ended {
    pub(super) fn new(pid: u32, run: Running, at_ns: u64, end: Option<End>) -> Self {
        Self {
            pid,
            run,
            at_ns,
            cpu_ns: None,
            end,
            status: None,
            is_whole: true,
        }
    }

    /// One whose process goes on as another program.
    pub(super) fn replaced(pid: u32, run: Running, event: &Event<'_>) -> Self {
        Self {
            cpu_ns: Some(event.cpu_ns),
            ..Self::new(pid, run, event.at_ns, Some(End::Replaced))
        }
    }

    /// One whose process exits.
    pub(super) fn exited(run: Running, event: &Event<'_>) -> Self {
        /// As wait(2) puts them together: the signal below, whether it left a core file, and the exit status.
        const SIGNAL: u32 = 0x7f;
        let signal = event.status & SIGNAL;
        let (end, status) = match signal {
            0 => (End::Exited, event.status >> 8 & 0xff),
            _ => (End::Signalled, signal),
        };
        Self {
            cpu_ns: Some(event.cpu_ns),
            status: Some(status),
            is_whole: false,
            ..Self::new(event.pid, run, event.at_ns, Some(end))
        }
    }

    /// The values of its row.
    pub(super) fn row(&self) -> [i64; WIDTH] {
        let known = |ns: u64| i64::try_from(ns).unwrap_or(MISSING);
        let run = &self.run;
        let duration = self.at_ns.saturating_sub(run.began_ns);
        let cpu = self.cpu_ns.map(|ns| ns.saturating_sub(run.cpu_before_ns));
        [
            self.pid.into(),
            run.parent.into(),
            if run.is_old {
                MISSING
            } else {
                run.is_exec.into()
            },
            run.command,
            run.parent_command,
            run.file,
            self.end.map_or(MISSING, |_| known(duration)),
            cpu.map_or(MISSING, known),
            self.end.map_or(MISSING, |end| end as i64),
            self.status.map_or(MISSING, i64::from),
        ]
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Runs {
    by_pid: HashMap<u32, Running>,
    ended: VecDeque<Ended>,
    /// Processes for which there was no room.
    pub(super) unplaced: u64,
}

impl Runs {
    /// A process that runs.
    pub(super) fn get(&self, pid: u32, start_ns: u64) -> Option<&Running> {
        let found = self.by_pid.get(&pid);
        found.filter(|it| it.start_ns == start_ns)
    }

    /// Takes it out.
    pub(super) fn take(&mut self, pid: u32, start_ns: u64) -> Option<Running> {
        self.get(pid, start_ns)?;
        self.by_pid.remove(&pid)
    }

    pub(super) fn insert(&mut self, pid: u32, running: Running) {
        match self.by_pid.len() < MOST_RUNNING || self.by_pid.contains_key(&pid) {
            true => drop(self.by_pid.insert(pid, running)),
            false => self.unplaced += 1,
        }
    }

    pub(super) fn end(&mut self, ended: Ended) {
        self.ended.push_back(ended);
    }

    /// Whether the exit of a process is waiting to be written.
    pub(super) fn has_ended(&self, pid: u32, start_ns: u64) -> bool {
        let mut exits = self.ended.iter();
        exits.any(|it| it.pid == pid && it.run.start_ns == start_ns && it.status.is_some())
    }

    /// A process was let go: all of its CPU time is known.
    pub(super) fn release(&mut self, event: &Event<'_>) {
        let mut exits = self.ended.iter_mut();
        let own = exits.find(|it| {
            it.pid == event.pid && it.run.start_ns == event.start_ns && it.status.is_some()
        });
        if let Some(ended) = own {
            ended.cpu_ns = Some(event.cpu_ns);
            ended.is_whole = true;
        }
    }

    /// Whether a process that has ended within this time is not let go yet.
    pub(super) fn waits(&self, now_ns: u64, within_ns: u64) -> bool {
        let mut ended = self.ended.iter();
        ended.any(|it| !it.is_whole && (it.at_ns..it.at_ns + within_ns).contains(&now_ns))
    }

    /// Calls `each` with the runs that are ready to be written, in the order in which they ended.
    pub(super) fn write(&mut self, now_ns: u64, mut each: impl FnMut(&Ended)) {
        self.ended
            .make_contiguous()
            .sort_unstable_by_key(|it| it.at_ns);
        while let Some(first) = self.ended.front() {
            let age = now_ns.saturating_sub(first.at_ns);
            let is_ready = age > PATIENCE_NS || first.is_whole && age > DISORDER_NS;
            if !is_ready && self.ended.len() < MOST_ENDED {
                break;
            }
            each(first);
            self.ended.pop_front();
        }
    }

    /// Takes out everything that has ended, in that order, and then everything that still runs.
    pub(super) fn finish(&mut self) -> (VecDeque<Ended>, HashMap<u32, Running>) {
        let mut ended = std::mem::take(&mut self.ended);
        ended.make_contiguous().sort_by_key(|it| it.at_ns);
        (ended, std::mem::take(&mut self.by_pid))
    }
}
