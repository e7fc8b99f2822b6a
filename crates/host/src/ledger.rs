//! The ledger of every thread of target and generator, where the scheduler's events may be counted.
//!
//! Every 100 ms the books are read, and each account beside the kernel's own of the same thread. Once a
//! second the other processes are read: how long each had a CPU, and kept the target from one.

use std::collections::HashMap;

use model::{Agreement, EntityId, GapReason, MISSING, Role, Timestamp};
use sensors::ledger::{CLASSES, HOLDERS, PROCESS_LEDGER, THREAD_LEDGER, WIDTH};

use crate::bpf::Refusal;
use crate::bpf::ledger::{Ledger, Record};
use crate::capabilities::has_first_pids;
use crate::gaps::Gaps;
use crate::intake::{Intake, LastSeen};
use crate::processes::Processes;
use crate::registry::Registry;
use crate::wakeups::{Around, Wakeups};

/// The two accounts of a thread may differ by so much between two readings, or by a thousandth of the
/// time between.
const APART_NS: i64 = 20_000;

/// The kernel's account less ours at a reading.
#[derive(Clone, Copy)]
struct Apart {
    until: Timestamp,
    run_ns: i64,
    wait_ns: i64,
    slices: i64,
}

/// One thread of target or generator.
struct Thread {
    last: LastSeen,
    apart: Option<Apart>,
    /// Whether its slices were seen to be other than the kernel's. Once is nothing: a switch is told of
    /// just before the kernel counts it.
    suspected: bool,
    round: u64,
}

/// One process of the others.
struct Process {
    last: LastSeen,
    /// On a CPU, and what it held up: of its threads so far, at this reading.
    sums: [i64; 2],
    round: u64,
}

/// The ledger of everything.
pub(crate) struct Books {
    programs: Ledger,
    /// What the programs were told: which process has which part.
    parts: HashMap<u32, (EntityId, Role)>,
    threads: HashMap<u32, Thread>,
    others: HashMap<u32, Process>,
    round: u64,
    /// Rows of threads, and of the other processes.
    intakes: [Intake; 2],
    agreement: Agreement,
    wakeups: Wakeups,
}

impl Books {
    /// # Errors
    /// Why it cannot be had here.
    pub(crate) fn load() -> Result<Self, Refusal> {
        if !has_first_pids() {
            return Err(Refusal::new(
                "processes have other numbers in this PID namespace than in the kernel (in a container: --pid=host)",
            ));
        }
        Ok(Self {
            programs: Ledger::load(std::env::consts::ARCH)?,
            parts: HashMap::new(),
            threads: HashMap::new(),
            others: HashMap::new(),
            round: 0,
            intakes: [Intake::new(&THREAD_LEDGER), Intake::new(&PROCESS_LEDGER)],
            agreement: Agreement::default(),
            wakeups: Wakeups::new(),
        })
    }

    /// Tells the programs who has which part, where that has changed.
    pub(crate) fn follow(&mut self, processes: &Processes, gaps: &mut Gaps) {
        let mut changed = false;
        for (pid, entity, role) in processes.parts() {
            if self.parts.get(&pid) == Some(&(entity, role)) {
                continue;
            }
            if self.programs.assign(pid, Some(role)).is_err() {
                let what = "threads of more processes than there is room for";
                gaps.say(&THREAD_LEDGER.name, what, GapReason::Dropped(1));
                continue;
            }
            self.parts.insert(pid, (entity, role));
            changed = true;
        }
        let programs = &self.programs;
        self.parts.retain(|pid, (entity, _)| {
            let is_there = processes.entity(*pid) == Some(*entity);
            // Its number may come round again, and to somebody else.
            is_there || programs.assign(*pid, None).is_err()
        });
        if changed {
            self.programs.heed();
        }
        self.meet(processes);
    }

    /// Makes room for processes that have come, and lets those go that have ended.
    fn meet(&mut self, processes: &Processes) {
        let intake = &mut self.intakes[1];
        self.others.retain(|pid, process| {
            let is_there = processes.entity(*pid) == Some(process.last.entity());
            if !is_there {
                process.last.finish(intake);
            }
            is_there
        });
        for (pid, entity) in processes.all() {
            let others = self.others.entry(pid);
            others.or_insert_with(|| Process::new(entity));
        }
    }

