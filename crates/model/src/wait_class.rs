//! Wait classes: all that the time of a thread, or of a response, can be in. Each is declared here, once.
//!
//! Two lists, one line per class. `LedgerClass` is what diagnosis and the page tell apart; `ThreadTimeClass` is
//! what the kernel programs count, and each of its lines names the ledger class that its time is part of. What
//! follows from the lines: the columns of the tables `thread_time` and `wakeup`, the enums of
//! `bpf/wait_classes.gen.h`, the page's bars and colours (`ui/src/data/waitClasses.gen.ts`,
//! `ui/src/theme/waitClasses.gen.css`). CONTRIBUTING.md has the steps to add one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ClassState::*;
use DecidedBy::*;
use LedgerClass as Is;

/// An enum of classes with one row of facts for each.
macro_rules! classes {
    ($(#[$about:meta])* $name:ident, $row:ty { $($class:ident $help:tt => $facts:expr,)+ }) => {
        $(#[$about])*
        pub enum $name { $(#[doc = $help] $class,)+ }

        impl $name {
            /// Every class, in declaration order.
            pub const ALL: [$name; [$($help),+].len()] = [$($name::$class),+];

            /// What it is.
            pub const fn help(self) -> &'static str {
                match self { $($name::$class => $help,)+ }
            }

            const fn facts(self) -> $row {
                match self { $($name::$class => $facts,)+ }
            }
        }
    };
}

/// What a thread does in a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassState {
    /// It has a CPU.
    Running,
    /// It could run, and other threads have the CPUs.
    Waiting,
    /// It could run, and a quota forbids it.
    Withheld,
    /// It waits for a disk, or may do so.
    Disk,
    /// It waits for something else that it needs to go on.
    Blocked,
    /// It waits for work, or for a time.
    Idle,
    /// It has no CPU, and the reason is not known.
    Unknown,
    /// The class is no time of a thread's but a part of responses.
    Outside,
}

/// How the page draws a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Its place in a bar: smaller ones come first.
    pub rank: u16,
    /// Its name in lists.
    pub label: &'static str,
    /// Its colours.
    pub paint: Paint,
}

/// Colours of a class: a fill, and a pattern over it, so that neighbours differ in grey too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint {
    /// The pattern (`Mark` in `ui/src/charts/parts.ts`).
    pub mark: &'static str,
    /// The custom property with the pattern's colour.
    pub ink: &'static str,
    /// The fill on light and on dark ground.
    pub fill: [&'static str; 2],
}

/// A line of the list of ledger classes.
#[derive(Clone, Copy)]
struct Facts {
    word: &'static str,
    state: ClassState,
    label: &'static str,
    look: Option<Look>,
    waker: Option<[&'static str; 2]>,
}

const fn class(word: &'static str, state: ClassState, label: &'static str) -> Facts {
    Facts {
        word,
        state,
        label,
        look: None,
        waker: None,
    }
}

impl Facts {
    const fn drawn(mut self, rank: u16, label: &'static str, paint: Paint) -> Self {
        self.look = Some(Look { rank, label, paint });
        self
    }

    /// The column of the table `wakeup` in which it is the waker's last wait.
    const fn waker(mut self, column: &'static str, help: &'static str) -> Self {
        self.waker = Some([column, help]);
        self
    }
}

/// A fill dark enough for labels in the colour of the ground.
const fn strong(mark: &'static str, fill: [&'static str; 2]) -> Paint {
    inked(mark, "--mark-on-strong", fill)
}

/// A fill light enough for labels in the colour of text.
const fn pale(mark: &'static str, fill: [&'static str; 2]) -> Paint {
    inked(mark, "--mark-on-pale", fill)
}

