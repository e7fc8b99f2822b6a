//! The ledger of every thread of target and generator, where the scheduler's events may be counted.
//!
//! Every 100 ms the books are read, and each account beside the kernel's own of the same thread. Once a
//! second the other processes are read: how long each had a CPU, and kept the target from one.

mod carried;
mod departed;
mod kept;
mod others;
mod parts;
mod pauses;
mod slices;
mod thread;

use std::collections::HashMap;

use model::{Agreement, GapReason, Timestamp};
use sensors::kernel_wait::KERNEL_WAIT;
use sensors::ledger::{PROCESS_LEDGER, THREAD_LEDGER};

use crate::bpf::ledger::Ledger;
use crate::bpf::{Refusal, may_tell_of_processes};
use crate::gaps::Gaps;
use crate::intake::Intake;
use crate::processes::Processes;
use crate::registry::Registry;
use crate::sets::Sets;
use crate::spells::Turn;
use crate::stretched::Times;
use crate::wait_events::WaitEvents;
use crate::wakeups::{Around, Wakeups};

use departed::Departed;
use kept::Kept;
use others::Process;
use parts::Part;
use slices::Slices;
use thread::{APART, KEPT, Thread, account_row, row};

/// The last that a process's threads had comes up to so many readings after nobody lists it any more.
const LAST_ROUNDS: u64 = 20;

/// A thread that nobody lists any more may still wait for a CPU to leave it for the last time, and only then
/// its last is told: over a second has been seen beside compilers. Until then it is known for so many readings,
/// since what it had would be told twice otherwise, and all of it as that of a short-lived one.
const MOST_LAST_ROUNDS: u64 = 600;

/// The ledger of everything.
pub(crate) struct Books {
    programs: Ledger,
    /// What the programs were told: which process has which part.
    parts: HashMap<u32, Part>,
    threads: HashMap<u32, Thread>,
    others: HashMap<u32, Process>,
    departed: Departed,
    kept: Kept,
    sets: Sets,
    round: u64,
    /// Rows of threads, and of the other processes.
    intakes: [Intake; 2],
    agreement: Agreement,
    wakeups: Wakeups,
    events: WaitEvents,
    slices: Slices,
    /// Whether others are to be read at the next reading, and for how much what was told since the last stands:
    /// times, and counts.
    wants_rest: bool,
    times: [Times; 2],
}

impl Books {
    /// # Errors
    /// Why it cannot be had here.
    pub(crate) fn load() -> Result<Self, Refusal> {
        may_tell_of_processes()?;
        Ok(Self {
            programs: Ledger::load(std::env::consts::ARCH)?,
            parts: HashMap::new(),
            threads: HashMap::new(),
            others: HashMap::new(),
            departed: Departed::default(),
            kept: Kept::new(),
            sets: Sets::new(),
            round: 0,
            intakes: [Intake::new(&THREAD_LEDGER), Intake::new(&PROCESS_LEDGER)],
            agreement: Agreement::default(),
            wakeups: Wakeups::new(),
            events: WaitEvents::new(),
            slices: Slices::default(),
            wants_rest: false,
            times: Default::default(),
        })
    }

