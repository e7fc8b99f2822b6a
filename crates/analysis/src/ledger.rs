//! Where the time of a set of threads went: on a CPU, waiting for one, held back, blocked in what.
//!
//! Where the scheduler's events were counted, every class is exact. Elsewhere on-CPU time and run-queue
//! delay are; what is left of a thread's life is blocked time, split by the state and the system call
//! that it was seen in at each sample, and run-queue delay includes time withheld by a CPU quota, which
//! is taken out here. The parts always add up to the whole.

use model::{AccountItem, ClassState, Hidden, LedgerClass, Quality, ThreadsAccount, Window};
use sensors::thread_time::{HOLDERS, Holder};

use crate::thread_times::Counted;
use crate::waits_for::Ends;

/// Whether time in a class is spent inside requests. Waiting for input is not, and what is not known is not claimed.
pub(crate) fn is_inside(class: LedgerClass) -> bool {
    class != LedgerClass::Input
        && !matches!(class.state(), ClassState::Unknown | ClassState::Outside)
}

/// Time by class, ns; the parts add up to `wall_ns`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) threads: u32,
    pub(crate) wall_ns: f64,
    /// Part of it in threads whose run-queue delay was not recorded: their `CpuWait` is not zero, it
    /// is not known.
    pub(crate) wait_unseen_ns: f64,
    /// Part of `Unknown`: blocked time of threads that no sample met blocked.
    unsampled_ns: f64,
    /// Part of it that is in accounts: counted at the scheduler's events.
    pub(crate) counted_ns: f64,
    /// Of that, time waiting for memory, in whatever class.
    pub(crate) memory_ns: f64,
    /// Of that, time in reads and writes, uninterruptible and not for a disk: behind the lock of a file, as a rule.
    behind_file_ns: f64,
    /// Of their time on a CPU, what the scheduler did not count as run time; signed.
    pub(crate) hidden_ns: f64,
    /// Waits for a CPU by who had it, as far as that was told.
    queued: [f64; HOLDERS],
    /// By the class's place among all.
    classes: [f64; LedgerClass::ALL.len()],
    /// How far each of them may be wrong: what was sampled, and what an estimate moved.
    inexact: [f64; LedgerClass::ALL.len()],
    /// Whether its window has off-windows in which nobody reported events (`off-windows`).
    pub(crate) is_sampled: bool,
}

impl Ledger {
    pub(crate) fn get(&self, class: LedgerClass) -> f64 {
        self.classes[class as usize]
    }

    fn add(&mut self, class: LedgerClass, ns: f64) {
        self.classes[class as usize] += ns;
    }

    /// One thread's time, blocked time not yet split.
    pub(crate) fn of_one(wall_ns: f64, run_ns: f64, wait_ns: Option<f64>) -> Self {
        let mut ledger = Ledger {
            threads: 1,
            wall_ns,
            wait_unseen_ns: if wait_ns.is_none() { wall_ns } else { 0.0 },
            ..Ledger::default()
        };
        ledger.add(LedgerClass::OnCpu, run_ns);
        ledger.add(LedgerClass::CpuWait, wait_ns.unwrap_or(0.0));
        ledger
    }

    /// Splits blocked time as `seen` was.
    pub(crate) fn add_blocked(&mut self, blocked_ns: f64, seen: &[f64; LedgerClass::ALL.len()]) {
        let all: f64 = seen.iter().sum();
        if all > 0.0 {
            for (class, weight) in LedgerClass::ALL.into_iter().zip(seen) {
                self.add(class, blocked_ns * weight / all);
                self.inexact[class as usize] += blocked_ns * weight / all;
            }
        } else {
            self.add(LedgerClass::Unknown, blocked_ns);
            self.inexact[LedgerClass::Unknown as usize] += blocked_ns;
            self.unsampled_ns = blocked_ns;
        }
    }

    /// Adds what a thread's accounts say.
    pub(crate) fn add_counted(&mut self, counted: &Counted) {
        self.wall_ns += counted.wall_ns;
        self.counted_ns += counted.wall_ns;
        self.memory_ns += counted.memory_ns;
        self.behind_file_ns += counted.behind_file_ns;
        self.hidden_ns += counted.hidden_ns;
        for (own, ns) in self.classes.iter_mut().zip(counted.classes) {
            *own += ns;
        }
        for (own, ns) in self.queued.iter_mut().zip(counted.queued) {
            *own += ns;
        }
    }

    /// What threads had who are reported as one.
    pub(crate) fn of_short_lived(counted: &Counted) -> Self {
        let mut ledger = Self {
            threads: 1,
            ..Self::default()
        };
        ledger.add_counted(counted);
        ledger
    }

