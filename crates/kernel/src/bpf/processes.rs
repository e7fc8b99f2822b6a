//! Which programs are started, and how they end (`bpf/processes.bpf.c`).

use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::skel::{OpenSkel as _, Skel as _, SkelBuilder as _};
use libbpf_rs::{RingBuffer, RingBufferBuilder};

use super::conditions::may_report_processes;
use super::footprint;
use super::hooks::Hooks;
use super::messages::quietly;
use super::refusal::Refusal;
use super::skeletons::processes::types::{process_event, process_exec};
use super::skeletons::processes::{ProcessesSkel, ProcessesSkelBuilder};

/// Room for events between two readings: a power of two. A fork with an exec and its end takes some 400 bytes.
const RING_BYTES: u32 = 2 << 20;

/// What happened to a process (enum process_event_kind).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It began as a copy of its parent.
    Fork,
    /// It goes on as another program.
    Exec,
    /// Its last thread exits.
    Exit,
    /// The kernel has let it go, so its CPU time is whole.
    Free,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<'a> {
    /// What happened.
    pub kind: Kind,
    /// The process.
    pub pid: u32,
    /// When it began, ns on CLOCK_BOOTTIME: with the pid, its identity.
    pub start_ns: u64,
    /// When this happened.
    pub at_ns: u64,
    /// CPU time of all its threads so far, ns: when it is let go the whole, before that up to the last switch or tick.
    pub cpu_ns: u64,
    /// The parent's pid.
    pub parent: u32,
    /// When the parent began.
    pub parent_start_ns: u64,
    /// How it ended, as wait(2) has it.
    pub status: u32,
    /// The kernel's name of its first thread.
    pub comm: &'a [u8],
    /// The path of the program that was started.
    pub path: &'a [u8],
    /// The arguments, each with its zero byte; empty where their memory was not there.
    pub arguments: &'a [u8],
    /// Whether there are more arguments than these, whose last may then be cut.
    pub is_cut: bool,
}

/// The event that a record of the ring holds; `None` for anything else.
pub fn event_of(record: &[u8]) -> Option<Event<'_>> {
    let word = |at: usize| Some(u32::from_ne_bytes(*record.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u64::from_ne_bytes(*record.get(at..)?.first_chunk()?));
    let kind = match word(offset_of!(process_event, kind))? {
        1 => Kind::Fork,
        2 => Kind::Exec,
        3 => Kind::Exit,
        4 => Kind::Free,
        _ => return None,
    };
    let comm = record.get(offset_of!(process_event, comm)..size_of::<process_event>())?;
    let (mut path, mut arguments, mut is_cut) = (&[][..], &[][..], false);
    if kind == Kind::Exec {
        let texts = record.get(offset_of!(process_exec, text)..)?;
        let of_path = word(offset_of!(process_exec, path_bytes))? as usize;
        let of_arguments = word(offset_of!(process_exec, arguments_bytes))? as usize;
        path = texts.get(..of_path)?;
        arguments = texts[of_path..].get(..of_arguments)?;
        is_cut = word(offset_of!(process_exec, is_cut))? != 0;
    }
    Some(Event {
        kind,
        pid: word(offset_of!(process_event, pid))?,
        start_ns: long(offset_of!(process_event, start_ns))?,
        at_ns: long(offset_of!(process_event, at_ns))?,
        cpu_ns: long(offset_of!(process_event, cpu_ns))?,
        parent: word(offset_of!(process_event, parent))?,
        parent_start_ns: long(offset_of!(process_event, parent_start_ns))?,
        status: word(offset_of!(process_event, status))?,
        comm: comm.split(|byte| *byte == 0).next().unwrap_or_default(),
        path,
        arguments,
        is_cut,
    })
}

/// Records of one reading, one behind the other.
#[derive(Default)]
struct Records {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// The loaded programs.
pub struct Processes {
    _hooks: Hooks,
    ring: RingBuffer<'static>,
    records: Arc<Mutex<Records>>,
    programs: ProcessesSkel<'static>,
}

impl Processes {
    /// Loads them; from now on they report.
    ///
    /// # Errors
    /// Why they are not available here.
    pub fn load() -> Result<Self, Refusal> {
        may_report_processes()?;
        // A kernel before 6.16 refuses the program that reads whether a thread is the last one.
        quietly(|| Self::loaded(true)).or_else(|_| quietly(|| Self::loaded(false)))
    }

    fn loaded(says_last: bool) -> Result<Self, Refusal> {
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = ProcessesSkelBuilder::default().open(place)?;
        open.progs.on_exit.set_autoload(says_last);
        open.progs.on_thread_exit.set_autoload(!says_last);
        open.maps.events.set_max_entries(RING_BYTES)?;
        let mut programs = open.load()?;
        let records = Arc::new(Mutex::new(Records::default()));
        let filled = Arc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        builder.add(&programs.maps.events, move |record: &[u8]| {
            let mut records = filled.lock().unwrap_or_else(PoisonError::into_inner);
            records.bytes.extend_from_slice(record);
            let end = records.bytes.len();
            records.ends.push(end);
            0
        })?;
        let ring = builder.build()?;
        Ok(Self {
            _hooks: Hooks::attach(programs.object_mut(), &[], Vec::new())?,
            ring,
            records,
            programs,
        })
    }

    /// Calls `each` for every event since the last reading, nearly in the order of time: events of two CPUs at the same
    /// moment may change places.
    ///
    /// # Errors
    /// Why the ring cannot be read.
    pub fn read(&mut self, mut each: impl FnMut(&Event<'_>)) -> Result<(), Refusal> {
        self.ring.consume()?;
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let Records { bytes, ends } = &mut *records;
        let mut start = 0;
        for end in ends.drain(..) {
            if let Some(event) = event_of(&bytes[start..end]) {
                each(&event);
            }
            start = end;
        }
        bytes.clear();
        Ok(())
    }

    /// Events so far for which there was no room.
    pub fn lost(&self) -> u64 {
        let variables = self.programs.maps.bss_data.as_deref();
        variables.map_or(0, |it| it.lost)
    }

    /// Kernel memory in use, bytes.
    pub fn kernel_bytes(&self) -> Option<u64> {
        footprint::of(self.programs.object())
    }

    /// The programs by their hooks.
    pub fn probes(&self) -> Vec<(&'static str, BorrowedFd<'_>)> {
        let programs = &self.programs.progs;
        let all = [
            ("sched_process_fork", &programs.on_fork),
            ("sched_process_exec", &programs.on_exec),
            ("sched_process_exit", &programs.on_exit),
            ("sched_process_exit", &programs.on_thread_exit),
            ("sched_process_free", &programs.on_free),
        ];
        let loaded = all.into_iter().filter(|(_, program)| program.autoload());
        loaded
            .map(|(name, program)| (name, program.as_fd()))
            .collect()
    }
}

#[cfg(test)]
mod tests;