    /// Reads the threads of target and generator; `rest` the other processes too, which the next reading does
    /// that can tell of them. `told_ns` is how long the programs were at their hooks so far.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        rest: bool,
        (turn, told_ns): (Turn, i64),
        processes: &Processes,
        (gaps, registry): (&mut Gaps, &mut Registry),
    ) {
        self.wants_rest |= rest;
        if !turn.reads() {
            self.take_ended(now, turn, processes, (gaps, registry));
            return;
        }
        // When a spell begins nothing was told of others.
        let rest = self.wants_rest && !matches!(turn, Turn::Resume(_));
        let found = if rest {
            self.programs.find_pools()
        } else {
            Ok(())
        };
        let missed = match found.and_then(|()| self.programs.read(rest)) {
            Ok(missed) => missed,
            Err(why) => {
                let reason = GapReason::Unsupported(format!("the program that reads it: {why}"));
                gaps.say(&THREAD_LEDGER.name, "", reason);
                return;
            }
        };
        let no_room = "more threads than there is room for";
        let no_name = "places in the kernel that have no name, or that there is no room for";
        let threads = (&THREAD_LEDGER, no_room, missed.unplaced);
        let places = (&KERNEL_WAIT, no_name, missed.unnamed);
        for (table, what, lost) in [threads, places].into_iter().filter(|it| it.2 > 0) {
            gaps.say(&table.name, what, GapReason::Dropped(lost));
        }
        self.round += 1;
        self.sets.sample(&self.programs, now, turn.times());
        self.take_threads(turn, processes);
        self.take_ended(now, turn, processes, (gaps, registry));
        if rest {
            self.wants_rest = false;
            let [time, count] = &mut self.times;
            let factors = [
                time.since(now.as_ns(), told_ns),
                count.since(self.slices.all(), self.slices.told()),
            ];
            self.take_others(now, factors[0]);
            self.note_wakeups(now, factors, processes, (gaps, registry));
        }
    }

    fn take_threads(&mut self, turn: Turn, processes: &Processes) {
        let stretch = turn.times();
        let in_pause = turn.follows_pause();
        let Self {
            programs,
            threads,
            kept,
            round,
            intakes: [intake, _],
            agreement,
            slices,
            ..
        } = self;
        processes.each_thread(|tid, entity| {
            let known = threads.entry(tid);
            let known = known.or_insert_with(|| Thread::new(entity, *round));
            if known.last.entity() != entity && known.ended {
                known.last.finish(intake);
                *known = Thread::new(entity, *round);
            }
            // Who had its number before is there until its last is told.
            if known.last.entity() == entity {
                known.round = *round;
            }
        });
        for record in programs.records() {
            let Some(thread) = threads.get_mut(&record.tid) else {
                continue;
            };
            let is_own = thread.is_of(&record.account);
            if is_own || thread.round == *round {
                let until = programs.time(record.until_ns);
                let since = programs.time(record.account.known_since_ns);
                let row = row(&record, since);
                if !is_own {
                    thread.follow(&record.account, &row);
                }
                slices.add(in_pause, thread.slices_since(&row));
                if let Some(stretch) = stretch {
                    thread.mark(&row, stretch);
                    let beyond_ns = thread.beyond(KEPT);
                    kept.mark(thread.last.entity(), &record.account, beyond_ns);
                }
                thread.take(until, row, intake);
                kept.take(thread.last.entity(), (since, until), &record.account);
                // How long who runs has run is reckoned at the end of a pause.
                if !in_pause {
                    thread.compare(&record, until, agreement);
                }
            }
        }
    }

    /// Takes what those had who have ended since the last reading.
    fn take_ended(
        &mut self,
        now: Timestamp,
        turn: Turn,
        processes: &Processes,
        (gaps, registry): (&mut Gaps, &mut Registry),
    ) {
        let in_pause = turn.follows_pause();
        let Self {
            programs,
            threads,
            departed,
            kept,
            round,
            slices,
            intakes: [intake, _],
            ..
        } = self;
        let (mut unplaced, ahead_ns) = (0, programs.ahead_ns());
        let time = |ns: u64| Timestamp::from_ns(ns.cast_signed() - ahead_ns);
        let lost = programs.ended(|ended| {
            let since = time(ended.account.known_since_ns);
            let mut row = account_row(&ended.account, since);
            if let Some(thread) = threads.get_mut(&ended.tid)
                && thread.is_of(&ended.account)
            {
                // Of how the accounts agree nothing new is known.
                row[APART..].copy_from_slice(&thread.last.values()[APART..]);
                let until = time(ended.until_ns);
                slices.add(in_pause, thread.slices_since(&row));
                if in_pause {
                    thread.share_out_pause(&row);
                }
                thread.take(until, row, intake);
                kept.take(thread.last.entity(), (since, until), &ended.account);
                thread.ended = true;
                return;
            }
            slices.add(in_pause, ended.account.slices.cast_signed());
            let of = [ended.tgid, ended.parent_tgid];
            match departed.take(of, (since, &row), processes, (registry, intake)) {
                Some(threads) => kept.add(threads, (since, now), &ended.account),
                None => unplaced += 1,
            }
        });
        departed.go_on(now, processes, (registry, intake));
        threads.retain(|_, thread| {
            let rounds = if thread.ended {
                LAST_ROUNDS
            } else {
                MOST_LAST_ROUNDS
            };
            let stays = thread.round + rounds > *round;
            if !stays {
                thread.last.finish(intake);
            }
            stays
        });
        kept.let_go(registry);
        if lost + unplaced > 0 {
            let what = "threads that ended, of which there were more than there is room for";
            gaps.say(
                &THREAD_LEDGER.name,
                what,
                GapReason::Dropped(lost + unplaced),
            );
        }
    }

    fn take_others(&mut self, now: Timestamp, factor: f64) {
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
        read.for_each(|process| process.take(now, factor, intake));
    }

    /// Reads who woke whom since the last time.
    fn note_wakeups(
        &mut self,
        now: Timestamp,
        factors: [f64; 2],
        processes: &Processes,
        (gaps, registry): (&mut Gaps, &mut Registry),
    ) {
        let threads = &self.threads;
        let thread = |tid| threads.get(&tid).map(|it| it.last.entity());
        let mut around = Around {
            now,
            processes,
            registry,
            programs: &mut self.programs,
            factors,
        };
        self.wakeups.let_go(&mut around);
        self.wakeups.place(thread, &mut around);
        self.wakeups.sample(gaps, &mut around);
        self.events.sample(gaps, &mut self.wakeups, &mut around);
        self.sets
            .follow_pools(&mut self.programs, &self.wakeups, gaps);
    }

    /// Everything that rows are made of here.
    pub(crate) fn intakes(&mut self) -> impl Iterator<Item = &mut Intake> {
        let own = self.intakes.iter_mut().chain(self.sets.intakes());
        own.chain(&mut self.wakeups.intakes)
            .chain([&mut self.kept.intake, &mut self.events.intake])
    }

    /// Bytes of the kernel's memory that all of it takes now.
    pub(crate) fn kernel_bytes(&self) -> Option<u64> {
        self.programs.kernel_bytes()
    }

    /// Looks at the scheduler's clock anew.
    pub(crate) fn calibrate(&mut self) {
        // Without it the clock drifts by 0.2 us in 10 s: the old offset serves until the next time.
        let _ = self.programs.calibrate();
    }

    /// Writes how far those have come who sleep on, before rows are handed on: what is not written by then is
    /// lost in a crash.
    pub(crate) fn write_out(&mut self) {
        let [threads, _] = &mut self.intakes;
        let sleepers = self.threads.values_mut();
        sleepers.for_each(|it| it.last.finish(threads));
    }

    /// Ends all series; how the accounts agreed.
    pub(crate) fn finish(&mut self, gaps: &mut Gaps) -> Agreement {
        self.sets.finish(&self.programs);
        let [threads, others] = &mut self.intakes;
        self.threads
            .values_mut()
            .for_each(|it| it.last.finish(threads));
        self.others
            .values_mut()
            .for_each(|it| it.last.finish(others));
        self.departed.finish(threads);
        self.kept.finish();
        self.wakeups.finish();
        self.events.finish();
        let mut agreement = self.agreement.clone();
        let lost = self.programs.lost();
        if lost.drops > 0 {
            let what = "switches and wake-ups of threads that there was no memory to follow";
            gaps.say(&THREAD_LEDGER.name, what, GapReason::Dropped(lost.drops));
        }
        agreement.drops = lost.drops;
        agreement.switches_missed = lost.switches;
        agreement
    }
}
