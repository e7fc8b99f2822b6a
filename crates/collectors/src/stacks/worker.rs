//! The thread that reads samples, unwinds them and names their functions at the end. Not the sampler's: to read the
//! tables of a file that is not in memory waits for a disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::Duration;

use kernel::bpf::thread_time::wait_stacks::{WaitStack, WaitStackRing, WaitStacks, Waker};
use kernel::clock::boottime;
use kernel::limits;
use kernel::privileges::{Duty, give_up_all_but};
use kernel::stacks::symbols::KernelSymbols;
use kernel::stacks::{CpuSamples, End, Frame, Record, Sample, SpinHints, Unwinder, UserStack};
use model::Timestamp;

use super::call_tree::{CallTree, Node, Origin, Place, StackNumber};
use super::locks::Locks;
use super::naming::{self, Named};
use super::perf_maps::PerfMaps;

/// Samples that wait for the sampler; beyond it they are lost. Likewise waits.
const MOST_WAITING: usize = 50_000;
/// How often waits are read where all of them may be taken: 20,000 a second fill the ring in 20 ms.
const FAST: Duration = Duration::from_millis(5);
/// Wakers whose wait is not reported yet.
const MOST_WAKERS: usize = 10_000;

/// A sample with its stack.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) time: Timestamp,
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// `None` where there is no room for another stack.
    pub(super) stack: Option<StackNumber>,
    /// How its user stack ends, if it has one.
    pub(super) end: Option<End>,
    /// Whether it was in a loop that waits; `None` in the kernel, and in code without a file.
    pub(super) spins: Option<bool>,
}

/// A wait with its stack, and that of its waker.
#[derive(Clone, Copy)]
pub(super) struct TakenWait {
    /// When it ended.
    pub(super) until: Timestamp,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) stack: Option<StackNumber>,
    pub(super) end: Option<End>,
    pub(super) class: u32,
    pub(super) wait_ns: i64,
    pub(super) weight_ns: i64,
    pub(super) waker: Waker,
    pub(super) waker_stack: Option<StackNumber>,
    pub(super) lock: Option<u64>,
}

/// A file that code is from, and its build id.
pub(super) struct NewModule {
    pub(super) path: String,
    pub(super) build_id: Option<String>,
}

/// What was found since the batch before. Emptied batches come back to be filled again.
#[derive(Default)]
pub(super) struct Batch {
    /// Files; they are numbered in the order in which they come.
    pub(super) modules: Vec<NewModule>,
    /// Stacks; numbered likewise.
    pub(super) nodes: Vec<Node>,
    pub(super) samples: Vec<Taken>,
    pub(super) waits: Vec<TakenWait>,
    /// Samples that are lost, and waits.
    pub(super) lost: u64,
    pub(super) lost_waits: u64,
    /// The names of all places, in the last batch.
    pub(super) named: Option<Named>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.modules.clear();
        self.nodes.clear();
        self.samples.clear();
        self.waits.clear();
        (self.lost, self.lost_waits) = (0, 0);
        self.named = None;
    }

    fn is_empty(&self) -> bool {
        self.modules.is_empty()
            && self.nodes.is_empty()
            && self.samples.is_empty()
            && self.waits.is_empty()
            && (self.lost, self.lost_waits) == (0, 0)
            && self.named.is_none()
    }
}

/// Where stacks of waits come from.
pub(super) struct Waits {
    pub(super) ring: WaitStackRing,
    /// Whether the user says which are taken, and not the budget.
    pub(super) may_be_many: bool,
}

/// The thread's state.
pub(super) struct Worker {
    proc: PathBuf,
    is_hardened: bool,
    samples: CpuSamples,
    waits: Option<Waits>,
    frames: Frames,
    /// By the thread that is woken: the waker, and where it was.
    wakers: HashMap<u32, (u32, Option<StackNumber>)>,
    maps: PerfMaps,
    locks: Locks,
    /// Files that were handed over.
    modules: usize,
    filling: Batch,
    /// Samples that came while the rings were read: another ring may have older ones.
    early: Vec<Taken>,
    /// Processes that have ended since.
    exited: Vec<u32>,
}

/// From the memory of a stack to its number.
struct Frames {
    unwinder: Unwinder,
    kernel: Option<KernelSymbols>,
    tree: CallTree,
    hints: SpinHints,
    /// A reused buffer.
    frames: Vec<Frame>,
}

