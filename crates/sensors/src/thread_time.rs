//! Thread-time accounting: where every nanosecond of a thread went, exactly.
//!
//! The scheduler itself reports every switch and wake-up (`bpf/thread_time.bpf.c`), so that a thread is always
//! in one of these columns: their growth over a window is the window's length. Reasons by precedence: a
//! quota, memory, a disk, something else of the kernel's, PostgreSQL's own word, the system call. The
//! sampler fills the tables where the program loads.

use std::time::Duration;

use model::{Column, EntityKind, LedgerClass, Quality, Table, Unit};

use crate::THREAD_TIME_COVERAGE;

const SWITCH: &str = "sched_switch by BPF";
const WORD: &str = "PostgreSQL's wait_event_info at sched_switch by BPF";
const QUEUE: &str = "sched_wakeup, sched_migrate_task, sched_switch by BPF";

macro_rules! time {
    ($name:literal, $help:literal, $source:expr) => {
        Column::counter($name, Unit::Nanoseconds, $help, $source).quality(Quality::Sampled)
    };
}

/// The first are numbered as the program numbers them: `enum thread_time_class`, then `enum thread_time_role`.
static COLUMNS: &[Column] = &[
    time!("on_cpu_ns", "On a CPU.", SWITCH),
    time!(
        "throttled_ns",
        "Throttled by a CPU quota, until on a CPU again (kernels before 6.18 do not show it: \
         there it is in the waits for a CPU).",
        "task_struct throttled by BPF"
    ),
    time!(
        "memory_other_ns",
        "Waiting for memory (direct reclaim, as a rule), outside the calls below.",
        "task_struct in_memstall by BPF"
    ),
    time!(
        "memory_sync_ns",
        "Waiting for memory, in fsync and its family.",
        "task_struct in_memstall by BPF"
    ),
    time!(
        "memory_read_write_ns",
        "Waiting for memory, in read, write and their families: refaults of evicted pages.",
        "task_struct in_memstall by BPF"
    ),
    time!(
        "memory_fault_ns",
        "Waiting for memory, in a page fault: refaults of evicted or swapped pages.",
        "task_struct in_memstall by BPF"
    ),
    time!(
        "io_other_ns",
        "Waiting for a disk, outside the calls below.",
        "task_struct in_iowait by BPF"
    ),
    time!(
        "io_sync_ns",
        "Waiting for a disk in fsync and its family, or in a synchronous write (O_DSYNC).",
        "task_struct in_iowait by BPF"
    ),
    time!(
        "io_read_write_ns",
        "Waiting for a disk in read, write and their families, those of io_uring and libaio \
         among them.",
        "task_struct in_iowait by BPF"
    ),
    time!(
        "io_fault_ns",
        "Waiting for a disk in a page fault.",
        "task_struct in_iowait by BPF"
    ),
    time!(
        "kernel_other_ns",
        "Uninterruptible for something else in the kernel, a lock as a rule, outside the calls \
         below.",
        SWITCH
    ),
    time!(
        "kernel_sync_ns",
        "Uninterruptible in fsync and its family and not for a disk: behind the file system's journal, as a rule.",
        SWITCH
    ),
    time!(
        "kernel_read_write_ns",
        "Uninterruptible in read, write and their families and not for a disk: behind the lock \
         of a file, as a rule.",
        SWITCH
    ),
    time!(
        "kernel_fault_ns",
        "Uninterruptible in a page fault and not for a disk: behind the lock of the process's memory, as a rule.",
        SWITCH
    ),
    time!("futex_ns", "Asleep in futex.", SWITCH),
    time!(
        "output_ns",
        "Asleep in write, send and their families: the other end does not read.",
        SWITCH
    ),
    time!(
        "input_ns",
        "Asleep waiting for input: epoll, poll, select, receive, accept, read of a pipe or socket.",
        SWITCH
    ),
    time!("sleep_ns", "In a timed sleep.", SWITCH),
    time!("other_call_ns", "Asleep in another system call.", SWITCH),
    time!(
        "unknown_ns",
        "Off-CPU, reason not known: stopped, traced, or a kernel thread.",
        SWITCH
    ),
    time!(
        "postgres_lwlock_ns",
        "Asleep, wait event type LWLock: for an internal lock of the server, except the next.",
        WORD
    ),
    time!(
        "postgres_wal_lock_ns",
        "Asleep, wait event LWLock:WALWrite: waiting for another backend's WAL flush.",
        WORD
    ),
    time!(
        "postgres_lock_ns",
        "Asleep, wait event type Lock: for a row, table or transaction that another session has \
         locked.",
        WORD
    ),
    time!(
        "postgres_buffer_pin_ns",
        "Asleep, wait event type BufferPin: until others have unpinned a buffer.",
        WORD
    ),
    time!(
        "postgres_activity_ns",
        "Asleep, wait event type Activity: a server process that has no work.",
        WORD
    ),
    time!(
        "postgres_client_ns",
        "Asleep, wait event type Client: for the client's next message (Client:ClientWrite is in \
         output_ns).",
        WORD
    ),
    time!(
        "postgres_extension_ns",
        "Asleep, wait event type Extension.",
        WORD
    ),
    time!(
        "postgres_ipc_ns",
        "Asleep, wait event type IPC: for another server process.",
        WORD
    ),
    time!(
        "postgres_timeout_ns",
        "Asleep, wait event type Timeout: until a time.",
        WORD
    ),
    time!(
        "postgres_io_ns",
        "Asleep and, by the kernel, not for a disk, wait event type IO: for a server process \
         that does I/O for others, as a rule.",
        WORD
    ),
    time!(
        "queued_rest_ns",
        "Waiting for a CPU that processes other than target and generator held.",
        QUEUE
    ),
    time!(
        "queued_target_ns",
        "Waiting for a CPU that a thread of the target held.",
        QUEUE
    ),
    time!(
        "queued_generator_ns",
        "Waiting for a CPU that the generator held.",
        QUEUE
    ),
    time!(
        "queued_nobody_ns",
        "Waiting for a CPU that was idle: the thread was being woken.",
        QUEUE
    ),
    time!(
        "delay_caused_ns",
        "Delay caused: how long the target's threads waited for CPUs that this thread held, \
         summed over those threads.",
        QUEUE
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
/// Classes that are counted, before the waits for a CPU.
pub const CLASSES: usize = 30;
/// The last of them: those that PostgreSQL's own word decides.
pub const WORDS: usize = 10;
/// Who can have had a CPU that is waited for.
pub const HOLDERS: usize = 4;
/// All columns.
pub const WIDTH: usize = 40;

/// The threads of target and generator.
pub static THREAD_TIME: Table = Table::new(
    "thread_time",
    EntityKind::Thread,
    "Thread-time accounting at scheduler events: where every nanosecond of each thread of target \
     and generator went. Threads that exited before they were listed are one thread of their process, \
     (short-lived), with their times added up.",
    COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

static PROCESS_COLUMNS: &[Column] = &[
    time!("on_cpu_ns", "On a CPU, all its threads.", SWITCH),
    time!(
        "delay_caused_ns",
        "Delay caused: how long the target's threads waited for CPUs that this process held, \
         summed over those threads.",
        QUEUE
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

/// The class of time that a column of `thread_time` counts; `None` for those that are no time of the
/// thread's.
pub fn class(column: &str) -> Option<LedgerClass> {
    Some(match column {
        "on_cpu_ns" => LedgerClass::OnCpu,
        "throttled_ns" => LedgerClass::Throttled,
        "memory_other_ns" => LedgerClass::Reclaim,
        "memory_sync_ns" | "io_sync_ns" | "kernel_sync_ns" => LedgerClass::Sync,
        "memory_read_write_ns" | "io_read_write_ns" | "postgres_io_ns" => LedgerClass::ReadWrite,
        "postgres_lwlock_ns" | "postgres_buffer_pin_ns" => LedgerClass::InternalLock,
        "postgres_wal_lock_ns" => LedgerClass::SyncQueue,
        "postgres_lock_ns" => LedgerClass::DatabaseLock,
        "memory_fault_ns" | "io_fault_ns" => LedgerClass::PageFault,
        "io_other_ns" | "kernel_other_ns" | "kernel_read_write_ns" | "kernel_fault_ns" => {
            LedgerClass::Uninterruptible
        }
        "futex_ns" => LedgerClass::Futex,
        "output_ns" => LedgerClass::Output,
        "input_ns" | "postgres_activity_ns" | "postgres_client_ns" => LedgerClass::Input,
        "sleep_ns" | "postgres_timeout_ns" => LedgerClass::Sleep,
        "other_call_ns" | "postgres_extension_ns" | "postgres_ipc_ns" => LedgerClass::OtherCall,
        "unknown_ns" => LedgerClass::Unknown,
        _ if column.starts_with("queued_") => LedgerClass::CpuWait,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_of_a_thread_has_a_class_and_nothing_else_has() {
        assert_eq!(THREAD_TIME.columns.len(), WIDTH);
        for (place, column) in THREAD_TIME.columns.iter().enumerate() {
            let is_time = place < CLASSES + HOLDERS;
            assert_eq!(class(&column.name).is_some(), is_time, "{}", column.name);
            let is_word = (CLASSES - WORDS..CLASSES).contains(&place);
            assert_eq!(column.name.starts_with("postgres_"), is_word);
        }
    }
}
