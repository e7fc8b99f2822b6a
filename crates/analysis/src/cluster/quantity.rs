//! What is compared between nodes and phases, how it is worked out of a node's recording, and how it is said.

use model::{EntityKind, EntityRecord, Timeline, Window};

use crate::number_format::{percent, rate, storage};

/// A quantity of a node in an interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Quantity {
    CpuSome,
    IoSome,
    IoFull,
    MemorySome,
    MemoryFull,
    CpuBusy,
    CpusUsed,
    Steal,
    IoWait,
    WaitingTasks,
    DiskBusy,
    DiskRead,
    DiskWritten,
    Received,
    Sent,
    Available,
    PageCache,
}

/// How values of several nodes become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Together {
    Mean,
    Sum,
}

impl Quantity {
    pub(super) const ALL: [Self; 17] = [
        Self::CpuSome,
        Self::IoSome,
        Self::IoFull,
        Self::MemorySome,
        Self::MemoryFull,
        Self::CpuBusy,
        Self::CpusUsed,
        Self::Steal,
        Self::IoWait,
        Self::WaitingTasks,
        Self::DiskBusy,
        Self::DiskRead,
        Self::DiskWritten,
        Self::Received,
        Self::Sent,
        Self::Available,
        Self::PageCache,
    ];

    /// Its name in reports.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::CpuSome => "cpu_some",
            Self::IoSome => "io_some",
            Self::IoFull => "io_full",
            Self::MemorySome => "memory_some",
            Self::MemoryFull => "memory_full",
            Self::CpuBusy => "cpu_busy",
            Self::CpusUsed => "cpus_used",
            Self::Steal => "steal",
            Self::IoWait => "iowait",
            Self::WaitingTasks => "waiting_tasks",
            Self::DiskBusy => "disk_busy",
            Self::DiskRead => "disk_read",
            Self::DiskWritten => "disk_written",
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Available => "memory_available",
            Self::PageCache => "page_cache",
        }
    }

    /// What a sentence calls it.
    pub(super) fn named(self) -> &'static str {
        match self {
            Self::CpuSome => "CPU pressure (some)",
            Self::IoSome => "I/O pressure (some)",
            Self::IoFull => "I/O pressure (full)",
            Self::MemorySome => "memory pressure (some)",
            Self::MemoryFull => "memory pressure (full)",
            Self::CpuBusy => "CPU use",
            Self::CpusUsed => "CPUs used",
            Self::Steal => "steal",
            Self::IoWait => "idle CPU time beside I/O",
            Self::WaitingTasks => "tasks waiting for a CPU",
            Self::DiskBusy => "use of the busiest disk",
            Self::DiskRead => "reads from disks",
            Self::DiskWritten => "writes to disks",
            Self::Received => "data received",
            Self::Sent => "data sent",
            Self::Available => "available memory of a node",
            Self::PageCache => "page cache of a node",
        }
    }

    /// A value as it stands in a sentence.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Self::CpusUsed | Self::WaitingTasks => rate(value),
            Self::DiskRead | Self::DiskWritten | Self::Received | Self::Sent => {
                format!("{}/s", storage(value))
            }
            Self::Available | Self::PageCache => storage(value),
            _ => percent(value),
        }
    }

    pub(super) fn together(self) -> Together {
        match self {
            Self::CpusUsed
            | Self::WaitingTasks
            | Self::DiskRead
            | Self::DiskWritten
            | Self::Received
            | Self::Sent => Together::Sum,
            _ => Together::Mean,
        }
    }

    /// A difference below this is not worth a word, per node.
    pub(super) fn least(self) -> f64 {
        match self {
            Self::CpusUsed | Self::WaitingTasks => 0.1,
            Self::DiskRead | Self::DiskWritten | Self::Received | Self::Sent => 1e6,
            Self::Available | Self::PageCache => 50e6,
            _ => 0.05,
        }
    }
}

/// A node's recording, asked for one interval after the other.
pub(super) struct Reader<'a> {
    timeline: &'a Timeline,
    machine: Option<&'a EntityRecord>,
    cpus: Vec<&'a EntityRecord>,
    disks: Vec<&'a EntityRecord>,
    interfaces: Vec<&'a EntityRecord>,
}