    /// Of the waits for a CPU, the part in which this one had it; `None` where that was not reported most.
    pub(crate) fn held(&self, holder: Holder) -> Option<f64> {
        /// Who has no accounts for a moment hides nothing.
        const MOST: f64 = 0.9;
        let told: f64 = self.queued.iter().sum();
        (told > 0.0 && told >= MOST * self.get(LedgerClass::CpuWait))
            .then(|| self.queued[holder as usize] / told)
    }

    /// Makes what is part of requests so many times as long: they stood in line behind it.
    pub(crate) fn lengthen(&mut self, times: f64) {
        for class in LedgerClass::ALL.into_iter().filter(|it| is_inside(*it)) {
            self.classes[class as usize] *= times;
            self.inexact[class as usize] *= times;
        }
        for ns in &mut self.queued {
            *ns *= times;
        }
    }

    /// What is part of requests, ns by class.
    pub(crate) fn inside(&self) -> [f64; LedgerClass::ALL.len()] {
        LedgerClass::ALL.map(|class| match is_inside(class) {
            true => self.get(class).max(0.0),
            false => 0.0,
        })
    }

    /// Takes the recorder out of the background threads that had the CPUs, whose `part` of that time it had: the
    /// waits were spent behind the holders that are left.
    pub(crate) fn leave_out_recorder(&mut self, part: f64) {
        let all: f64 = self.queued.iter().sum();
        self.queued[Holder::Background as usize] *= 1.0 - part.clamp(0.0, 1.0);
        let left: f64 = self.queued.iter().sum();
        // Behind nobody else: then nobody is known to have had the CPUs.
        if left <= 0.0 {
            return;
        }
        for ns in &mut self.queued {
            *ns *= all / left;
        }
    }

    /// Time in which this one had the CPU that was waited for, as far as that was told.
    pub(crate) fn queued_behind(&self, holder: Holder) -> f64 {
        self.queued[holder as usize]
    }

    /// Whether most of it was counted at the scheduler's events.
    pub(crate) fn is_booked(&self) -> bool {
        const MOST: f64 = 0.9;
        self.wall_ns > 0.0 && self.counted_ns >= MOST * self.wall_ns
    }

    /// Whether nothing but the scheduler's own events decides how much a class is.
    pub(crate) fn is_counted(&self, class: LedgerClass) -> bool {
        /// What is told otherwise of a thread that has just come or gone changes nothing.
        const LITTLE: f64 = 0.01;
        self.counted_ns > 0.0 && self.inexact[class as usize] <= LITTLE * self.get(class)
    }

    /// The classes with their times.
    fn items(&self) -> impl Iterator<Item = (LedgerClass, f64)> {
        LedgerClass::ALL.into_iter().zip(self.classes)
    }

    /// Moves time of `from` to `to`, at most what is there.
    pub(crate) fn shift(&mut self, from: LedgerClass, to: LedgerClass, ns: f64) {
        let moved = ns.clamp(0.0, self.get(from).max(0.0));
        self.add(from, -moved);
        self.add(to, moved);
        // As far as the one is wrong, so is the other.
        self.inexact[from as usize] += moved;
        self.inexact[to as usize] += moved;
    }

    pub(crate) fn merge(&mut self, other: &Ledger) {
        self.threads += other.threads;
        self.wall_ns += other.wall_ns;
        self.wait_unseen_ns += other.wait_unseen_ns;
        self.unsampled_ns += other.unsampled_ns;
        self.counted_ns += other.counted_ns;
        self.memory_ns += other.memory_ns;
        self.behind_file_ns += other.behind_file_ns;
        self.hidden_ns += other.hidden_ns;
        let sums = [
            (&mut self.classes[..], &other.classes[..]),
            (&mut self.inexact, &other.inexact),
            (&mut self.queued, &other.queued),
        ];
        for (own, others) in sums {
            for (own, ns) in own.iter_mut().zip(others) {
                *own += ns;
            }
        }
    }

    /// Takes the blocked time of threads that no sample met blocked to be like that of the others in
    /// this pool, where most of it was sampled. Samples and scheduling keep in step: on a full machine
    /// one thread of ten alike is always met runnable, another never.
    pub(crate) fn spread_unsampled(&mut self) {
        let is_sampled = |class: LedgerClass| quality(class) == Quality::Sampled;
        let sampled: Vec<(LedgerClass, f64)> = self
            .items()
            .filter(|(class, _)| is_sampled(*class))
            .collect();
        let known: f64 = sampled.iter().map(|(_, ns)| ns).sum();
        let unsampled = self.unsampled_ns.min(self.get(LedgerClass::Unknown));
        if unsampled <= 0.0 || known < unsampled {
            return;
        }
        for (class, ns) in sampled {
            self.shift(LedgerClass::Unknown, class, unsampled * ns / known);
        }
        self.unsampled_ns = 0.0;
    }

