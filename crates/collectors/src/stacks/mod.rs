//! Call stacks: of what runs on CPUs, by samples of the clock; of waits, as the programs of thread times take them;
//! and of who ended these.

mod call_tree;
mod locks;
mod naming;
mod owners;
mod perf_maps;
mod worker;

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use kernel::bpf::Refusal;
use kernel::stacks::{CpuSamples, End};
use model::{EntityId, GapReason, MISSING, StringId, StringKind, Timestamp, sentence};
use sensors::stack::{CPU_SAMPLE, LOCK, STACK, SYMBOL, WAIT_SAMPLE};

use self::call_tree::{NO_CALLER, Origin, Place};
use self::naming::Named;
use self::owners::Owners;
use self::worker::{Batch, Taken, TakenWait, Waits, Worker};
use crate::collector::Collector;
use crate::opening::Opening;
use crate::output::{Output, TableId};
use crate::registry::MACHINE;
use crate::scene::Scene;
use crate::schedule::ticks_of;
use crate::tick::Tick;

/// Batches on their way to the sampler: with two the worker fills one while the other is written.
const BATCHES: usize = 2;
/// How often it is noted who is there, in ticks.
const OWNERS_TICKS: u64 = ticks_of(Duration::from_secs(1));
/// How long the sampler waits at the end for the names of functions.
const PATIENCE: Duration = Duration::from_secs(8);

struct Stacks {
    /// Closed to end the worker.
    stop: Option<Sender<()>>,
    batches: Receiver<Batch>,
    spare: SyncSender<Batch>,
    worker: Option<JoinHandle<()>>,
    cpu_ns: i64,
    kernel_bytes: u64,
    tables: Tables,
    /// The texts of files, by their numbers; `None` where there was no room.
    modules: Vec<Option<StringId>>,
    stacks: i64,
    lost: u64,
    lost_waits: u64,
    owners: Owners,
    /// Processes that waited for a lock: when locks are named, they may have ended.
    waited: HashMap<u32, EntityId>,
    /// The time of the last row about no thread: rows of one entity are in the order of time.
    latest: Timestamp,
}

#[derive(Clone, Copy)]
struct Tables {
    stack: TableId,
    symbol: TableId,
    sample: TableId,
    wait: TableId,
    lock: TableId,
}

/// Opens it, unless the settings say that nothing is to be sampled.
pub(crate) fn open(opening: &mut Opening<'_>) -> Option<Box<dyn Collector>> {
    let rate = opening.settings.stack_rate?;
    let proc = opening.settings.root.join("proc");
    let cpus: Vec<u32> = opening.environment.online_cpus.clone();
    let samples = opening.program("cpu_samples", |_| CpuSamples::open(rate, &cpus));
    let samples = samples?;
    let tables = Tables {
        stack: opening.out.open(&STACK),
        symbol: opening.out.open(&SYMBOL),
        sample: opening.out.open(&CPU_SAMPLE),
        wait: opening.out.open(&WAIT_SAMPLE),
        lock: opening.out.open(&LOCK),
    };
    let may_be_many = opening.settings.min_wait.is_some();
    let waits = opening.wait_stacks.take();
    let waits = waits.map(|ring| Waits { ring, may_be_many });
    let is_hardened = opening.settings.harden;
    let stacks = Stacks::start(samples, waits, &proc, tables, is_hardened);
    let refusal = stacks.as_ref().err().map(model::Sentence::from);
    opening
        .cost
        .programs
        .insert("cpu_samples".to_owned(), refusal);
    Some(Box::new(stacks.ok()?))
}