    /// Reads the threads of target and generator; `rest` the other processes too.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        rest: bool,
        processes: &Processes,
        gaps: &mut Gaps,
    ) {
        let missed = match self.programs.read(rest) {
            Ok(missed) => missed,
            Err(why) => {
                let reason = GapReason::Unsupported(format!("the program that reads it: {why}"));
                gaps.say(&THREAD_LEDGER.name, "", reason);
                return;
            }
        };
        if missed.unplaced > 0 {
            let what = "more threads than there is room for";
            gaps.say(
                &THREAD_LEDGER.name,
                what,
                GapReason::Dropped(missed.unplaced),
            );
        }
        self.round += 1;
        self.take_threads(processes);
        if rest {
            self.take_others(now);
        }
    }

    fn take_threads(&mut self, processes: &Processes) {
        let Self {
            programs,
            threads,
            round,
            intakes: [intake, _],
            agreement,
            ..
        } = self;
        processes.each_thread(|tid, entity| {
            let known = threads
                .get_mut(&tid)
                .filter(|it| it.last.entity() == entity);
            match known {
                Some(known) => known.round = *round,
                None => {
                    let new = Thread::new(entity, *round);
                    if let Some(mut old) = threads.insert(tid, new) {
                        old.last.finish(intake);
                    }
                }
            }
        });
        for record in programs.records() {
            if let Some(thread) = threads.get_mut(&record.tid) {
                let until = programs.time(record.until_ns);
                let known = programs.time(record.account.known_since_ns);
                let mut row = row(&record, known);
                let times = &mut row[..CLASSES + HOLDERS];
                carry_over(times, &thread.last.values()[..CLASSES + HOLDERS]);
                thread.last.take(until, &row, intake);
                thread.compare(&record, until, agreement);
            }
        }
        threads.retain(|_, thread| {
            let stays = thread.round == *round;
            if !stays {
                thread.last.finish(intake);
            }
            stays
        });
    }

    fn take_others(&mut self, now: Timestamp) {
        let Self {
            programs,
            others,
            round,
            intakes: [_, intake],
            ..
        } = self;
        others.values_mut().for_each(|it| it.sums = [0; 2]);
        for other in programs.others() {
            if let Some(process) = others.get_mut(&other.tgid) {
                process.round = *round;
                process.sums[0] += other.on_cpu_ns.cast_signed();
                process.sums[1] += other.held_up_ns.cast_signed();
            }
        }
        let read = others.values_mut().filter(|it| it.round == *round);
        read.for_each(|process| process.last.take(now, &process.sums, intake));
    }

    /// Reads who woke whom since the last time; after `sample`.
    pub(crate) fn note_wakeups(
        &mut self,
        now: Timestamp,
        processes: &Processes,
        gaps: &mut Gaps,
        registry: &mut Registry,
    ) {
        let threads = &self.threads;
        let thread = |tid| threads.get(&tid).map(|it| it.last.entity());
        let mut around = Around {
            now,
            processes,
            registry,
            programs: &mut self.programs,
        };
        self.wakeups.let_go(&mut around);
        self.wakeups.place(thread, &mut around);
        self.wakeups.sample(gaps, &mut around);
    }

    /// Of every table of the ledger.
    pub(crate) fn all_intakes(&mut self) -> impl Iterator<Item = &mut Intake> {
        self.intakes.iter_mut().chain(&mut self.wakeups.intakes)
    }

    /// Looks at the scheduler's clock anew.
    pub(crate) fn calibrate(&mut self) {
        // Without it the clock drifts by 0.2 us in 10 s: the old offset serves until the next time.
        let _ = self.programs.calibrate();
    }

    /// Ends all series; how the accounts agreed.
    pub(crate) fn finish(&mut self, gaps: &mut Gaps) -> Agreement {
        let [threads, others] = &mut self.intakes;
        self.threads
            .values_mut()
            .for_each(|it| it.last.finish(threads));
        self.others
            .values_mut()
            .for_each(|it| it.last.finish(others));
        self.wakeups.finish();
        let mut agreement = self.agreement.clone();
        let lost = self.programs.lost().unwrap_or_default();
        if lost.drops > 0 {
            let what = "switches and wake-ups of threads that there was no memory to follow";
            gaps.say(&THREAD_LEDGER.name, what, GapReason::Dropped(lost.drops));
        }
        agreement.drops = lost.drops;
        agreement.switches_missed = lost.switches;
        agreement
    }
}

