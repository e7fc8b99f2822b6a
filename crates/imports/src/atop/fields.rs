//! Where in a line of atop each number stands, and what it fills.

const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;
const US: f64 = 1e3;
const MS: f64 = 1e6;

/// A field of a line, counted from 0 behind its head, and what it fills.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) place: usize,
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    /// What the man page calls it.
    pub(super) source: &'static str,
    pub(super) scale: f64,
}

const fn of(
    place: usize,
    table: &'static str,
    column: &'static str,
    source: &'static str,
    scale: f64,
) -> Field {
    Field {
        place,
        table,
        column,
        source,
        scale,
    }
}

/// Ticks; the scale is that of the line.
pub(super) const CPU: &[Field] = &[
    of(2, "cpu", "system_ns", "atop cpu, system mode", 1.0),
    of(3, "cpu", "user_ns", "atop cpu, user mode", 1.0),
    of(
        4,
        "cpu",
        "nice_ns",
        "atop cpu, user mode for niced processes",
        1.0,
    ),
    of(5, "cpu", "idle_ns", "atop cpu, idle mode", 1.0),
    of(6, "cpu", "iowait_ns", "atop cpu, wait mode", 1.0),
    of(7, "cpu", "irq_ns", "atop cpu, irq mode", 1.0),
    of(8, "cpu", "softirq_ns", "atop cpu, softirq mode", 1.0),
    of(9, "cpu", "steal_ns", "atop cpu, steal mode", 1.0),
    of(10, "cpu", "guest_ns", "atop cpu, guest mode", 1.0),
];

pub(super) const LOAD: &[Field] = &[
    of(
        1,
        "load",
        "load1_hundredths",
        "atop CPL, load average",
        100.0,
    ),
    of(
        2,
        "load",
        "load5_hundredths",
        "atop CPL, load average",
        100.0,
    ),
    of(
        3,
        "load",
        "load15_hundredths",
        "atop CPL, load average",
        100.0,
    ),
];

pub(super) const SWITCHES: &[Field] =
    &[of(4, "load", "switches", "atop CPL, context switches", 1.0)];

/// Pages; the scale is that of the line.
pub(super) const MEMORY: &[Field] = &[
    of(1, "memory", "total_bytes", "atop MEM, physical memory", 1.0),
    of(2, "memory", "free_bytes", "atop MEM, free memory", 1.0),
    of(3, "memory", "cached_bytes", "atop MEM, page cache", 1.0),
    of(4, "memory", "buffers_bytes", "atop MEM, buffer cache", 1.0),
    of(6, "memory", "dirty_bytes", "atop MEM, dirty pages", 1.0),
    of(
        7,
        "memory",
        "reclaimable_bytes",
        "atop MEM, reclaimable slab",
        1.0,
    ),
];

pub(super) const SWAP: &[Field] = &[
    of(1, "memory", "swap_total_bytes", "atop SWP, swap", 1.0),
    of(2, "memory", "swap_free_bytes", "atop SWP, free swap", 1.0),
    of(
        4,
        "memory",
        "committed_bytes",
        "atop SWP, committed space",
        1.0,
    ),
];

pub(super) const PAGING: &[Field] = &[
    of(
        2,
        "paging",
        "allocation_stalls",
        "atop PAG, allocstalls",
        1.0,
    ),
    of(4, "paging", "swap_in", "atop PAG, swapins", 1.0),
    of(5, "paging", "swap_out", "atop PAG, swapouts", 1.0),
    of(6, "paging", "oom_kills", "atop PAG, oomkills", 1.0),
];

pub(super) const PRESSURE: &[Field] = &[
    of(4, "pressure", "cpu_some_ns", "atop PSI, cpu some", US),
    of(8, "pressure", "memory_some_ns", "atop PSI, memory some", US),
    of(
        12,
        "pressure",
        "memory_full_ns",
        "atop PSI, memory full",
        US,
    ),
    of(16, "pressure", "io_some_ns", "atop PSI, io some", US),
    of(20, "pressure", "io_full_ns", "atop PSI, io full", US),
];

pub(super) const DISK: &[Field] = &[
    of(
        1,
        "disk",
        "busy_ns",
        "atop DSK, milliseconds spent for I/O",
        MS,
    ),
    of(2, "disk", "reads", "atop DSK, reads issued", 1.0),
    of(3, "disk", "read_bytes", "atop DSK, sectors read", SECTOR),
    of(4, "disk", "writes", "atop DSK, writes issued", 1.0),
    of(
        5,
        "disk",
        "write_bytes",
        "atop DSK, sectors written",
        SECTOR,
    ),
];

pub(super) const NETWORK: &[Field] = &[
    of(
        1,
        "network",
        "rx_packets",
        "atop NET, packets received",
        1.0,
    ),
    of(2, "network", "rx_bytes", "atop NET, bytes received", 1.0),
    of(
        3,
        "network",
        "tx_packets",
        "atop NET, packets transmitted",
        1.0,
    ),
    of(4, "network", "tx_bytes", "atop NET, bytes transmitted", 1.0),
];

/// Of a process, behind its name; ticks.
pub(super) const PROCESS_CPU: &[Field] = &[
    of(2, "process", "user_ns", "atop PRC, user mode", 1.0),
    of(3, "process", "system_ns", "atop PRC, system mode", 1.0),
];

pub(super) const PROCESS_MEMORY: &[Field] = &[of(
    3,
    "process",
    "resident_bytes",
    "atop PRM, resident memory",
    KIB,
)];

pub(super) const PROCESS_DISK: &[Field] = &[
    of(4, "process", "read_bytes", "atop PRD, sectors read", SECTOR),
    of(
        6,
        "process",
        "write_bytes",
        "atop PRD, sectors written",
        SECTOR,
    ),
];
