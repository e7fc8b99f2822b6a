//! Thread-time accounting: where every nanosecond of a thread went, exactly.
//!
//! The scheduler itself reports every switch and wake-up (`bpf/thread_time.bpf.c`), so that a thread is always
//! in one of these columns: their growth over a window is the window's length. Reasons by precedence: a
//! quota, memory, a disk, something else of the kernel's, PostgreSQL's own word, the system call. The
//! sampler fills the tables where the program loads.

use std::time::Duration;

use model::{Column, DecidedBy, EntityKind, LedgerClass, Quality, Table, ThreadTimeClass, Unit};

use crate::THREAD_TIME_COVERAGE;

const SWITCH: &str = "sched_switch by BPF";
const QUEUE: &str = "sched_wakeup, sched_migrate_task, sched_switch by BPF";

const fn time(name: &'static str, help: &'static str, source: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help, source).quality(Quality::Sampled)
}

/// Where the program reads what decides.
const fn source(decided_by: DecidedBy) -> &'static str {
    match decided_by {
        DecidedBy::Quota => "task_struct throttled by BPF",
        DecidedBy::Memstall => "task_struct in_memstall by BPF",
        DecidedBy::Iowait => "task_struct in_iowait by BPF",
        DecidedBy::WaitEvent => {
            "the wait event in the server's memory (PostgreSQL: wait_event_info) at sched_switch by BPF"
        }
        DecidedBy::Switch | DecidedBy::Uninterruptible | DecidedBy::Call => SWITCH,
    }
}

/// Who can have had a CPU that was waited for: a process by its role, or none. In C: `enum thread_time_role`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// A process that is neither target nor generator.
    Background,
    /// The target.
    Target,
    /// The generator.
    Generator,
    /// Nobody: the CPU was idle.
    Idle,
}

impl Holder {
    /// Every holder, in the order of their columns.
    pub const ALL: [Holder; 4] = [
        Holder::Background,
        Holder::Target,
        Holder::Generator,
        Holder::Idle,
    ];

    /// The column of waits for CPUs that it had.
    pub fn column_name(self) -> &'static str {
        &THREAD_TIME.columns[CLASSES + self as usize].name
    }

    const fn column(self) -> Column {
        let (name, help) = match self {
            Holder::Background => (
                "queued_rest_ns",
                "Waiting for a CPU that processes other than target and generator held.",
            ),
            Holder::Target => (
                "queued_target_ns",
                "Waiting for a CPU that a thread of the target held.",
            ),
            Holder::Generator => (
                "queued_generator_ns",
                "Waiting for a CPU that the generator held.",
            ),
            Holder::Idle => (
                "queued_nobody_ns",
                "Waiting for a CPU that was idle: the thread was being woken.",
            ),
        };
        time(name, help, QUEUE)
    }
}

/// Columns behind the times of a thread.
const OTHERS: [Column; WIDTH - CLASSES - HOLDERS] = [
    time(
        "delay_caused_ns",
        "Delay caused: how long the target's threads waited for CPUs that this thread held, \
         summed over those threads.",
        QUEUE,
    ),
    Column::gauge(
        "hidden_ns",
        Unit::Nanoseconds,
        "Time on a CPU that the scheduler did not count as its run time: what this kernel \
         subtracts for interrupts (CONFIG_IRQ_TIME_ACCOUNTING) and steal \
         (CONFIG_PARAVIRT_TIME_ACCOUNTING).",
        "on_cpu_ns less task_struct se.sum_exec_runtime",
    ),
    Column::counter(
        "slices",
        Unit::Count,
        "Timeslices: times it was switched in.",
        SWITCH,
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "known_since_ns",
        Unit::Nanoseconds,
        "Since when it is counted, on CLOCK_BOOTTIME: its first event or, for a thread that \
         slept on, the first reading. Missing for (short-lived).",
        SWITCH,
    ),
    Column::gauge(
        "run_diff_ns",
        Unit::Nanoseconds,
        "Cross-check: the scheduler's own run time less on_cpu_ns plus hidden_ns; constant as \
         long as the two agree.",
        "task_struct se.sum_exec_runtime",
    ),
    Column::gauge(
        "wait_diff_ns",
        Unit::Nanoseconds,
        "Cross-check: the scheduler's own run-queue delay less throttled_ns and queued_*_ns; \
         constant as long as the two agree.",
        "task_struct sched_info.run_delay",
    ),
];

/// The processes of the rest are read this often.
pub const BACKGROUND_PERIOD: Duration = Duration::from_secs(1);
/// Classes that are counted; their columns come first, before the waits for a CPU.
pub const CLASSES: usize = ThreadTimeClass::ALL.len();
/// Who can have had a CPU that is waited for.
pub const HOLDERS: usize = Holder::ALL.len();
/// All columns.
pub const WIDTH: usize = CLASSES + HOLDERS + 6;

/// The first are numbered as the program numbers them: `enum thread_time_class`, then `enum thread_time_role`.
static COLUMNS: [Column; WIDTH] = {
    let mut columns = [Column::BLANK; WIDTH];
    let mut place = 0;
    while place < CLASSES {
        let class = ThreadTimeClass::ALL[place];
        let source = source(class.decided_by());
        let own = time(class.column(), class.help(), source);
        Column::put(&mut columns, place, [own]);
        place += 1;
    }
    while place < CLASSES + HOLDERS {
        let own = Holder::ALL[place - CLASSES].column();
        Column::put(&mut columns, place, [own]);
        place += 1;
    }
    Column::put(&mut columns, place, OTHERS);
    columns
};

/// The threads of target and generator.
pub static THREAD_TIME: Table = Table::new(
    "thread_time",
    EntityKind::Thread,
    "Thread-time accounting at scheduler events: where every nanosecond of each thread of target \
     and generator went. Threads that exited before they were listed are one thread of their process, \
     (short-lived), with their times added up.",
    &COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

static PROCESS_COLUMNS: &[Column] = &[
    time("on_cpu_ns", "On a CPU, all its threads.", SWITCH),
    time(
        "delay_caused_ns",
        "Delay caused: how long the target's threads waited for CPUs that this process held, \
         summed over those threads.",
        QUEUE,
    ),
];

/// The processes of the rest.
pub static PROCESS_TIME: Table = Table::new(
    "process_time",
    EntityKind::Process,
    "How long each process other than target and generator held a CPU, and the delay that it \
     caused the target.",
    PROCESS_COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

/// The ledger class of a column of `thread_time`; `None` for those that are no time of the thread's.
pub fn class(column: &str) -> Option<LedgerClass> {
    let place = THREAD_TIME.position(column)?;
    match ThreadTimeClass::ALL.get(place) {
        Some(class) => Some(class.ledger()),
        None => (place < CLASSES + HOLDERS).then_some(LedgerClass::CpuWait),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_events_have_the_last_classes_and_the_columns_that_say_so() {
        let is_event = |class: ThreadTimeClass| class.decided_by() == DecidedBy::WaitEvent;
        assert!(ThreadTimeClass::ALL.is_sorted_by_key(|class| is_event(*class)));
        for class in ThreadTimeClass::ALL {
            let says_so = class.column().starts_with("event_");
            assert_eq!(says_so, is_event(class), "{class:?}");
        }
    }

    #[test]
    fn no_two_columns_have_one_name() {
        for (place, column) in COLUMNS.iter().enumerate() {
            assert_eq!(THREAD_TIME.position(&column.name), Some(place));
        }
    }
}
