//! Call stacks, and what was found running by the clock. Stacks come in samples, not in files, so a collector fills
//! these tables; here is only what they hold.

use model::{Column, EntityKind, Quality, RowKind, Table, Unit};

static STACK_COLUMNS: &[Column] = &[
    Column::gauge(
        "number",
        Unit::Count,
        "The stack's number; each row is one stack: a frame and the stack of its caller.",
        "the recorder",
    ),
    Column::gauge(
        "caller",
        Unit::Stack,
        "The stack that called the frame; missing for the outermost.",
        "perf cpu-clock samples, unwound by .eh_frame or frame pointers",
    ),
    Column::gauge(
        "module",
        Unit::String,
        "The file that the frame's code is from.",
        "/proc/PID/maps",
    ),
    Column::gauge(
        "address",
        Unit::Code,
        "Where the frame is: the address as the file states it; of the kernel, counted from where its code begins; in \
         memory without a file the address in the process. Of callers that of the last byte of the call.",
        "perf cpu-clock samples, unwound by .eh_frame or frame pointers",
    ),
];

/// Call stacks as a tree: each is a frame and the stack of its caller.
pub static STACK: Table = Table::new(
    "stack",
    EntityKind::Machine,
    "Call stacks, each once: a frame, and the number of its caller's stack.",
    STACK_COLUMNS,
)
.rows(RowKind::Definitions);

static SYMBOL_COLUMNS: &[Column] = &[
    Column::gauge(
        "module",
        Unit::String,
        "The file, as in table stack.",
        "/proc/PID/maps",
    ),
    Column::gauge(
        "address",
        Unit::Code,
        "The address, as in table stack.",
        "table stack",
    ),
    Column::gauge(
        "function",
        Unit::String,
        "The function that has it; where functions are inlined there the innermost, whose parent is the one around it.",
        "symbols of the file, /proc/kallsyms, or the perf map of a runtime",
    ),
];

/// Which function an address of a stack lies in; an address without a row has no name.
pub static SYMBOL: Table = Table::new(
    "symbol",
    EntityKind::Machine,
    "The functions of the addresses in stacks; an address that lies in no known function has no row.",
    SYMBOL_COLUMNS,
)
.rows(RowKind::Definitions);

static LOCK_COLUMNS: &[Column] = &[
    Column::gauge(
        "address",
        Unit::Code,
        "Its address, as in column lock of wait_sample.",
        "table wait_sample",
    ),
    Column::gauge(
        "module",
        Unit::String,
        "The file whose variable it is.",
        "/proc/PID/maps",
    ),
    Column::gauge(
        "variable",
        Unit::String,
        "The variable, with the distance from its start where the lock lies inside of it; a text below that of the file.",
        "symbols of the file",
    ),
];

/// Locks that are variables of a program.
pub static LOCK: Table = Table::new(
    "lock",
    EntityKind::Process,
    "The names of locks (futexes) that threads waited for; one on a heap or a stack has none.",
    LOCK_COLUMNS,
)
.rows(RowKind::Definitions);

static CPU_SAMPLE_COLUMNS: &[Column] = &[
    Column::gauge(
        "stack",
        Unit::Stack,
        "What it was executing: the innermost frame's stack, of the kernel where it was there; missing where there was \
         no room for another one.",
        "perf cpu-clock",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "cpu_ns",
        Unit::Nanoseconds,
        "The CPU time that the sample stands for.",
        "the period of the samples",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "end",
        Unit::Code,
        "How its stack in user space ends: 0 at the outermost function, 1 where the copy of the stack ends, 2 where \
         nothing leads on, 3 not read because the process had ended; missing where it has none.",
        "the unwinder",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "spins",
        Unit::Code,
        "Whether it was in a loop that waits, for a spin lock as a rule: 1 where an instruction that tells the CPU so stands \
         beside it, else 0; missing in the kernel, and in code without a file.",
        "the bytes of the file around the address: PAUSE, YIELD, ISB",
    )
    .quality(Quality::Sampled),
];

/// What was running, looked at by the clock.
pub static CPU_SAMPLE: Table = Table::new(
    "cpu_sample",
    EntityKind::Thread,
    "What ran on a CPU when the clock looked; about the thread, of processes whose threads are not followed about the \
     process, and of those that ended before they were seen about the machine.",
    CPU_SAMPLE_COLUMNS,
)
.rows(RowKind::Events);

static WAIT_SAMPLE_COLUMNS: &[Column] = &[
    Column::gauge(
        "stack",
        Unit::Stack,
        "Where it waited: the innermost frame's stack, in the kernel; missing where there was no room for another one.",
        "sched_exit_tp by BPF, unwound by .eh_frame or frame pointers",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "class",
        Unit::Code,
        "What it waited for: the number of the column of table thread_time that counts it, from 0.",
        "sched_switch by BPF",
    ),
    Column::gauge(
        "wait_ns",
        Unit::Nanoseconds,
        "How long it waited; the part that lies in an on-window. The wait for a CPU afterwards is not in it.",
        "sched_switch, sched_wakeup by BPF",
    ),
    Column::gauge(
        "weight_ns",
        Unit::Nanoseconds,
        "The blocked time that it stands for: of waits shorter than the threshold of that moment (`--min-wait`) only \
         some are taken, in proportion to their length.",
        "sched_waking by BPF",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "by",
        Unit::Code,
        "Kind of waker: 2 a process or one of its threads, 3 an interrupt, 4 a kernel thread; missing where none is \
         known, or where it waited for a disk or a time.",
        "sched_waking by BPF",
    ),
    Column::gauge(
        "waker",
        Unit::Count,
        "Entity number of the thread or process that ended the wait.",
        "sched_waking by BPF",
    ),
    Column::gauge(
        "waker_stack",
        Unit::Stack,
        "Where that one was when it did.",
        "sched_waking by BPF, unwound by .eh_frame or frame pointers",
    )
    .quality(Quality::Sampled),
    Column::gauge(
        "lock",
        Unit::Code,
        "Address of the futex that it waited for, in its own memory; missing in other waits.",
        "registers at the system call by BPF",
    ),
    Column::gauge(
        "end",
        Unit::Code,
        "How its stack in user space ends, as in table cpu_sample.",
        "the unwinder",
    )
    .quality(Quality::Sampled),
];

/// Waits, with where the thread was, and who ended them.
pub static WAIT_SAMPLE: Table = Table::new(
    "wait_sample",
    EntityKind::Thread,
    "Waits of target and generator threads: where, for how long, and who ended them; about the thread, or where that \
     is not followed about its process, or the machine.",
    WAIT_SAMPLE_COLUMNS,
)
.rows(RowKind::Events);