    /// Takes what a thread without anything to do sat in for waiting for work. A disk is waited for in
    /// earnest whoever does it.
    pub(crate) fn reclassify_idle(&mut self) {
        for class in [
            LedgerClass::Futex,
            LedgerClass::Sleep,
            LedgerClass::OtherCall,
        ] {
            self.set_aside(class, 1.0);
        }
    }

    /// Takes parts of classes for waiting for work: the thread was outside of any request.
    pub(crate) fn set_aside_each(&mut self, outside: &[(LedgerClass, f64)]) {
        let is_other = |(class, _): &&(LedgerClass, f64)| *class != LedgerClass::Input;
        for (class, part) in outside.iter().filter(is_other) {
            self.set_aside(*class, *part);
        }
    }

    /// Takes a part of a class for waiting for work, as well known as the class is.
    fn set_aside(&mut self, class: LedgerClass, part: f64) {
        let (moved, unsure) = (self.get(class) * part, self.inexact[class as usize] * part);
        self.add(class, -moved);
        self.add(LedgerClass::Input, moved);
        self.inexact[class as usize] -= unsure;
        self.inexact[LedgerClass::Input as usize] += unsure;
    }

    /// The part of a span for which one of the threads synced; 0 below `least`.
    pub(crate) fn synced(&self, span_ns: f64, least: f64) -> f64 {
        // With one leader at a time, as group commits have it, their times add up to the time in
        // which there was one.
        let synced = (self.get(LedgerClass::Sync) / span_ns.max(1.0)).min(1.0);
        if synced < least { 0.0 } else { synced }
    }

    /// Gives a part of the time that was spent waiting for a lock, that in which another thread of the pool held it and
    /// synced, to what it waited for: a crowd in futex behind one thread in fdatasync is disk, not lock.
    /// `requests_known`: without requests, who waits in futex may as well be idle, and only what the application itself
    /// calls a lock is passed on.
    pub(crate) fn wait_behind(&mut self, synced: f64, requests_known: bool) {
        let futex = requests_known.then_some(LedgerClass::Futex);
        for class in [LedgerClass::InternalLock].into_iter().chain(futex) {
            self.shift(class, LedgerClass::SyncQueue, self.get(class) * synced);
        }
    }

    /// Gives the part `synced` of the time behind the locks of files to syncs: a write through one descriptor keeps its
    /// position locked until it returns (`fdget_pos`, fs/file.c), to a file opened with O_SYNC until the disk has it, and
    /// other threads write through the same one after the other.
    pub(crate) fn write_through(&mut self, synced: f64) {
        let behind_ns = self.behind_file_ns * synced;
        self.shift(LedgerClass::Uninterruptible, LedgerClass::Sync, behind_ns);
    }

    /// Passes the time in locks on as it is known where it ended: behind another thread's fsync, or behind somebody
    /// who waited for work, which is to be idle in futex unless all of it was inside requests, or at a timer, which is to
    /// sleep. The other ends are those of a lock. Of those that went round the part `in_sync` was spent behind a sync: that
    /// of the time for which one of the threads was in it.
    pub(crate) fn pass_on(&mut self, ends: &Ends, in_sync: f64) {
        let known = ends.part(LedgerClass::Sync) + ends.part(LedgerClass::SyncQueue);
        let synced = known + ends.circle * in_sync;
        let idle = match ends.are_inside {
            true => 0.0,
            false => ends.part(LedgerClass::Input),
        };
        let waited = self.sum(&[LedgerClass::Futex, LedgerClass::InternalLock]);
        self.shift(LedgerClass::Futex, LedgerClass::Input, waited * idle);
        self.shift(LedgerClass::Futex, LedgerClass::Sleep, waited * ends.timed);
        let locked = 1.0 - idle - ends.timed;
        self.wait_behind(synced / locked.max(synced).max(f64::EPSILON), true);
        if ends.are_own() {
            self.wait_behind_quota();
        }
    }

    /// Gives the time in locks that the threads hold themselves to a quota, by the part of what they did inside of
    /// requests meanwhile for which it held them back: one of them has the lock, and what keeps that one keeps all.
    fn wait_behind_quota(&mut self) {
        const LOCKS: [LedgerClass; 2] = [LedgerClass::Futex, LedgerClass::InternalLock];
        let did = self.inside().iter().sum::<f64>() - self.sum(&LOCKS);
        let throttled = self.get(LedgerClass::Throttled);
        if throttled <= 0.0 || did <= 0.0 {
            return;
        }
        for class in LOCKS {
            let waited = self.get(class) * throttled / did;
            self.shift(class, LedgerClass::Throttled, waited);
        }
    }

    /// Time in several classes.
    pub(crate) fn sum(&self, classes: &[LedgerClass]) -> f64 {
        classes.iter().map(|class| self.get(*class)).sum()
    }

