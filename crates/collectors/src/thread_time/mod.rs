//! Thread-time accounting: where target and generator threads spend their time, counted at the scheduler's
//! events if these may be traced.
//!
//! Accounts are read at ticks and at the end of an on-window, each with the kernel's own counters of the same
//! thread. Background processes are read once a second: how long each was on CPU, and the delay it caused the
//! target.

mod account_sums;
mod cpu_bins;
mod monotonic;
mod on_window;
mod psi_groups;
mod roles;
mod short_lived;
mod statements;
mod thread;
mod untracked;
mod wait_events;
mod wait_stacks;
mod wakeups;

use std::collections::HashMap;

use model::{CrossCheck, EntityId, GapReason, Role, Timestamp, sentence};
use sensors::kernel_wait::KERNEL_WAIT;
use sensors::thread_time::{PROCESS_TIME, THREAD_TIME};

use crate::output::{Output, TableId, Tables};
use crate::processes::Processes;
use crate::thread_time::psi_groups::PsiGroups;
use crate::thread_time::statements::Statements;
use crate::thread_time::wait_events::WaitEvents;
use crate::thread_time::wakeups::{Around, Wakeups};
use kernel::bpf::Refusal;
use kernel::bpf::flow::Flow;
use kernel::bpf::thread_time::psi_groups::Membership;
use kernel::bpf::thread_time::{Question, ThreadTime};
use kernel::remote_memory::{EventPlace, StatementPlace};

use account_sums::{KernelWaits, ServingSums};
use cpu_bins::CpuRows;
use short_lived::{LAST_ROUNDS, ShortLived};
use thread::{DIFFERENCE, Thread, account_row, row};
use untracked::Process;

/// A thread that is gone from the list may still wait for a CPU for its last switch, and only then its
/// account is reported: over a second has been seen beside compilers. Until then, up to this number of
/// readings, the thread stays known; otherwise its whole account would be counted a second time, as a
/// short-lived thread's.
const MOST_LAST_ROUNDS: u64 = 600;

/// Settings of a process in the programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Assignment {
    entity: EntityId,
    role: Role,
    /// Where its wait event is in its memory.
    place: Option<EventPlace>,
    /// Where its entry with its statement is.
    statement: Option<StatementPlace>,
    membership: Membership,
}

/// Collects all accounts and what follows from the same events.
pub(crate) struct ThreadTimeCollector {
    programs: ThreadTime,
    /// Roles that were set in the programs.
    assignments: HashMap<u32, Assignment>,
    threads: HashMap<u32, Thread>,
    background: HashMap<u32, Process>,
    /// Whether the last reading was of background processes and wakers too.
    is_whole: bool,
    short_lived: ShortLived,
    kernel_waits: KernelWaits,
    serving: ServingSums,
    psi_groups: PsiGroups,
    cpu_rows: CpuRows,
    round: u64,
    /// Where rows of threads go, and those of background processes.
    thread_table: TableId,
    process_table: TableId,
    agreement: CrossCheck,
    wakeups: Wakeups,
    events: WaitEvents,
    statements: Statements,
    /// Timeslices of target and generator threads so far.
    slices: u64,
}

impl ThreadTimeCollector {
    /// `stacks` says whether those of waits are taken, and whether of many; the calls of flows are counted in the same
    /// on-windows.
    ///
    /// # Errors
    /// Why the programs are not available here.
    pub(crate) fn load(
        out: &mut Output,
        stacks: &[Question],
        flow: Option<&Flow>,
    ) -> Result<Self, Refusal> {
        let thread_table = out.open(&THREAD_TIME);
        let mut asked = Question::ALL.to_vec();
        asked.retain(|question| *question != Question::WaitStack);
        asked.extend(stacks);
        Ok(Self {
            programs: ThreadTime::load_beside(std::env::consts::ARCH, &asked, flow)?,
            assignments: HashMap::new(),
            threads: HashMap::new(),
            background: HashMap::new(),
            is_whole: false,
            short_lived: ShortLived::new(thread_table),
            kernel_waits: KernelWaits::new(out),
            serving: ServingSums::new(out),
            psi_groups: PsiGroups::new(out),
            cpu_rows: CpuRows::new(out),
            round: 0,
            thread_table,
            process_table: out.open(&PROCESS_TIME),
            agreement: CrossCheck::default(),
            wakeups: Wakeups::new(out),
            events: WaitEvents::new(out),
            statements: Statements::new(out),
            slices: 0,
        })
    }