impl Frames {
    /// Whether the innermost frame of the last stack is in a loop that waits.
    fn spins(&mut self) -> Option<bool> {
        let innermost = self.frames.first()?;
        let module = innermost.module.filter(|module| *module != KERNEL)?;
        let hints = &mut self.hints;
        Some(hints.is_beside(&self.unwinder, module, innermost.address))
    }

    /// The number of a stack, new ones to be added to `nodes`; how it ends in user space.
    fn number(
        &mut self,
        pid: u32,
        kernel: impl Iterator<Item = u64>,
        user: Option<&UserStack<'_>>,
        nodes: &mut Vec<Node>,
    ) -> (Option<StackNumber>, Option<End>) {
        self.frames.clear();
        self.frames
            .extend(kernel_frames(kernel, self.kernel.as_ref()));
        let end = user.map(|user| self.unwinder.unwind(pid, user, &mut self.frames));
        let outermost_first = self.frames.iter().rev().map(|frame| place(frame, pid));
        let number = self
            .tree
            .number_of(outermost_first, |node| nodes.push(node));
        (number, end)
    }
}

impl Worker {
    pub(super) fn new(
        samples: CpuSamples,
        waits: Option<Waits>,
        proc: &Path,
        is_hardened: bool,
    ) -> Self {
        Self {
            is_hardened,
            samples,
            waits,
            wakers: HashMap::new(),
            frames: Frames {
                unwinder: Unwinder::new(proc),
                kernel: KernelSymbols::open(proc),
                tree: CallTree::default(),
                hints: SpinHints::default(),
                frames: Vec::new(),
            },
            proc: proc.to_owned(),
            maps: PerfMaps::new(),
            locks: Locks::default(),
            modules: 0,
            filling: Batch::default(),
            early: Vec::new(),
            exited: Vec::new(),
        }
    }

    /// Reads until `stop` is closed, then names everything.
    pub(super) fn run(
        mut self,
        stop: &Receiver<()>,
        batches: &SyncSender<Batch>,
        spare: &Receiver<Batch>,
    ) {
        if self.is_hardened {
            // Behind many threads that want the same CPUs it would come too late.
            limits::raise_nice();
        }
        give_up_all_but(Duty::Sampling);
        let mut period = self.samples.reading_period();
        if self.waits.as_ref().is_some_and(|waits| waits.may_be_many) {
            period = period.min(FAST);
        }
        // Its buffers belong to the thread that reads.
        let mut waits = self.waits.take().and_then(|waits| waits.ring.open().ok());
        loop {
            let goes_on = matches!(stop.recv_timeout(period), Err(RecvTimeoutError::Timeout));
            // First what tells that files were mapped: those who wait may be in them.
            self.read();
            if let Some(waits) = &mut waits {
                self.read_waits(waits);
            }
            self.note_modules();
            for pid in self.exited.drain(..) {
                self.frames.unwinder.exited(pid);
            }
            if !goes_on {
                break;
            }
            if self.filling.is_empty() {
                continue;
            }
            let next = spare.try_recv().unwrap_or_default();
            match batches.try_send(std::mem::replace(&mut self.filling, next)) {
                Ok(()) => {}
                // The sampler is late: the batch grows on.
                Err(TrySendError::Full(batch)) => self.filling = batch,
                Err(TrySendError::Disconnected(_)) => return,
            }
        }
        self.filling.samples.append(&mut self.early);
        let places = self.frames.tree.places();
        let mut named = naming::name(
            &places,
            &self.frames.unwinder,
            self.frames.kernel.as_mut(),
            &mut self.maps,
            &self.proc,
        );
        named.locks = self.locks.named(&self.frames.unwinder);
        self.filling.named = Some(named);
        // The sampler waits for it.
        let _ = batches.send(self.filling);
    }

