//! Tables that the sampler fills of itself: its clocks, and how well it keeps its times.

use std::time::Duration;

use model::{Column, EntityKind, Quality, Table, Unit};

static CLOCK_COLUMNS: &[Column] = &[
    Column::gauge(
        "realtime_ns",
        Unit::Nanoseconds,
        "Wall-clock time since 1970 at the row's time.",
        "clock_gettime(CLOCK_REALTIME)",
    ),
    Column::gauge(
        "monotonic_raw_ns",
        Unit::Nanoseconds,
        "Time of the hardware clock without NTP slew.",
        "clock_gettime(CLOCK_MONOTONIC_RAW)",
    ),
    Column::gauge(
        "uncertainty_ns",
        Unit::Nanoseconds,
        "Boot time that passed while the clocks were read.",
        "clock_gettime(CLOCK_BOOTTIME) twice",
    ),
];

/// How often clocks are compared.
pub const CLOCK_PERIOD: Duration = Duration::from_secs(5);

/// The clocks side by side, so that logs, databases and other nodes can be joined.
pub static CLOCK: Table = Table::new(
    "clock",
    EntityKind::Machine,
    "The machine's clocks side by side.",
    CLOCK_COLUMNS,
);

static RECORDER_COLUMNS: &[Column] = &[
    Column::gauge(
        "lateness_ns",
        Unit::Nanoseconds,
        "How late the sampler woke after its deadline.",
        "timerfd on CLOCK_BOOTTIME",
    ),
    Column::counter(
        "cpu_ns",
        Unit::Nanoseconds,
        "CPU time of the recorder, all its threads.",
        "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
    ),
    Column::gauge(
        "period_ns",
        Unit::Nanoseconds,
        "Period of the target's threads, stretched where sampling costs too much.",
        "the sampler",
    ),
    Column::counter(
        "missed",
        Unit::Count,
        "Deadlines that passed without a sample.",
        "timerfd expirations",
    )
    .quality(Quality::Exact),
    Column::gauge(
        "background_period_factor",
        Unit::Count,
        "Factor on the periods of all but machine, target and generator, above 1 where sampling costs too much.",
        "the sampler",
    ),
    Column::gauge(
        "resident_bytes",
        Unit::Bytes,
        "Memory of the recorder, resident; looked at every 10 s.",
        "/proc/self/status VmRSS",
    ),
    Column::gauge(
        "kernel_bytes",
        Unit::Bytes,
        "Memory of the kernel's that the recorder's programs and their maps take, with what is kept of each thread \
         (estimated) and without what is kept of each connection that is measured; looked at every 10 s.",
        "/proc/self/fdinfo memlock",
    ),
];

/// How often the sampler wakes.
pub const TICK: Duration = Duration::from_millis(100);

/// One row per wake-up of the sampler.
pub static RECORDER: Table = Table::new(
    "recorder",
    EntityKind::Machine,
    "How well the sampler keeps its deadlines, and its cost.",
    RECORDER_COLUMNS,
);

/// The column of `COVERAGE` that thread-time accounting and what comes from the same events has.
pub const THREAD_TIME_COVERAGE: &str = "thread_time_ns";

static COVERAGE_COLUMNS: &[Column] = &[
    Column::counter(
        THREAD_TIME_COVERAGE,
        Unit::Nanoseconds,
        "Time so far in which every switch and wake-up was counted.",
        "the sampler",
    ),
    Column::counter(
        "request_timing_ns",
        Unit::Nanoseconds,
        "Time so far in which requests from other machines, and the generator's own, could be timed.",
        "the sampler",
    ),
    Column::counter(
        CALL_COVERAGE,
        Unit::Nanoseconds,
        "Time so far in which calls at UDP and unix sockets were counted (table flow); missing where that is always.",
        "the sampler",
    ),
];

/// The column of `COVERAGE` for the calls of flows.
pub const CALL_COVERAGE: &str = "calls_ns";

/// How often it is written beside the edges.
pub const COVERAGE_PERIOD: Duration = Duration::from_secs(1);

/// When the programs were at their hooks: a column grows with time in an on-window and stands still in an off-window,
/// and has a row at each edge.
pub static COVERAGE: Table = Table::new(
    "coverage",
    EntityKind::Machine,
    "On-windows of what is traced: where events are many, they are traced in a random part of the time.",
    COVERAGE_COLUMNS,
);
