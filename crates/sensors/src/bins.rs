//! What the programs in the kernel tell in bins of 20 ms, finer than anything is read: for what repeats within a second.

use model::{Column, EntityKind, RowKind, Table, Unit};

/// How long a bin is, ns (CPU_BIN_NS and REQUESTS_BIN_NS of the programs).
pub const BIN_NS: u64 = 20_000_000;

const SWITCH: &str = "sched_switch by BPF";

static CPU_COLUMNS: &[Column] = &[
    LENGTH,
    Column::gauge(
        "target_ns",
        Unit::Nanoseconds,
        "How long threads of target and dependencies had a CPU, all CPUs together.",
        SWITCH,
    ),
    Column::gauge(
        "generator_ns",
        Unit::Nanoseconds,
        "How long the load generator's threads had one.",
        SWITCH,
    ),
    Column::gauge(
        "others_ns",
        Unit::Nanoseconds,
        "How long everybody else had one, the recorder included.",
        SWITCH,
    ),
    Column::gauge(
        "cpu_wait_ns",
        Unit::Nanoseconds,
        "How long threads of target and dependencies waited for a CPU, added up; time under a CPU quota is not in it where the kernel tells it.",
        "sched_wakeup, sched_migrate_task, sched_switch by BPF",
    ),
];

const LENGTH: Column = Column::gauge(
    "bin_ns",
    Unit::Nanoseconds,
    "How long the bin is, from the row's time on.",
    "the programs",
);

/// Who had the CPUs, and who waited for one.
pub static CPU_BIN: Table = Table::new(
    "cpu_bin",
    EntityKind::Machine,
    "Who had the CPUs and how long the target waited for them, in bins of 20 ms that lie in an on-window (table coverage) whole; \
     what lies in none has no row.",
    CPU_COLUMNS,
)
.rows(RowKind::Events);

static REQUEST_COLUMNS: &[Column] = &[
    LENGTH,
    Column::gauge(
        "requests",
        Unit::Count,
        "Requests of target and dependencies whose reply began in the bin, as table requests counts them; by the scheduler's clock, as of its last event or tick (up to 10 ms).",
        "sock_send_length by BPF",
    ),
];

/// How many requests were answered.
pub static REQUEST_BIN: Table = Table::new(
    "request_bin",
    EntityKind::Machine,
    "Requests that target and dependencies answered, in bins of 20 ms; between the first and the last row none was answered in a \
     bin without one, gaps aside.",
    REQUEST_COLUMNS,
)
.rows(RowKind::Events);