/// A pale fill whose mark has the colour of a resource.
const fn inked(mark: &'static str, ink: &'static str, fill: [&'static str; 2]) -> Paint {
    Paint { mark, ink, fill }
}

// class, what it is => word in JSON, state, words after a service's name; place in the bar, the page's name, mark,
// colours; column of `wakeup`. A class that `wakeup` has stands before those that came later: a number on disk
// counts them (its column `class`).
classes! {
    /// The classes of the ledger.
    #[derive(
        Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    LedgerClass, Facts {
        OnCpu "Running." => class("on_cpu", Running, "on CPU").drawn(10, "on a CPU", strong("none", ["#0072b2", "#56b4e9"])).waker("on_cpu_ns", "Part of these waits in which the waker was on a CPU, since it was last blocked itself."),
        CpuWait "Runnable and not running, quota aside." => class("cpu_wait", Waiting, "waiting for a CPU").drawn(20, "waiting for a CPU", inked("up", "--cpu", ["#c3e0f2", "#16394f"])).waker("ready_ns", "Part in which the waker waited for a CPU."),
        Throttled "Runnable and throttled by a CPU quota." => class("throttled", Withheld, "throttled by a CPU quota").drawn(30, "held back by a quota", strong("upright", ["#7d7400", "#d6c94f"])),
        Uninterruptible "Uninterruptible, reason not known: disk or kernel lock." => class("uninterruptible", Disk, "in uninterruptible sleep (disk or kernel lock)").drawn(80, "uninterruptible", strong("cross", ["#8c4a1e", "#c98a5c"])).waker("uninterruptible_ns", "Part in which the waker, the last time before, was uninterruptible, in none of the next."),
        PageFault "In a page fault that waits for a disk: a mapped file, swap, or program code that is read again." => class("page_fault", Disk, "in page faults that read the disk").drawn(70, "page fault from disk", strong("dots", ["#a8417f", "#e58fc0"])).waker("page_fault_ns", "Part in which the waker was blocked in a page fault."),
        Reclaim "Direct reclaim for itself." => class("reclaim", Blocked, "in direct reclaim").drawn(90, "direct reclaim", strong("down", ["#a8417f", "#e58fc0"])).waker("reclaim_ns", "Part in which the waker waited for memory."),
        Sync "In fsync and its family." => class("sync", Disk, "syncing to disk (fsync)").drawn(40, "fsync", strong("none", ["#b34a00", "#f08a3c"])).waker("sync_ns", "Part in which the waker was in fsync and its family: a thread that waits for it waits for the disk."),
        SyncQueue "Waiting behind another thread of the target that is in fsync." => class("sync_queue", Disk, "waiting for another thread's fsync").drawn(50, "behind another's fsync", inked("down", "--io", ["#f7d9c0", "#55300f"])).waker("sync_queue_ns", "Part in which the waker waited for another backend's WAL flush."),
        ReadWrite "In a read or write that waits for a disk." => class("read_write", Disk, "reading and writing the disk").drawn(60, "disk read or write", strong("flat", ["#b34a00", "#f08a3c"])).waker("read_write_ns", "Part in which the waker waited for a disk in read, write and their families, or for a PostgreSQL process that does so."),
        DatabaseLock "Waiting for a lock of the database: row, table, transaction." => class("database_lock", Blocked, "waiting for a lock (row, table)").drawn(100, "database lock", strong("none", ["#7a3fb5", "#c9a2f5"])).waker("database_lock_ns", "Part in which the waker had a wait event of type Lock."),
        InternalLock "Waiting for a lock that the database takes for itself: buffer, log, lock table." => class("internal_lock", Blocked, "waiting for an internal lock").drawn(110, "internal lock", inked("down", "--lock", ["#e6d6f5", "#3d2459"])).waker("internal_lock_ns", "Part in which the waker had a wait event of type LWLock."),
        Futex "In futex." => class("futex", Blocked, "waiting in futex (a lock)").drawn(120, "futex", inked("dots", "--lock", ["#e6d6f5", "#3d2459"])).waker("futex_ns", "Part in which the waker was blocked in futex."),
        Output "Sending, and the other end does not take it." => class("output", Blocked, "sending").drawn(130, "sending", strong("upright", ["#007a5a", "#3fc79a"])).waker("output_ns", "Part in which the waker was blocked in sending."),
        Input "Waiting for input: epoll, poll, select, receive, accept." => class("input", Idle, "waiting for input").drawn(140, "waiting for input", pale("none", ["#e4e8ed", "#262d36"])).waker("input_ns", "Part in which the waker waited for input."),
        Sleep "In a timed sleep." => class("sleep", Idle, "sleeping on a timer").drawn(150, "sleep", pale("flat", ["#d6dce3", "#313a45"])).waker("sleep_ns", "Part in which the waker was in a timed sleep."),
        OtherCall "In another system call." => class("other_call", Idle, "in other system calls").drawn(160, "other system calls", pale("upright", ["#d6dce3", "#313a45"])).waker("other_call_ns", "Part in which the waker was blocked in another system call."),
        Unknown "Blocked, reason not known." => class("unknown", Unknown, "blocked, reason not seen").drawn(170, "blocked, not seen in what", pale("cross", ["#ffffff", "#171b21"])).waker("unknown_ns", "Part in which the waker was blocked, reason not known."),
        Outside "Time of the response that was spent outside the target." => class("outside", Outside, "outside"),
        Lag "Lag behind the generator's own schedule." => class("lag", Outside, "late behind the schedule"),
        Remote "Time of the response in which the target waited for a peer that it had asked itself." => class("remote", Outside, "waiting for a peer"),
    }
}

impl LedgerClass {
    /// Classes in which a disk is waited for, or may be.
    pub const DISK: [LedgerClass; count_in(Disk)] = in_state(Disk);

    /// Classes of responses that are no time of a thread's; they come last.
    pub const OUTSIDE: [LedgerClass; count_in(Outside)] = in_state(Outside);

    /// The word used in JSON.
    pub const fn word(self) -> &'static str {
        self.facts().word
    }

    /// What a thread does in it.
    pub const fn state(self) -> ClassState {
        self.facts().state
    }

    /// In words, to follow a service's name: "postgres: waiting for a CPU".
    pub const fn label(self) -> &'static str {
        self.facts().label
    }

    /// How the page draws it; `None` for a part of responses.
    pub const fn look(self) -> Option<Look> {
        self.facts().look
    }

    /// Name and help of the column of `wakeup` that has the waker's last wait in this class; `None` for what is no
    /// such wait.
    pub const fn waker_column(self) -> Option<[&'static str; 2]> {
        self.facts().waker
    }
}

