//! What is read of node_exporter, and where it goes. The names are the same from its version 0.16 on.

/// A metric of a node.
pub(super) struct Metric {
    /// node_exporter's name.
    pub(super) name: &'static str,
    /// A label that it must have, with its value.
    pub(super) having: Option<(&'static str, &'static str)>,
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    /// How many of the column's unit one is.
    pub(super) scale: f64,
    pub(super) is_counter: bool,
    pub(super) whose: Whose,
}

/// What a metric is about, within its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    Machine,
    /// By the label `cpu`; without it the mean of all.
    Cpu,
    /// By the label `device`.
    Disk,
    Interface,
}

const NS: f64 = 1e9;

const fn counter(
    table: &'static str,
    name: &'static str,
    column: &'static str,
    scale: f64,
) -> Metric {
    Metric {
        name,
        having: None,
        table,
        column,
        scale,
        is_counter: true,
        whose: Whose::Machine,
    }
}

const fn gauge(
    table: &'static str,
    name: &'static str,
    column: &'static str,
    scale: f64,
) -> Metric {
    Metric {
        is_counter: false,
        ..counter(table, name, column, scale)
    }
}

const fn mode(value: &'static str, column: &'static str) -> Metric {
    Metric {
        having: Some(("mode", value)),
        whose: Whose::Cpu,
        ..counter("cpu", CPU_SECONDS, column, NS)
    }
}

const fn disk(name: &'static str, column: &'static str, scale: f64) -> Metric {
    Metric {
        whose: Whose::Disk,
        ..counter("disk", name, column, scale)
    }
}

const fn interface(name: &'static str, column: &'static str) -> Metric {
    Metric {
        whose: Whose::Interface,
        ..counter("network", name, column, 1.0)
    }
}

pub(super) const CPU_SECONDS: &str = "node_cpu_seconds_total";
pub(super) const BOOT_TIME: &str = "node_boot_time_seconds";
/// What the node's own clock says, s since 1970.
pub(super) const CLOCK: &str = "node_time_seconds";
pub(super) const MEMORY_TOTAL: &str = "node_memory_MemTotal_bytes";
pub(super) const UNAME: &str = "node_uname_info";

/// Of each node.
pub(super) const METRICS: &[Metric] = &[
    counter(
        "pressure",
        "node_pressure_cpu_waiting_seconds_total",
        "cpu_some_ns",
        NS,
    ),
    counter(
        "pressure",
        "node_pressure_io_waiting_seconds_total",
        "io_some_ns",
        NS,
    ),
    counter(
        "pressure",
        "node_pressure_io_stalled_seconds_total",
        "io_full_ns",
        NS,
    ),
    counter(
        "pressure",
        "node_pressure_memory_waiting_seconds_total",
        "memory_some_ns",
        NS,
    ),
    counter(
        "pressure",
        "node_pressure_memory_stalled_seconds_total",
        "memory_full_ns",
        NS,
    ),
    counter(
        "pressure",
        "node_pressure_irq_stalled_seconds_total",
        "irq_full_ns",
        NS,
    ),
    counter(
        "run_queue",
        "node_schedstat_waiting_seconds_total",
        "waiting_ns",
        NS,
    ),
    mode("user", "user_ns"),
    mode("nice", "nice_ns"),
    mode("system", "system_ns"),
    mode("idle", "idle_ns"),
    mode("iowait", "iowait_ns"),
    mode("irq", "irq_ns"),
    mode("softirq", "softirq_ns"),
    mode("steal", "steal_ns"),
    gauge("load", "node_load1", "load1_hundredths", 100.0),
    gauge("load", "node_load5", "load5_hundredths", 100.0),
    gauge("load", "node_load15", "load15_hundredths", 100.0),
    gauge("load", "node_procs_running", "running", 1.0),
    gauge("load", "node_procs_blocked", "blocked", 1.0),
    counter("load", "node_context_switches_total", "switches", 1.0),
    counter("load", "node_forks_total", "forks", 1.0),
    gauge("memory", "node_memory_MemFree_bytes", "free_bytes", 1.0),
    gauge(
        "memory",
        "node_memory_MemAvailable_bytes",
        "available_bytes",
        1.0,
    ),
    gauge("memory", "node_memory_Buffers_bytes", "buffers_bytes", 1.0),
    gauge("memory", "node_memory_Cached_bytes", "cached_bytes", 1.0),
    gauge("memory", "node_memory_Dirty_bytes", "dirty_bytes", 1.0),
    gauge(
        "memory",
        "node_memory_AnonPages_bytes",
        "anonymous_bytes",
        1.0,
    ),
    gauge(
        "memory",
        "node_memory_SwapFree_bytes",
        "swap_free_bytes",
        1.0,
    ),
    counter("paging", "node_vmstat_pgmajfault", "major_faults", 1.0),
    counter("paging", "node_vmstat_pgfault", "faults", 1.0),
    counter("paging", "node_vmstat_pswpin", "swap_in", 1.0),
    counter("paging", "node_vmstat_pswpout", "swap_out", 1.0),
    counter("paging", "node_vmstat_oom_kill", "oom_kills", 1.0),
    disk("node_disk_reads_completed_total", "reads", 1.0),
    disk("node_disk_writes_completed_total", "writes", 1.0),
    disk("node_disk_read_bytes_total", "read_bytes", 1.0),
    disk("node_disk_written_bytes_total", "write_bytes", 1.0),
    disk("node_disk_read_time_seconds_total", "read_ns", NS),
    disk("node_disk_write_time_seconds_total", "write_ns", NS),
    disk("node_disk_io_time_seconds_total", "busy_ns", NS),
    disk("node_disk_io_time_weighted_seconds_total", "queue_ns", NS),
    interface("node_network_receive_bytes_total", "rx_bytes"),
    interface("node_network_transmit_bytes_total", "tx_bytes"),
    interface("node_network_receive_packets_total", "rx_packets"),
    interface("node_network_transmit_packets_total", "tx_packets"),
    interface("node_network_receive_drop_total", "rx_drops"),
    interface("node_network_transmit_drop_total", "tx_drops"),
    interface("node_network_receive_errs_total", "rx_errors"),
    interface("node_network_transmit_errs_total", "tx_errors"),
    counter(
        "tcp",
        "node_netstat_Tcp_RetransSegs",
        "retransmitted_segments",
        1.0,
    ),
    counter("tcp", "node_netstat_Tcp_OutSegs", "out_segments", 1.0),
];

/// The tables, each asked for with one question.
pub(super) const TABLES: [&str; 9] = [
    "pressure",
    "run_queue",
    "cpu",
    "load",
    "memory",
    "paging",
    "disk",
    "network",
    "tcp",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_column_of_a_sensor() {
        for metric in METRICS {
            let table = sensors::tables().find(|it| it.name == metric.table);
            let table = table.unwrap_or_else(|| panic!("{}", metric.table));
            let column = table.position(metric.column);
            assert!(column.is_some(), "{}.{}", metric.table, metric.column);
            assert!(TABLES.contains(&metric.table), "{}", metric.table);
        }
    }
}