    /// Part of the threads' lives spent in a class.
    pub(crate) fn part(&self, class: LedgerClass) -> f64 {
        if self.wall_ns > 0.0 {
            self.get(class) / self.wall_ns
        } else {
            0.0
        }
    }

    /// Time that is surely spent on work: everything but waiting for input, sleeping on a timer by its
    /// own choice, futex (where idle workers of a pool wait too), and what is not known.
    pub(crate) fn busy_ns(&self) -> f64 {
        let idle = [
            LedgerClass::Input,
            LedgerClass::Sleep,
            LedgerClass::Futex,
            LedgerClass::Unknown,
        ];
        self.wall_ns - self.sum(&idle)
    }

    /// As it is reported, largest part first.
    pub(crate) fn account(&self) -> ThreadsAccount {
        let mut items: Vec<AccountItem> = self
            .items()
            .filter(|(_, ns)| *ns > 0.0)
            .map(|(class, ns)| AccountItem {
                class,
                label: class.label().to_owned(),
                ns: ns.round() as i64,
                share: ns / self.wall_ns,
                quality: quality_in(self, class),
                note: String::new(),
                parts: Vec::new(),
            })
            .collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.ns));
        ThreadsAccount {
            threads: self.threads,
            wall_ns: self.wall_ns.round() as i64,
            items,
            hidden: self.hidden(),
        }
    }

    /// What the kernel hid of their time on a CPU, where most of it was counted, and for long enough to
    /// be more than noise.
    pub(crate) fn hidden(&self) -> Option<Hidden> {
        const LEAST_NS: f64 = 1e9;
        let each_ns = self.counted_ns / f64::from(self.threads.max(1));
        (each_ns >= LEAST_NS).then(|| Hidden {
            ns: self.hidden_ns.round() as i64,
            label: "on a CPU and not counted as run time: what the kernel takes out for interrupts \
                    (CONFIG_IRQ_TIME_ACCOUNTING) and steal (CONFIG_PARAVIRT_TIME_ACCOUNTING), where it is \
                    built to"
                .to_owned(),
        })
    }
}

/// How well a class is known in a ledger: beside a quota that was not counted, what is left of the
/// run-queue delay is only as good as the estimate that was taken out of it.
pub(crate) fn quality_in(ledger: &Ledger, class: LedgerClass) -> Quality {
    match class {
        class if ledger.is_counted(class) => quality_of_counted(class, ledger.is_sampled),
        LedgerClass::CpuWait if ledger.get(LedgerClass::Throttled) > 0.0 => Quality::Estimated,
        class => quality(class),
    }
}

/// How well a class is known in accounts: in off-windows the scheduler itself counts who runs and who waits for a CPU.
pub(crate) fn quality_of_counted(class: LedgerClass, is_sampled: bool) -> Quality {
    match class {
        LedgerClass::OnCpu | LedgerClass::CpuWait => Quality::Exact,
        _ if is_sampled => Quality::Sampled,
        _ => Quality::Exact,
    }
}

/// How well a class is known without accounts.
pub(crate) fn quality(class: LedgerClass) -> Quality {
    match class {
        LedgerClass::OnCpu | LedgerClass::CpuWait => Quality::Exact,
        LedgerClass::Throttled
        | LedgerClass::SyncQueue
        | LedgerClass::Outside
        | LedgerClass::Lag
        | LedgerClass::Remote => Quality::Estimated,
        LedgerClass::Unknown => Quality::Unknown,
        _ => Quality::Sampled,
    }
}

/// Slices of a window, one second long or the bins given, for what must be worked out piecewise.
pub(crate) fn seconds(window: Window) -> Vec<Window> {
    const SECOND_NS: i64 = 1_000_000_000;
    const MOST: i64 = 10_000;
    // A damaged window may be centuries long.
    let step = SECOND_NS.max(window.len_ns() / MOST);
    let mut slices = Vec::new();
    let mut start = window.start;
    while Window::new(start, window.end).len_ns() >= step {
        slices.push(Window::new(start, start + step));
        start = start + step;
    }
    if slices.is_empty() && !window.is_empty() {
        slices.push(window);
    }
    slices
}

/// Run-queue delay of a group's threads that its quota caused, ns, of `wait_ns` in a slice of time.
///
/// The kernel counts the time for which each CPU's queue of the group was held back
/// (`throttled_ns`, kernel/sched/fair.c), and lets all of its runnable threads wait meanwhile. So at
/// least that much of the delay is the quota's, and at least the same part of it as of the time.
pub(crate) fn throttled_part(wait_ns: f64, throttled_ns: f64, slice: Window, cpus: f64) -> f64 {
    let held = throttled_ns / (slice.len_ns() as f64 * cpus.max(1.0));
    (wait_ns * held.min(1.0))
        .max(throttled_ns.min(wait_ns))
        .clamp(0.0, wait_ns.max(0.0))
}

#[cfg(test)]
mod tests;