const fn is(class: LedgerClass, state: ClassState) -> bool {
    class.state() as u8 == state as u8
}

const fn count_in(state: ClassState) -> usize {
    let (mut place, mut count) = (0, 0);
    while place < LedgerClass::ALL.len() {
        count += is(LedgerClass::ALL[place], state) as usize;
        place += 1;
    }
    count
}

/// The `N` classes in a state.
const fn in_state<const N: usize>(state: ClassState) -> [LedgerClass; N] {
    let mut classes = [LedgerClass::OnCpu; N];
    let (mut place, mut count) = (0, 0);
    while place < LedgerClass::ALL.len() {
        if is(LedgerClass::ALL[place], state) {
            classes[count] = LedgerClass::ALL[place];
            count += 1;
        }
        place += 1;
    }
    classes
}

/// What decides that a thread's time is in a class, in order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecidedBy {
    /// The scheduler: the thread has the CPU.
    Switch,
    /// The scheduler's mark of a throttled thread.
    Quota,
    /// The kernel's mark of a thread that waits for memory (`in_memstall`).
    Memstall,
    /// The kernel's mark of a thread that waits for a disk (`in_iowait`).
    Iowait,
    /// Its uninterruptible state.
    Uninterruptible,
    /// The system call that it is in.
    Call,
    /// The server's own wait event.
    WaitEvent,
}

/// A line of the list of counted classes.
#[derive(Clone, Copy)]
struct Counted {
    column: &'static str,
    ledger: LedgerClass,
    decided_by: DecidedBy,
}

const fn counted(column: &'static str, decided_by: DecidedBy, ledger: LedgerClass) -> Counted {
    Counted {
        column,
        ledger,
        decided_by,
    }
}