    /// Reads target and generator threads, and with `background` the background processes too.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        background: bool,
        processes: &Processes,
        out: &mut Output,
    ) {
        let found = if background {
            self.programs.find_pools()
        } else {
            Ok(())
        };
        let missed = match found.and_then(|()| self.programs.read(background)) {
            Ok(missed) => missed,
            Err(why) => {
                let reason =
                    GapReason::Unsupported(sentence!("the program that reads it: {}", &why));
                out.gaps.report(&THREAD_TIME.name, "", reason);
                return;
            }
        };
        let no_room = "more threads than there is room for";
        let no_name = "places in the kernel that have no name, or that there is no room for";
        let threads = (&THREAD_TIME, no_room, missed.unplaced);
        let places = (&KERNEL_WAIT, no_name, missed.unnamed);
        for (table, what, lost) in [threads, places].into_iter().filter(|it| it.2 > 0) {
            out.gaps.report(&table.name, what, GapReason::Dropped(lost));
        }
        self.round += 1;
        self.is_whole = background;
        self.psi_groups.sample(&self.programs, now, out);
        self.take_threads(processes, &mut out.tables);
        self.take_exited(now, processes, out);
        if background {
            self.take_background(now, &mut out.tables);
            self.note_wakeups(now, processes, out);
        }
    }

    /// Takes the bins of the CPUs' time that have ended: each 100 ms on any budget, for it costs no system call and their
    /// ring is short.
    pub(crate) fn take_bins(&mut self, out: &mut Output) {
        self.cpu_rows.sample(&mut self.programs, out);
    }

    fn take_threads(&mut self, processes: &Processes, tables: &mut Tables) {
        let Self {
            programs,
            threads,
            kernel_waits,
            serving,
            round,
            thread_table,
            agreement,
            slices,
            ..
        } = self;
        processes.each_thread(|_, tid, entity| {
            let known = threads.entry(tid);
            let known = known.or_insert_with(|| Thread::new(entity, *round));
            if known.last.entity() != entity && known.exited {
                known.last.finish(&mut tables[*thread_table]);
                kernel_waits.forget(known.last.entity(), tables);
                serving.forget(known.last.entity(), tables);
                *known = Thread::new(entity, *round);
            }
            // The previous thread with this tid stays known until its last account has arrived.
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
                *slices += thread.slices_since(&row);
                thread.take(until, row, &mut tables[*thread_table]);
                let entity = thread.last.entity();
                kernel_waits.take(entity, (since, until), &record.account, tables);
                serving.take(entity, (since, until), &record.account, tables);
                thread.compare(&record, until, agreement);
            }
        }
    }

    /// Takes the accounts of threads that have exited since the last reading.
    pub(crate) fn take_exited(&mut self, now: Timestamp, processes: &Processes, out: &mut Output) {
        let Self {
            programs,
            threads,
            short_lived,
            kernel_waits,
            serving,
            slices,
            thread_table,
            ..
        } = self;
        let (mut unplaced, ahead_ns) = (0, programs.ahead_ns());
        let time = |ns: u64| Timestamp::from_ns(ns.cast_signed() - ahead_ns);
        let lost = programs.exited(|exited| {
            let since = time(exited.account.known_since_ns);
            let mut row = account_row(&exited.account, since);
            if let Some(thread) = threads.get_mut(&exited.tid)
                && thread.is_of(&exited.account)
            {
                // An exited thread has no new cross-check with the kernel's counters.
                row[DIFFERENCE..].copy_from_slice(&thread.last.values()[DIFFERENCE..]);
                let until = time(exited.until_ns);
                *slices += thread.slices_since(&row);
                thread.take(until, row, &mut out.tables[*thread_table]);
                let (entity, tables) = (thread.last.entity(), &mut out.tables);
                kernel_waits.take(entity, (since, until), &exited.account, tables);
                serving.take(entity, (since, until), &exited.account, tables);
                thread.exited = true;
                return;
            }
            *slices += exited.account.slices;
            let of = [exited.tgid, exited.parent_tgid];
            match short_lived.take(of, since, &row, processes, out) {
                Some(threads) => {
                    kernel_waits.add(threads, (since, now), &exited.account, &mut out.tables);
                    serving.add(threads, (since, now), &exited.account, &mut out.tables);
                }
                None => unplaced += 1,
            }
        });
        short_lived.write_out(now, processes, out, |threads, tables| {
            kernel_waits.forget(threads, tables);
            serving.forget(threads, tables);
        });
        self.forget_exited(&mut out.tables);
        if lost + unplaced > 0 {
            let what = "threads that exited while the table of exited threads was full";
            let reason = GapReason::Dropped(lost + unplaced);
            out.gaps.report(&THREAD_TIME.name, what, reason);
        }
    }

    /// Forgets threads whose last account has arrived, or should have long ago.
    fn forget_exited(&mut self, tables: &mut Tables) {
        let Self {
            kernel_waits,
            serving,
            round,
            thread_table,
            ..
        } = self;
        self.threads.retain(|_, thread| {
            let rounds = if thread.exited {
                LAST_ROUNDS
            } else {
                MOST_LAST_ROUNDS
            };
            let stays = thread.round + rounds > *round;
            if !stays {
                thread.last.finish(&mut tables[*thread_table]);
                kernel_waits.forget(thread.last.entity(), tables);
                serving.forget(thread.last.entity(), tables);
            }
            stays
        });
    }

    fn take_background(&mut self, now: Timestamp, tables: &mut Tables) {
        let Self {
            programs,
            background,
            round,
            process_table,
            ..
        } = self;
        let buffer = &mut tables[*process_table];
        background.values_mut().for_each(|it| it.sums = [0; 2]);
        for thread in programs.background() {
            if let Some(process) = background.get_mut(&thread.tgid) {
                process.round = *round;
                process.sums[0] += thread.on_cpu_ns.cast_signed();
                process.sums[1] += thread.delay_caused_ns.cast_signed();
            }
        }
        let read = background.values_mut().filter(|it| it.round == *round);
        read.for_each(|process| process.take(now, buffer));
    }

    /// Reads the wakers since the last time.
    fn note_wakeups(&mut self, now: Timestamp, processes: &Processes, out: &mut Output) {
        let threads = &self.threads;
        let thread = |tid| threads.get(&tid).map(|it| it.last.entity());
        let mut around = Around {
            now,
            processes,
            out,
            programs: &mut self.programs,
        };
        self.wakeups.evict(&mut around);
        self.wakeups.place(thread, &mut around);
        self.wakeups.sample(&mut around);
        self.events.sample(&mut self.wakeups, &mut around);
        self.statements.sample(&mut self.wakeups, &mut around);
    }

    /// The programs, beside which others are loaded.
    pub(crate) fn programs(&self) -> &ThreadTime {
        &self.programs
    }

    /// Says whether programs that see reads are attached: how many times they have been, 0 for not.
    pub(crate) fn see_reads(&mut self, times: u32) {
        self.programs.see_reads(times);
    }

    /// Kernel memory in use, bytes.
    pub(crate) fn kernel_bytes(&self) -> Option<u64> {
        self.programs.kernel_bytes()
    }

    /// Measures the scheduler's clock again.
    pub(crate) fn calibrate(&mut self) {
        // If this fails, the old offset serves until the next time: the clock drifts by 0.2 us in 10 s.
        let _ = self.programs.calibrate();
    }

    /// Writes rows for threads that sleep on, before rows are passed to the writer: rows not written by then
    /// are lost in a crash.
    pub(crate) fn write_out(&mut self, out: &mut Output) {
        let buffer = &mut out.tables[self.thread_table];
        let sleepers = self.threads.values_mut();
        sleepers.for_each(|it| it.last.finish(buffer));
    }

    /// Ends all series; returns how well the accounts agreed with the kernel's.
    pub(crate) fn finish(&mut self, out: &mut Output) -> CrossCheck {
        self.finish_wait_stacks(out);
        self.psi_groups.finish(&self.programs, out);
        self.write_out(out);
        let buffer = &mut out.tables[self.process_table];
        let background = self.background.values_mut();
        background.for_each(|it| it.last.finish(buffer));
        self.short_lived.finish(out);
        self.kernel_waits.finish(out);
        self.serving.finish(out);
        self.wakeups.finish(out);
        self.events.finish(out);
        self.statements.finish(&self.programs, out);
        self.cpu_rows.finish(out);
        let mut agreement = self.agreement.clone();
        let lost = self.programs.lost();
        if lost.drops > 0 {
            let what = "switches and wake-ups of threads that there was no memory to follow";
            let reason = GapReason::Dropped(lost.drops);
            out.gaps.report(&THREAD_TIME.name, what, reason);
        }
        agreement.drops = lost.drops;
        agreement.switches_missed = lost.switches;
        agreement
    }
}
