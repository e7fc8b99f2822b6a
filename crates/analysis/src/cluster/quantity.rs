//! What is compared between nodes and phases, how it is worked out of a node's recording, and how it is said.

use model::{EntityKind, EntityRecord, Timeline, Window};

use crate::number_format::{memory, percent, rate, storage};

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
            Self::Available | Self::PageCache => memory(value),
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

    /// What shows the same thing: of one family one change is reported.
    pub(super) fn family(self) -> Self {
        match self {
            Self::IoFull | Self::DiskBusy | Self::IoWait => Self::IoSome,
            Self::MemoryFull => Self::MemorySome,
            Self::CpusUsed => Self::CpuBusy,
            other => other,
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

/// A node's recording, read along one interval after the other.
pub(super) struct Reader<'a> {
    timeline: &'a Timeline,
    machine: Vec<&'a EntityRecord>,
    cpus: Vec<&'a EntityRecord>,
    disks: Vec<&'a EntityRecord>,
    interfaces: Vec<&'a EntityRecord>,
    /// The parts of the intervals in which the node is known; none lies in a gap.
    windows: &'a [Option<Window>],
    /// How many CPUs the node may use in each; NaN where that is not known.
    sizes: &'a [f64],
}

/// A value for each interval; NaN where it is not known.
type Row = Vec<f64>;

impl<'a> Reader<'a> {
    pub(super) fn of(
        timeline: &'a Timeline,
        windows: &'a [Option<Window>],
        sizes: &'a [f64],
    ) -> Self {
        let of_kind = |kind| timeline.entities.of_kind(kind).collect();
        let disks: Vec<&EntityRecord> = of_kind(EntityKind::Disk);
        // What is made of other disks does nothing that they do not do (kernel names: device mapper, md).
        let is_made = |it: &&EntityRecord| {
            let made = ["dm-", "md"];
            made.iter().any(|made| it.entity.name.starts_with(made))
        };
        Self {
            timeline,
            machine: timeline.entities.machine().into_iter().collect(),
            cpus: of_kind(EntityKind::Cpu),
            disks: disks.into_iter().filter(|it| !is_made(it)).collect(),
            interfaces: of_kind(EntityKind::Interface),
            windows,
            sizes,
        }
    }

    pub(super) fn row(&self, quantity: Quantity) -> Row {
        let machine = &self.machine;
        let seconds = |table, column| scaled(sum(&self.rates(table, machine, column)), 1e-9);
        let bytes = |table, of, column| sum(&self.rates(table, of, column));
        let row = match quantity {
            Quantity::CpuSome => seconds("pressure", "cpu_some_ns"),
            Quantity::IoSome => seconds("pressure", "io_some_ns"),
            Quantity::IoFull => seconds("pressure", "io_full_ns"),
            Quantity::MemorySome => seconds("pressure", "memory_some_ns"),
            Quantity::MemoryFull => seconds("pressure", "memory_full_ns"),
            Quantity::WaitingTasks => seconds("run_queue", "waiting_ns"),
            Quantity::CpusUsed => self.cpus_used(),
            Quantity::CpuBusy => self.cpus_used().map(|row| self.by_size(row)),
            Quantity::Steal => self.part_of_cpus("steal_ns"),
            Quantity::IoWait => self.part_of_cpus("iowait_ns"),
            Quantity::DiskBusy => {
                let each = self.rates("disk", &self.disks, "busy_ns");
                scaled(folded(&each, f64::max), 1e-9)
            }
            Quantity::DiskRead => bytes("disk", &self.disks, "read_bytes"),
            Quantity::DiskWritten => bytes("disk", &self.disks, "write_bytes"),
            Quantity::Received => bytes("network", &self.interfaces, "rx_bytes"),
            Quantity::Sent => bytes("network", &self.interfaces, "tx_bytes"),
            Quantity::Available => self.level("available_bytes"),
            Quantity::PageCache => self.level("cached_bytes"),
        };
        row.unwrap_or_else(|| vec![f64::NAN; self.windows.len()])
    }

    /// How fast a counter of each of these grew, per second; those that have none are left out.
    fn rates(&self, table: &str, of: &[&EntityRecord], column: &str) -> Vec<Row> {
        let each = of.iter().filter_map(|it| {
            let series = self.timeline.series(table, it.id, column)?;
            let mut cursor = series.cursor();
            let mut rate = |window: Window| {
                let covered = series.covered(window)?;
                Some(cursor.growth(window)? / covered.seconds())
            };
            let known = |it: &Option<Window>| it.and_then(&mut rate).unwrap_or(f64::NAN);
            Some(self.windows.iter().map(known).collect())
        });
        each.collect()
    }

    fn level(&self, column: &str) -> Option<Row> {
        let machine = self.machine.first()?;
        let series = self.timeline.series("memory", machine.id, column)?;
        let mean = |it: &Option<Window>| it.and_then(|it| series.mean(it)).unwrap_or(f64::NAN);
        Some(self.windows.iter().map(mean).collect())
    }

    /// CPUs that have a row of their own; `None` where there is their mean only, which imports call so.
    fn number_of_cpus(&self) -> Option<f64> {
        let is_one = |it: &&&EntityRecord| it.entity.path != "all";
        let each = self.cpus.iter().filter(is_one).count();
        (each > 0).then_some(each as f64)
    }

    /// CPU time that was neither idle nor stolen, per second. Of the mean of all CPUs, sizes say how many these are.
    fn cpus_used(&self) -> Option<Row> {
        const USED: [&str; 5] = ["user_ns", "nice_ns", "system_ns", "irq_ns", "softirq_ns"];
        sum(&self.rates("cpu", &self.cpus, "idle_ns"))?;
        let used = USED
            .iter()
            .map(|column| self.rates("cpu", &self.cpus, column));
        let used: Vec<Row> = used.flatten().collect();
        let used = scaled(sum(&used), 1e-9)?;
        Some(match self.number_of_cpus() {
            Some(_) => used,
            None => used
                .iter()
                .zip(self.sizes)
                .map(|(part, size)| part * size)
                .collect(),
        })
    }

    /// CPUs as a part of those that the node may use.
    fn by_size(&self, used: Row) -> Row {
        let number = self.number_of_cpus().unwrap_or(f64::NAN);
        let part = |(used, size): (&f64, &f64)| match size.is_nan() {
            true => used / number,
            false => used / size,
        };
        used.iter().zip(self.sizes).map(part).collect()
    }

    /// A state's part of the CPUs' time.
    fn part_of_cpus(&self, column: &str) -> Option<Row> {
        let all = sum(&self.rates("cpu", &self.cpus, column));
        scaled(all, 1e-9 / self.number_of_cpus().unwrap_or(1.0))
    }
}

/// Rows added up; a CPU that is not there in an interval adds nothing.
fn sum(rows: &[Row]) -> Option<Row> {
    folded(rows, |a, b| a + b)
}

fn folded(rows: &[Row], together: impl Fn(f64, f64) -> f64) -> Option<Row> {
    let (first, rest) = rows.split_first()?;
    let mut all = first.clone();
    for row in rest {
        for (known, value) in all.iter_mut().zip(row) {
            *known = match (known.is_nan(), value.is_nan()) {
                (_, true) => *known,
                (true, _) => *value,
                _ => together(*known, *value),
            };
        }
    }
    Some(all)
}

fn scaled(row: Option<Row>, by: f64) -> Option<Row> {
    Some(row?.into_iter().map(|it| it * by).collect())
}