impl Thread {
    fn new(entity: EntityId, round: u64) -> Self {
        Self {
            last: LastSeen::new(entity, WIDTH),
            apart: None,
            suspected: false,
            round,
        }
    }

    /// Compares how both accounts have grown since they last stood still.
    fn compare(&mut self, record: &Record, until: Timestamp, agreement: &mut Agreement) {
        if record.compared == 0 {
            return;
        }
        let now = Apart {
            until,
            run_ns: record.run_apart_ns,
            wait_ns: record.wait_apart_ns,
            slices: record.slices_apart,
        };
        let Some(before) = self.apart else {
            self.apart = Some(now);
            return;
        };
        if now.slices != before.slices {
            if std::mem::replace(&mut self.suspected, true) {
                agreement.compared += 1;
                agreement.apart += 1;
                self.suspected = false;
                self.apart = Some(now);
            }
            return;
        }
        let apart_ns = (now.run_ns - before.run_ns)
            .abs()
            .max((now.wait_ns - before.wait_ns).abs());
        let most_ns = APART_NS.max(until.ns_since(before.until) / 1_000);
        agreement.compared += 1;
        agreement.apart += u64::from(apart_ns > most_ns);
        agreement.worst_ns = agreement.worst_ns.max(apart_ns);
        self.suspected = false;
        self.apart = Some(now);
    }
}

impl Process {
    fn new(entity: EntityId) -> Self {
        Self {
            last: LastSeen::new(entity, PROCESS_LEDGER.columns.len()),
            sums: [0; 2],
            round: 0,
        }
    }
}

/// A row of the table of threads.
fn row(record: &Record, known_since: Timestamp) -> [i64; WIDTH] {
    let account = &record.account;
    let mut row = [0; WIDTH];
    let (times, rest) = row.split_at_mut(CLASSES + HOLDERS);
    let counted = account.ns.iter().chain(&account.queued_ns);
    for (to, ns) in times.iter_mut().zip(counted) {
        *to = ns.cast_signed();
    }
    rest.copy_from_slice(&[
        account.held_up_ns.cast_signed(),
        account.hidden_ns,
        account.slices.cast_signed(),
        known_since.as_ns(),
        record.run_apart_ns,
        record.wait_apart_ns,
    ]);
    row
}

/// Has no time run back, nor the sum of all run ahead. The present is taken as it looks at a reading; of a
/// switch that was not told of the programs learn later, and then some of it was another class's. What
/// was written there too much stays written until the class has caught up, and the others wait for it.
fn carry_over(times: &mut [i64], written: &[i64]) {
    if written.contains(&MISSING) {
        return;
    }
    let both = times.iter().zip(written);
    let mut over: i64 = both.map(|(ns, written)| (written - ns).max(0)).sum();
    // Time on a CPU stands first and is known best: waits for one wait rather.
    for (ns, written) in times.iter_mut().zip(written).rev() {
        let held = over.min(*ns - written);
        *ns -= held;
        over -= held.max(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_out_to_be_of_another_class_is_carried_over_and_the_sum_stays() {
        let mut written = [0, 0, 0];
        for (times, expected) in [
            ([10, 0, 0], [10, 0, 0]),
            // 42 waited for nobody, as it looks.
            ([10, 0, 42], [10, 0, 42]),
            // It was another; 8 ran since.
            ([18, 40, 2], [18, 0, 42]),
            ([28, 41, 2], [28, 1, 42]),
            // Nobody catches up.
            ([28, 41, 32], [28, 31, 42]),
            ([28, 41, 45], [28, 41, 45]),
        ] {
            let mut row = times;
            carry_over(&mut row, &written);
            assert_eq!(
                row.iter().sum::<i64>(),
                times.iter().sum::<i64>(),
                "{times:?}"
            );
            let shrunk = row.iter().zip(&written).any(|(now, before)| now < before);
            assert!(!shrunk, "{row:?} after {written:?}");
            assert_eq!(row, expected);
            written = row;
        }
        let mut first = [5, 0, 1];
        carry_over(&mut first, &[MISSING; 3]);
        assert_eq!(first, [5, 0, 1], "before the first there was none");
    }
}