impl<'a> Reader<'a> {
    pub(super) fn of(timeline: &'a Timeline) -> Self {
        let of_kind = |kind| timeline.entities.of_kind(kind).collect();
        let disks: Vec<&EntityRecord> = of_kind(EntityKind::Disk);
        Self {
            timeline,
            machine: timeline.entities.machine(),
            cpus: of_kind(EntityKind::Cpu),
            // What is made of other disks does nothing that they do not do (kernel names: device mapper, md).
            disks: disks
                .into_iter()
                .filter(|it| {
                    !["dm-", "md"]
                        .iter()
                        .any(|made| it.entity.name.starts_with(made))
                })
                .collect(),
            interfaces: of_kind(EntityKind::Interface),
        }
    }

    /// A quantity over a window that lies in no gap; `size` is how many CPUs the node may use. NaN where it is not known.
    pub(super) fn value(&self, quantity: Quantity, window: Window, size: Option<f64>) -> f64 {
        let value = match quantity {
            Quantity::CpuSome => self.stalled("cpu_some_ns", window),
            Quantity::IoSome => self.stalled("io_some_ns", window),
            Quantity::IoFull => self.stalled("io_full_ns", window),
            Quantity::MemorySome => self.stalled("memory_some_ns", window),
            Quantity::MemoryFull => self.stalled("memory_full_ns", window),
            Quantity::CpusUsed => self.cpus_used(window, size),
            Quantity::CpuBusy => self
                .cpus_used(window, size)
                .zip(size.or(self.number_of_cpus()))
                .map(|(used, size)| used / size),
            Quantity::Steal => self.part_of_cpus("steal_ns", window),
            Quantity::IoWait => self.part_of_cpus("iowait_ns", window),
            Quantity::WaitingTasks => self
                .machine_rate("run_queue", "waiting_ns", window)
                .map(|it| it / 1e9),
            Quantity::DiskBusy => {
                let each = self.rates("disk", &self.disks, "busy_ns", window);
                each.map(|it| it / 1e9).reduce(f64::max)
            }
            Quantity::DiskRead => sum(self.rates("disk", &self.disks, "read_bytes", window)),
            Quantity::DiskWritten => sum(self.rates("disk", &self.disks, "write_bytes", window)),
            Quantity::Received => sum(self.rates("network", &self.interfaces, "rx_bytes", window)),
            Quantity::Sent => sum(self.rates("network", &self.interfaces, "tx_bytes", window)),
            Quantity::Available => self.level("available_bytes", window),
            Quantity::PageCache => self.level("cached_bytes", window),
        };
        value.unwrap_or(f64::NAN)
    }

    fn machine_rate(&self, table: &str, column: &str, window: Window) -> Option<f64> {
        let series = self.timeline.series(table, self.machine?.id, column)?;
        series.rate(window)
    }

    fn stalled(&self, column: &str, window: Window) -> Option<f64> {
        self.machine_rate("pressure", column, window)
            .map(|it| it / 1e9)
    }

    fn level(&self, column: &str, window: Window) -> Option<f64> {
        let series = self.timeline.series("memory", self.machine?.id, column)?;
        series.mean(window)
    }

    fn rates<'b>(
        &'b self,
        table: &'b str,
        of: &'b [&'a EntityRecord],
        column: &'b str,
        window: Window,
    ) -> impl Iterator<Item = f64> + 'b {
        of.iter()
            .filter_map(move |it| self.timeline.series(table, it.id, column)?.rate(window))
    }

    /// CPUs that have a row of their own; `None` where there is their mean only.
    fn number_of_cpus(&self) -> Option<f64> {
        let is_one = |it: &&&EntityRecord| it.entity.path.parse::<u32>().is_ok();
        let each = self.cpus.iter().filter(is_one).count();
        (each > 0).then_some(each as f64)
    }

    /// CPU time that was neither idle nor stolen, per second. Of the mean of all CPUs, `size` says how many these are.
    fn cpus_used(&self, window: Window, size: Option<f64>) -> Option<f64> {
        const USED: [&str; 5] = ["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"];
        let used = USED
            .iter()
            .map(|column| sum(self.rates("cpu", &self.cpus, column, window)));
        let used: f64 = used.flatten().sum::<f64>() / 1e9;
        let known = sum(self.rates("cpu", &self.cpus, "idle_ns", window));
        known?;
        match self.number_of_cpus() {
            Some(_) => Some(used),
            None => Some(used * size?),
        }
    }

    /// A state's part of the CPUs' time.
    fn part_of_cpus(&self, column: &str, window: Window) -> Option<f64> {
        let all = sum(self.rates("cpu", &self.cpus, column, window))? / 1e9;
        Some(all / self.number_of_cpus().unwrap_or(1.0))
    }
}

fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|a, b| a + b)
}