impl Stacks {
    fn start(
        samples: CpuSamples,
        waits: Option<Waits>,
        proc: &Path,
        tables: Tables,
        is_hardened: bool,
    ) -> Result<Self, Refusal> {
        let (stop, stopped) = channel();
        let (filled, batches) = sync_channel(BATCHES);
        let (spare, emptied) = sync_channel(BATCHES);
        let (cpu_ns, kernel_bytes) = (samples.period_ns(), samples.kernel_bytes());
        let proc = proc.to_owned();
        // What it keeps of its privileges it gives up itself: the kernel's symbols are opened before.
        let run = move || {
            let worker = Worker::new(samples, waits, &proc, is_hardened);
            worker.run(&stopped, &filled, &emptied);
        };
        let thread = std::thread::Builder::new().name("stacks".to_owned());
        let worker = thread.spawn(run).map_err(Refusal::from)?;
        Ok(Self {
            stop: Some(stop),
            batches,
            spare,
            worker: Some(worker),
            cpu_ns,
            kernel_bytes,
            tables,
            modules: Vec::new(),
            stacks: 0,
            lost: 0,
            lost_waits: 0,
            owners: Owners::default(),
            waited: HashMap::new(),
            latest: Timestamp::default(),
        })
    }

    fn write(&mut self, mut batch: Batch, now: Timestamp, scene: &Scene, out: &mut Output) {
        for module in &batch.modules {
            let path = &module.path;
            let text = out.strings.intern(StringKind::Module, None, path);
            if let (Some(id), Some(build_id)) = (text, &module.build_id) {
                out.strings.intern(StringKind::BuildId, Some(id), build_id);
            }
            self.modules.push(text);
        }
        for node in &batch.nodes {
            let caller = match node.caller {
                NO_CALLER => MISSING,
                number => i64::from(number),
            };
            let row = [
                self.stacks,
                caller,
                self.module_of(node.place.origin, out),
                node.place.address as i64,
            ];
            self.stacks += 1;
            out.tables[self.tables.stack].rows.push(now, MACHINE, &row);
        }
        for taken in &batch.samples {
            self.write_sample(taken, scene, out);
        }
        for wait in &batch.waits {
            self.write_wait(wait, scene, out);
        }
        if let Some(named) = &batch.named {
            self.write_names(named, now, out);
            self.write_locks(named, now, out);
        }
        self.lost += batch.lost;
        self.lost_waits += batch.lost_waits;
        batch.clear();
        // Full only where batches were made anew meanwhile.
        let _ = self.spare.try_send(batch);
    }

    fn write_sample(&self, taken: &Taken, scene: &Scene, out: &mut Output) {
        let (_, entity) = self.owners.of(taken.pid, taken.tid, scene);
        let row = [
            taken.stack.map_or(MISSING, i64::from),
            self.cpu_ns,
            taken.end.map_or(MISSING, code_of),
            taken.spins.map_or(MISSING, i64::from),
        ];
        let rows = &mut out.tables[self.tables.sample].rows;
        rows.push(taken.time, entity.unwrap_or(MACHINE), &row);
    }

    fn write_wait(&mut self, wait: &TakenWait, scene: &Scene, out: &mut Output) {
        let waker =
            (wait.waker.tid != 0).then(|| self.owners.of(wait.waker.pid, wait.waker.tid, scene).1);
        let row = [
            wait.stack.map_or(MISSING, i64::from),
            i64::from(wait.class),
            wait.wait_ns,
            wait.weight_ns,
            match wait.waker.by {
                0 => MISSING,
                by => i64::from(by),
            },
            waker.flatten().map_or(MISSING, |id| i64::from(id.0)),
            wait.waker_stack.map_or(MISSING, i64::from),
            wait.lock.map_or(MISSING, u64::cast_signed),
            wait.end.map_or(MISSING, code_of),
        ];
        let (is_thread, entity) = self.owners.of(wait.pid, wait.tid, scene);
        if wait.lock.is_some()
            && !self.waited.contains_key(&wait.pid)
            && let Some(process) = scene.processes.entity(wait.pid)
        {
            self.waited.insert(wait.pid, process);
        }
        let mut at = wait.until;
        if !is_thread {
            // Of the threads of a process one may get the CPU long after it was woken.
            self.latest = self.latest.max(at);
            at = self.latest;
        }
        let rows = &mut out.tables[self.tables.wait].rows;
        rows.push(at, entity.unwrap_or(MACHINE), &row);
    }

