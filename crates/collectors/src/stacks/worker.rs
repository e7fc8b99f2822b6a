//! The thread that reads samples, unwinds them and names their functions at the end. Not the sampler's: to read the
//! tables of a file that is not in memory waits for a disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};

use kernel::clock::boottime;
use kernel::limits;
use kernel::privileges::{Duty, give_up_all_but};
use kernel::stacks::symbols::KernelSymbols;
use kernel::stacks::{CpuSamples, End, Frame, Record, Sample, Unwinder};
use model::Timestamp;

use super::call_tree::{CallTree, Node, Origin, Place, StackNumber};
use super::naming::{self, Named};
use super::perf_maps::PerfMaps;

/// Samples that wait for the sampler; beyond it they are lost.
const MOST_WAITING: usize = 50_000;

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
    /// Samples that are lost.
    pub(super) lost: u64,
    /// The names of all places, in the last batch.
    pub(super) named: Option<Named>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.modules.clear();
        self.nodes.clear();
        self.samples.clear();
        self.lost = 0;
        self.named = None;
    }

    fn is_empty(&self) -> bool {
        self.modules.is_empty()
            && self.nodes.is_empty()
            && self.samples.is_empty()
            && self.lost == 0
            && self.named.is_none()
    }
}

/// The thread's state.
pub(super) struct Worker {
    proc: PathBuf,
    is_hardened: bool,
    samples: CpuSamples,
    unwinder: Unwinder,
    kernel: Option<KernelSymbols>,
    tree: CallTree,
    maps: PerfMaps,
    /// Files that were handed over.
    modules: usize,
    filling: Batch,
    /// Samples that came while the rings were read: another ring may have older ones.
    early: Vec<Taken>,
    /// A reused buffer.
    frames: Vec<Frame>,
}

impl Worker {
    pub(super) fn new(samples: CpuSamples, proc: &Path, is_hardened: bool) -> Self {
        Self {
            is_hardened,
            samples,
            unwinder: Unwinder::new(proc),
            kernel: KernelSymbols::open(proc),
            proc: proc.to_owned(),
            tree: CallTree::default(),
            maps: PerfMaps::new(),
            modules: 0,
            filling: Batch::default(),
            early: Vec::new(),
            frames: Vec::new(),
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
        let period = self.samples.reading_period();
        loop {
            let goes_on = matches!(stop.recv_timeout(period), Err(RecvTimeoutError::Timeout));
            self.read();
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
        let places = self.tree.places();
        self.filling.named = Some(naming::name(
            &places,
            &self.unwinder,
            self.kernel.as_mut(),
            &mut self.maps,
            &self.proc,
        ));
        // The sampler waits for it.
        let _ = batches.send(self.filling);
    }

    fn read(&mut self) {
        let now = boottime();
        let Self {
            samples,
            unwinder,
            kernel,
            tree,
            filling,
            early,
            frames,
            ..
        } = self;
        let begin = filling.samples.len();
        filling.samples.append(early);
        samples.read(|record| match record {
            Record::Sample(sample) if filling.samples.len() < MOST_WAITING => {
                let end = unwind(&sample, unwinder, kernel.as_ref(), frames);
                let outermost_first = frames.iter().rev().map(|frame| place(frame, sample.pid));
                let taken = Taken {
                    time: sample.time,
                    pid: sample.pid,
                    tid: sample.tid,
                    stack: tree.number_of(outermost_first, |node| filling.nodes.push(node)),
                    end,
                };
                match taken.time < now {
                    true => filling.samples.push(taken),
                    false => early.push(taken),
                }
            }
            Record::Sample(_) => filling.lost += 1,
            Record::Exec(pid) | Record::Mapped(pid) => unwinder.changed(pid),
            Record::Exited(pid) => unwinder.exited(pid),
            Record::Lost(count) => filling.lost += count,
        });
        // A thread that moved to another CPU is in several rings.
        filling.samples[begin..].sort_unstable_by_key(|taken| taken.time);
        let new = unwinder.modules().skip(self.modules);
        filling.modules.extend(new.map(|module| NewModule {
            path: module.path.clone(),
            build_id: module.build_id.clone(),
        }));
        self.modules = unwinder.modules().len();
        for node in &filling.nodes {
            if let Origin::Made(pid) = node.place.origin {
                self.maps.note(pid, &self.proc);
            }
        }
    }
}

/// Frames of the kernel are told from those of user space by a number that no file has.
const KERNEL: kernel::stacks::ModuleId = kernel::stacks::ModuleId(u32::MAX);

/// All frames of a sample, the innermost first; how the user stack ends.
fn unwind(
    sample: &Sample<'_>,
    unwinder: &mut Unwinder,
    kernel: Option<&KernelSymbols>,
    frames: &mut Vec<Frame>,
) -> Option<End> {
    frames.clear();
    for (depth, address) in sample.kernel().enumerate() {
        // Of callers the byte before, as in user space. Where the kernel hides its addresses, all are one.
        let address = address.wrapping_sub(u64::from(depth > 0));
        frames.push(Frame {
            module: Some(KERNEL),
            address: kernel.map_or(0, |kernel| kernel.relative(address)),
        });
        if kernel.is_none() {
            break;
        }
    }
    let stack = sample.user.as_ref()?;
    Some(unwinder.unwind(sample.pid, stack, frames))
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
