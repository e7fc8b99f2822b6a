//! Stall density: how much of the CPUs' time was lost, at any fineness.
//!
//! Pressure is a fold over 2 s and means nothing over less. These times are the mean over the CPUs of the
//! stalled time on each (struct psi_group_cpu times[] in include/linux/psi_types.h), unweighted: they
//! add up over time, and their growth over any window divided by its length is the density. The
//! sampler fills the tables where it can read the kernel's per-CPU times (`bpf/pressure.bpf.c`).

use model::{Column, EntityKind, MISSING, Table, Unit};

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
    stalled!("irq_full_ns", "tasks stood still for interrupts"),
    stalled!("nonidle_ns", "any of its tasks ran or waited"),
];

/// Position of `cpu_full_ns` among the columns.
const CPU_FULL: usize = 1;

/// The machine's stall density.
pub static STALL: Table = Table::new(
    "stall",
    EntityKind::Machine,
    "Stall density of the machine: what was lost on its CPUs, at 100 ms.",
    COLUMNS,
);

/// That of the target's groups.
pub static CGROUP_STALL: Table = Table::new(
    "cgroup_stall",
    EntityKind::Cgroup,
    "Stall density of the target's and the generator's control groups.",
    COLUMNS,
);

/// The machine's cpu `full` is counted and meaningless (kernel/sched/psi.c shows 0): undefined.
pub fn of_machine<const N: usize>(mut row: [i64; N]) -> [i64; N] {
    row[CPU_FULL] = MISSING;
    row
}