    fn write_names(&self, named: &Named, now: Timestamp, out: &mut Output) {
        for (Place { origin, address }, functions) in &named.functions {
            let module = self.module_of(*origin, out);
            let mut outer = u32::try_from(module).ok().map(StringId);
            let mut function = None;
            for name in functions {
                function = out.strings.intern(StringKind::Function, outer, name);
                outer = function;
            }
            if let Some(function) = function {
                let row = [module, *address as i64, i64::from(function.0)];
                out.tables[self.tables.symbol].rows.push(now, MACHINE, &row);
            }
        }
        if named.unnamed_files > 0 {
            let what = sentence!(
                "functions of {} files: no time was left to look them up; stallscope symbolize does",
                named.unnamed_files
            );
            out.gaps
                .report(&SYMBOL.name, what, GapReason::Dropped(named.unnamed_files));
        }
    }

    fn write_locks(&self, named: &Named, now: Timestamp, out: &mut Output) {
        for lock in &named.locks {
            let process = self.waited.get(&lock.pid);
            let module = self.module_of(Origin::File(lock.module.0), out);
            let file = u32::try_from(module).ok().map(StringId);
            let variable = out
                .strings
                .intern(StringKind::Function, file, &lock.variable);
            if let (Some(process), Some(variable)) = (process, variable) {
                let row = [lock.address.cast_signed(), module, i64::from(variable.0)];
                out.tables[self.tables.lock].rows.push(now, *process, &row);
            }
        }
    }

    /// The text of a file, as a row's value.
    fn module_of(&self, origin: Origin, out: &mut Output) -> i64 {
        let text = match origin {
            Origin::File(number) => self.modules.get(number as usize).copied().flatten(),
            Origin::Made(pid) => {
                // As perf calls it: where the runtime writes the names.
                let name = format!("/tmp/perf-{pid}.map");
                out.strings.intern(StringKind::Module, None, &name)
            }
            Origin::Kernel => out.strings.intern(StringKind::Module, None, "[kernel]"),
        };
        text.map_or(MISSING, |id| i64::from(id.0))
    }
}

/// As the help of the column says.
fn code_of(end: End) -> i64 {
    match end {
        End::Whole => 0,
        End::Cut => 1,
        End::Lost => 2,
        End::Unmapped => 3,
    }
}

impl Collector for Stacks {
    fn sample(&mut self, tick: &Tick, scene: &mut Scene, out: &mut Output) {
        if tick.passes(OWNERS_TICKS) {
            self.owners.note(scene);
        }
        while let Ok(batch) = self.batches.try_recv() {
            self.write(batch, tick.stamp(), scene, out);
        }
    }

    fn finish(&mut self, scene: &mut Scene, out: &mut Output) {
        let now = kernel::clock::boottime();
        drop(self.stop.take());
        // The worker drops its end when it has sent the last one.
        while let Ok(batch) = self.batches.recv_timeout(PATIENCE) {
            self.write(batch, now, scene, out);
        }
        if let Some(worker) = self.worker.take().filter(JoinHandle::is_finished) {
            let _ = worker.join();
        }
        if self.lost > 0 {
            let what = sentence!("samples of what runs on CPUs");
            let lost = GapReason::Dropped(self.lost);
            out.gaps.report(&CPU_SAMPLE.name, what, lost);
        }
        if self.lost_waits > 0 {
            let what = sentence!("waits with their call stacks");
            let lost = GapReason::Dropped(self.lost_waits);
            out.gaps.report(&WAIT_SAMPLE.name, what, lost);
        }
    }

    fn each_program(&self, _scene: &Scene, each: &mut dyn FnMut(&'static str, Option<u64>)) {
        each("cpu_samples", Some(self.kernel_bytes));
    }
}