    fn read(&mut self) {
        let now = boottime();
        let Self {
            samples,
            filling,
            early,
            exited,
            frames,
            ..
        } = self;
        let begin = filling.samples.len();
        filling.samples.append(early);
        samples.read(|record| match record {
            Record::Sample(sample) if filling.samples.len() < MOST_WAITING => {
                let taken = taken(&sample, frames, &mut filling.nodes);
                match taken.time < now {
                    true => filling.samples.push(taken),
                    false => early.push(taken),
                }
            }
            Record::Sample(_) => filling.lost += 1,
            Record::Exec(pid) | Record::Mapped(pid) => frames.unwinder.changed(pid),
            // What it was waiting for before is read next.
            Record::Exited(pid) => exited.push(pid),
            Record::Lost(count) => filling.lost += count,
        });
        // A thread that moved to another CPU is in several rings.
        filling.samples[begin..].sort_unstable_by_key(|taken| taken.time);
    }

    fn read_waits(&mut self, waits: &mut WaitStacks) {
        let begin = self.filling.waits.len();
        waits.read(|stack| self.take_wait(&stack));
        self.filling.waits[begin..].sort_unstable_by_key(|taken| taken.until);
    }

    fn take_wait(&mut self, wait: &WaitStack<'_>) {
        let Self {
            frames,
            filling,
            wakers,
            locks,
            ..
        } = self;
        if filling.waits.len() == MOST_WAITING {
            filling.lost_waits += 1;
            return;
        }
        let user = wait.user.as_ref();
        let (stack, end) = frames.number(wait.pid, wait.kernel(), user, &mut filling.nodes);
        if let Some(woken) = wait.wakes {
            // Full of threads that ended before they ran again.
            if wakers.len() == MOST_WAKERS {
                wakers.clear();
            }
            wakers.insert(woken, (wait.tid, stack));
            return;
        }
        let waker = wakers.remove(&wait.tid);
        let waker = waker.filter(|(tid, _)| *tid == wait.waker.tid);
        if let Some(lock) = wait.lock {
            locks.note(wait.pid, lock, &frames.unwinder);
        }
        let wait_ns = wait.until.ns_since(wait.from);
        filling.waits.push(TakenWait {
            until: wait.until,
            pid: wait.pid,
            tid: wait.tid,
            stack,
            end,
            class: wait.class,
            wait_ns,
            weight_ns: (wait_ns as f64 * wait.stands_for).round() as i64,
            waker: wait.waker,
            waker_stack: waker.and_then(|(_, stack)| stack),
            lock: wait.lock,
        });
    }

    /// Hands over the files that were met since the last time.
    fn note_modules(&mut self) {
        let Self {
            frames, filling, ..
        } = self;
        let all = frames.unwinder.modules();
        let count = all.len();
        filling
            .modules
            .extend(all.skip(self.modules).map(|module| NewModule {
                path: module.path.clone(),
                build_id: module.build_id.clone(),
            }));
        self.modules = count;
        for node in &filling.nodes {
            if let Origin::Made(pid) = node.place.origin {
                self.maps.note(pid, &self.proc);
            }
        }
    }
}

fn taken(sample: &Sample<'_>, frames: &mut Frames, nodes: &mut Vec<Node>) -> Taken {
    let user = sample.user.as_ref();
    let (stack, end) = frames.number(sample.pid, sample.kernel(), user, nodes);
    Taken {
        time: sample.time,
        pid: sample.pid,
        tid: sample.tid,
        stack,
        end,
        spins: frames.spins(),
    }
}

/// Frames of the kernel are told from those of user space by a number that no file has.
const KERNEL: kernel::stacks::ModuleId = kernel::stacks::ModuleId(u32::MAX);

/// Frames of the kernel, from their addresses.
fn kernel_frames(
    addresses: impl Iterator<Item = u64>,
    kernel: Option<&KernelSymbols>,
) -> impl Iterator<Item = Frame> {
    // Where the kernel hides its addresses, all are one.
    let most = if kernel.is_some() { usize::MAX } else { 1 };
    addresses
        .take(most)
        .enumerate()
        .map(move |(depth, address)| {
            // Of callers the byte before, as in user space.
            let address = address.wrapping_sub(u64::from(depth > 0));
            Frame {
                module: Some(KERNEL),
                address: kernel.map_or(0, |kernel| kernel.relative(address)),
            }
        })
}

fn place(frame: &Frame, pid: u32) -> Place {
    let origin = match frame.module {
        Some(KERNEL) => Origin::Kernel,
        Some(module) => Origin::File(module.0),
        None => Origin::Made(pid),
    };
    Place {
        origin,
        address: frame.address,
    }
}