// class (in C: THREAD_TIME_ON_CPU), help of the column => column of `thread_time`, what decides, ledger class. Of the
// waits for memory, for a disk and in the kernel there is one class per I/O intent, in the order of
// `sensors::kernel_wait::IoIntent`; what a program derives from the order, `bpf/thread_time.h` asserts.
classes! {
    /// The classes that the kernel programs count, beside the waits for a CPU; each ns of a thread is in one.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    ThreadTimeClass, Counted {
        OnCpu "On a CPU." => counted("on_cpu_ns", Switch, Is::OnCpu),
        Throttled "Throttled by a CPU quota, until on a CPU again (kernels before 6.18 do not show it: there it is in the waits for a CPU)." => counted("throttled_ns", Quota, Is::Throttled),
        MemoryOther "Waiting for memory (direct reclaim, as a rule), outside the calls below." => counted("memory_other_ns", Memstall, Is::Reclaim),
        MemorySync "Waiting for memory, in fsync and its family." => counted("memory_sync_ns", Memstall, Is::Sync),
        MemoryReadWrite "Waiting for memory, in read, write and their families: refaults of evicted pages." => counted("memory_read_write_ns", Memstall, Is::ReadWrite),
        MemoryFault "Waiting for memory, in a page fault: refaults of evicted or swapped pages." => counted("memory_fault_ns", Memstall, Is::PageFault),
        IoOther "Waiting for a disk, outside the calls below." => counted("io_other_ns", Iowait, Is::Uninterruptible),
        IoSync "Waiting for a disk in fsync and its family, or in a synchronous write (O_DSYNC)." => counted("io_sync_ns", Iowait, Is::Sync),
        IoReadWrite "Waiting for a disk in read, write and their families, those of io_uring and libaio among them." => counted("io_read_write_ns", Iowait, Is::ReadWrite),
        IoFault "Waiting for a disk in a page fault." => counted("io_fault_ns", Iowait, Is::PageFault),
        KernelOther "Uninterruptible for something else in the kernel, a lock as a rule, outside the calls below." => counted("kernel_other_ns", Uninterruptible, Is::Uninterruptible),
        KernelSync "Uninterruptible in fsync and its family and not for a disk: behind the file system's journal, as a rule." => counted("kernel_sync_ns", Uninterruptible, Is::Sync),
        KernelReadWrite "Uninterruptible in read, write and their families and not for a disk: behind the lock of a file, as a rule." => counted("kernel_read_write_ns", Uninterruptible, Is::Uninterruptible),
        KernelFault "Uninterruptible in a page fault and not for a disk: behind the lock of the process's memory, as a rule." => counted("kernel_fault_ns", Uninterruptible, Is::Uninterruptible),
        Futex "Asleep in futex." => counted("futex_ns", Call, Is::Futex),
        Output "Asleep in write, send and their families: the other end does not read." => counted("output_ns", Call, Is::Output),
        Input "Asleep waiting for input: epoll, poll, select, receive, accept, read of a pipe or socket." => counted("input_ns", Call, Is::Input),
        Sleep "In a timed sleep." => counted("sleep_ns", Call, Is::Sleep),
        OtherCall "Asleep in another system call." => counted("other_call_ns", Call, Is::OtherCall),
        Unknown "Off-CPU, reason not known: stopped, traced, or a kernel thread." => counted("unknown_ns", Call, Is::Unknown),
        EventLwlock "Asleep, with a wait event for an internal lock of the server (PostgreSQL: LWLock), except the next." => counted("event_lwlock_ns", WaitEvent, Is::InternalLock),
        EventLog "Asleep, with a wait event for another session's flush of the log (PostgreSQL: LWLock:WALWrite)." => counted("event_log_ns", WaitEvent, Is::SyncQueue),
        EventLock "Asleep, with a wait event for a row, table or transaction that another session has locked (PostgreSQL: Lock)." => counted("event_lock_ns", WaitEvent, Is::DatabaseLock),
        EventBuffer "Asleep, with a wait event for a buffer that others use (PostgreSQL: BufferPin)." => counted("event_buffer_ns", WaitEvent, Is::InternalLock),
        EventActivity "Asleep, with the wait event of a server process that has no work (PostgreSQL: Activity)." => counted("event_activity_ns", WaitEvent, Is::Input),
        EventClient "Asleep, with a wait event for the client's next message (PostgreSQL: Client; Client:ClientWrite is in output_ns)." => counted("event_client_ns", WaitEvent, Is::Input),
        EventExtension "Asleep, with a wait event of an extension (PostgreSQL: Extension)." => counted("event_extension_ns", WaitEvent, Is::OtherCall),
        EventIpc "Asleep, with a wait event for another process of the server: parallel workers, a synchronous standby (PostgreSQL: IPC)." => counted("event_ipc_ns", WaitEvent, Is::OtherCall),
        EventTimeout "Asleep, with a wait event until a time (PostgreSQL: Timeout)." => counted("event_timeout_ns", WaitEvent, Is::Sleep),
        EventIo "Asleep and, by the kernel, not for a disk, with a wait event for I/O: for a server process that does I/O for others, as a rule (PostgreSQL: IO)." => counted("event_io_ns", WaitEvent, Is::ReadWrite),
    }
}

impl ThreadTimeClass {
    /// Its column of the table `thread_time`.
    pub const fn column(self) -> &'static str {
        self.facts().column
    }

    /// The ledger class that its time is part of.
    pub const fn ledger(self) -> LedgerClass {
        self.facts().ledger
    }

    /// What decides that time is in it.
    pub const fn decided_by(self) -> DecidedBy {
        self.facts().decided_by
    }
}
