//! Stall density: how much of the CPUs' time was lost, at any fineness.
//!
//! Pressure is a fold over 2 s and means nothing over less. These times are the mean over the CPUs of the
//! stalled time on each (struct psi_group_cpu times[] in include/linux/psi_types.h), unweighted: they
//! add up over time, and their growth over any window divided by its length is the density. The
//! sampler fills the tables where it can read the kernel's per-CPU times (`bpf/pressure.bpf.c`).

use std::time::Duration;

use model::{Column, EntityKind, MISSING, Quality, Table, Unit};

use crate::THREAD_TIME_COVERAGE;

const SOURCE: &str = "psi_group_cpu times[] by BPF, mean over the CPUs";

macro_rules! stalled {
    ($name:literal, $who:literal) => {
        Column::counter(
            $name,
            Unit::Nanoseconds,
            concat!("Time of a CPU in which ", $who, ", mean over the CPUs."),
            SOURCE,
        )
    };
}

static COLUMNS: &[Column] = &[
    stalled!(
        "cpu_some_ns",
        "at least one task waited for it, own quota throttling included"
    ),
    stalled!(
        "cpu_full_ns",
        "tasks waited for it and none of the group had it"
    ),
    stalled!(
        "memory_some_ns",
        "at least one of its tasks waited for memory"
    ),
    stalled!(
        "memory_full_ns",
        "all of its non-idle tasks waited for memory"
    ),
    stalled!("io_some_ns", "at least one of its tasks waited for I/O"),
    stalled!("io_full_ns", "all of its non-idle tasks waited for I/O"),
    stalled!("irq_full_ns", "tasks were stalled by interrupts"),
    stalled!("nonidle_ns", "any of its tasks ran or waited"),
];

/// Pressure of sets of threads is folded over this long, as the kernel folds a group's.
pub const FOLD: Duration = Duration::from_millis(crate::pressure::FOLD_MS);

const EVENTS: &str = "sched_switch, sched_wakeup, sched_migrate_task by BPF, counted as kernel/sched/psi.c counts a group";

macro_rules! of_threads {
    ($name:literal, $who:literal) => {
        Column::counter(
            $name,
            Unit::Nanoseconds,
            concat!("Time in which ", $who, "."),
            EVENTS,
        )
        .quality(Quality::Sampled)
    };
}

/// Those of pressure, and `nonidle` that it is weighted with.
static THREADS_COLUMNS: &[Column] = &[
    of_threads!(
        "cpu_some_ns",
        "at least one of its threads waited for a CPU, own quota throttling included"
    ),
    of_threads!(
        "cpu_full_ns",
        "none of its threads ran and at least one waited for a CPU"
    ),
    of_threads!(
        "memory_some_ns",
        "at least one of its threads waited for memory or reclaimed it"
    )
    .quality(Quality::Estimated),
    of_threads!(
        "memory_full_ns",
        "all of its non-idle threads waited for memory"
    )
    .quality(Quality::Estimated),
    of_threads!("io_some_ns", "at least one of its threads waited for I/O"),
    of_threads!("io_full_ns", "all of its non-idle threads waited for I/O"),
    of_threads!("nonidle_ns", "any of its threads ran or waited"),
];

/// Position of `cpu_full_ns` among the columns.
const CPU_FULL: usize = 1;

/// The machine's stall density.
pub static STALL: Table = Table::new(
    "stall",
    EntityKind::Machine,
    "Stall density of the machine: stalled time, mean over the CPUs, every 100 ms.",
    COLUMNS,
);

/// That of the target's groups.
pub static CGROUP_STALL: Table = Table::new(
    "cgroup_stall",
    EntityKind::Cgroup,
    "Stall density of the target's and the generator's control groups; counted as `cgroup_pressure` is.",
    COLUMNS,
);

/// Pressure of groups for which this kernel counts none (a version 1 hierarchy, or pressure of groups left out), from
/// the scheduler's events; judged and shown as `cgroup_pressure`.
pub static COUNTED_CGROUP_PRESSURE: Table = Table::new(
    "counted_cgroup_pressure",
    EntityKind::Cgroup,
    "Pressure of control groups for which the kernel counts none: read as `cgroup_pressure`.",
    THREADS_COLUMNS.split_at(THREADS_COLUMNS.len() - 1).0,
)
.covered_by(THREAD_TIME_COVERAGE);

/// Their stall density; judged and shown as `cgroup_stall`.
pub static COUNTED_CGROUP_STALL: Table = Table::new(
    "counted_cgroup_stall",
    EntityKind::Cgroup,
    "Stall density of the same, every 100 ms: read as `cgroup_stall`.",
    THREADS_COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

/// Pressure of what is no group: a process of target or generator that is nobody's child among them, with
/// all that it forks.
pub static PROCESS_PRESSURE: Table = Table::new(
    "process_pressure",
    EntityKind::Process,
    "Pressure of each service of target and generator: its first process with all that it forks, \
     whatever control groups they are in; folded over 2 s as the kernel does for a group, and at the \
     end of the recording.",
    THREADS_COLUMNS.split_at(THREADS_COLUMNS.len() - 1).0,
)
.covered_by(THREAD_TIME_COVERAGE);

/// Its stall density.
pub static PROCESS_STALL: Table = Table::new(
    "process_stall",
    EntityKind::Process,
    "Stall density of the same: stalled time, mean over the CPUs, every 100 ms.",
    THREADS_COLUMNS,
)
.covered_by(THREAD_TIME_COVERAGE);

/// In a row of the machine's, cpu `full` is counted and meaningless (kernel/sched/psi.c shows 0): undefined.
pub fn of_machine(row: &mut [i64]) {
    row[CPU_FULL] = MISSING;
}
