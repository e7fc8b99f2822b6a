//! What iostat prints: reports of the CPUs' mean and of each disk, their times with `-t`.

use model::{Entity, EntityKind, Quality, sentence};

use crate::draft::{Cell, Draft, Interval, all_cpus};
use crate::report::{Banner, Stamp, banner, between, instant, instants, number};
use crate::{Imported, NotUnderstood};

const AGAIN: &str = "make it again: LC_ALL=C S_TIME_FORMAT=ISO iostat -x -t 1";
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
/// Percent of an interval, as ns per s.
const PERCENT: f64 = 1e7;
/// A mean length, as ns of queueing per s.
const LENGTH: f64 = 1e9;
const MS: f64 = 1e6;

/// A heading's column: how many of its unit one is per second.
struct Column {
    heading: &'static str,
    column: &'static str,
    scale: f64,
}

const fn of(heading: &'static str, column: &'static str, scale: f64) -> Column {
    Column {
        heading,
        column,
        scale,
    }
}

const CPU: &[Column] = &[
    of("%user", "user_ns", PERCENT),
    of("%nice", "nice_ns", PERCENT),
    of("%system", "system_ns", PERCENT),
    of("%iowait", "iowait_ns", PERCENT),
    of("%steal", "steal_ns", PERCENT),
    of("%idle", "idle_ns", PERCENT),
];

const DISK: &[Column] = &[
    of("r/s", "reads", 1.0),
    of("w/s", "writes", 1.0),
    of("d/s", "discards", 1.0),
    of("f/s", "flushes", 1.0),
    of("rkB/s", "read_bytes", KIB),
    of("wkB/s", "write_bytes", KIB),
    of("rMB/s", "read_bytes", MIB),
    of("wMB/s", "write_bytes", MIB),
    of("kB_read/s", "read_bytes", KIB),
    of("kB_wrtn/s", "write_bytes", KIB),
    of("MB_read/s", "read_bytes", MIB),
    of("MB_wrtn/s", "write_bytes", MIB),
    of("aqu-sz", "queue_ns", LENGTH),
    of("avgqu-sz", "queue_ns", LENGTH),
    of("%util", "busy_ns", PERCENT),
];

/// A mean time of an operation, whose sum is that times how many there were.
struct Mean {
    heading: &'static str,
    count: &'static str,
    column: &'static str,
}

const MEANS: &[Mean] = &[
    Mean {
        heading: "r_await",
        count: "r/s",
        column: "read_ns",
    },
    Mean {
        heading: "w_await",
        count: "w/s",
        column: "write_ns",
    },
    Mean {
        heading: "d_await",
        count: "d/s",
        column: "discard_ns",
    },
    Mean {
        heading: "f_await",
        count: "f/s",
        column: "flush_ns",
    },
];

/// A line of numbers with its headings.
struct Row<'a> {
    line: usize,
    /// The disk; `None` for the CPUs.
    disk: Option<&'a str>,
    headings: Vec<&'a str>,
    words: Vec<&'a str>,
}

#[derive(Default)]
struct Report<'a> {
    line: usize,
    time: Option<i64>,
    /// Behind a banner the first report is since boot.
    is_since_boot: bool,
    rows: Vec<Row<'a>>,
}

impl Report<'_> {
    fn has_cpus(&self) -> bool {
        self.rows.iter().any(|row| row.disk.is_none())
    }

    fn has_disks(&self) -> bool {
        self.rows.iter().any(|row| row.disk.is_some())
    }
}

pub(crate) fn read(text: &str, period_ns: Option<i64>) -> Result<Imported, NotUnderstood> {
    let mut file = File::default();
    for (index, line) in text.lines().enumerate() {
        file.take(index + 1, line)?;
    }
    let stamp = |report: &Report<'_>| Stamp {
        line: report.line,
        time: report.time,
    };
    let stamps: Vec<Stamp> = file.reports.iter().map(stamp).collect();
    let times = instants(&stamps, period_ns, AGAIN)?;
    let mut draft = Draft::default();
    for (index, report) in file.reports.iter().enumerate() {
        let Some(interval) = between(&times, index) else {
            continue;
        };
        match report.is_since_boot {
            true => draft.hole(interval),
            false => {
                for row in &report.rows {
                    one(&mut draft, row, interval)?;
                }
            }
        }
    }
    notes(&mut draft, &file);
    let Banner {
        kernel, node, cpus, ..
    } = file.banner;
    Ok(Imported {
        kernel,
        node,
        cpus,
        ..draft.finish("iostat")?
    })
}

/// Whether these are headings of its reports.
pub(crate) fn is_headings(words: &[&str]) -> bool {
    matches!(words.first(), Some(&("avg-cpu:" | "Device" | "Device:"))) && words.len() > 2
}

#[derive(Default)]
struct File<'a> {
    banner: Banner,
    headings: Vec<&'a str>,
    is_since_boot: bool,
    reports: Vec<Report<'a>>,
}

impl<'a> File<'a> {
    fn take(&mut self, number: usize, line: &'a str) -> Result<(), NotUnderstood> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            self.headings.clear();
        } else if let Some(banner) = banner(line) {
            self.banner = banner;
            self.is_since_boot = true;
        } else if is_headings(&words) {
            self.under(number, words);
        } else if !self.headings.is_empty() {
            self.row(number, words)?;
        } else if let Some(time) = instant(&words) {
            self.begin(number, Some(time));
        } else {
            return Err(NotUnderstood::at(
                number,
                "a date with a time, or headings of iostat",
                AGAIN,
            ));
        }
        Ok(())
    }

    fn begin(&mut self, line: usize, time: Option<i64>) {
        self.reports.push(Report {
            line,
            time,
            is_since_boot: std::mem::take(&mut self.is_since_boot),
            rows: Vec::new(),
        });
    }

    /// Headings begin a report where the one before has such rows already.
    fn under(&mut self, line: usize, words: Vec<&'a str>) {
        let is_of_cpus = words[0] == "avg-cpu:";
        let is_next = self.reports.last().is_none_or(|report| match is_of_cpus {
            true => report.has_cpus() || report.has_disks(),
            false => report.has_disks(),
        });
        if is_next || self.is_since_boot {
            self.begin(line, None);
        }
        self.headings = words;
    }

    fn row(&mut self, line: usize, mut words: Vec<&'a str>) -> Result<(), NotUnderstood> {
        let is_of_cpus = self.headings[0] == "avg-cpu:";
        let disk = (!is_of_cpus).then(|| words.remove(0));
        let headings = self.headings[1..].to_vec();
        if headings.len() != words.len() {
            let expected = format!(
                "{} numbers, one under each heading, found {}",
                headings.len(),
                words.len()
            );
            return Err(NotUnderstood::at(line, expected, AGAIN));
        }
        if let Some(report) = self.reports.last_mut() {
            report.rows.push(Row {
                line,
                disk,
                headings,
                words,
            });
        }
        Ok(())
    }
}

fn one(draft: &mut Draft, row: &Row<'_>, interval: Interval) -> Result<(), NotUnderstood> {
    let (table, entity, columns) = match row.disk {
        Some(disk) => ("disk", Entity::new(EntityKind::Disk, disk, disk), DISK),
        None => ("cpu", all_cpus(), CPU),
    };
    let cell = |column, source| Cell {
        table,
        column,
        source,
        quality: Quality::Estimated,
    };
    let mut values = Vec::new();
    for (heading, word) in row.headings.iter().zip(&row.words) {
        values.push((*heading, number(word, row.line, AGAIN)?));
    }
    let value = |of: &str| {
        values
            .iter()
            .find(|(heading, _)| *heading == of)
            .map(|it| it.1)
    };
    for column in columns {
        if let Some(value) = value(column.heading) {
            let amount = value * column.scale * interval.seconds();
            draft.grow(
                cell(column.column, column.heading),
                &entity,
                interval,
                amount,
            );
        }
    }
    for mean in MEANS {
        if let (Some(each), Some(count)) = (value(mean.heading), value(mean.count)) {
            let amount = each * MS * count * interval.seconds();
            draft.grow(cell(mean.column, mean.heading), &entity, interval, amount);
        }
    }
    Ok(())
}

fn notes(draft: &mut Draft, file: &File<'_>) {
    draft.note("pressure", sentence!("pressure.cpu_some_ns, io_some_ns and memory_some_ns are not in the file: iostat does not read pressure"));
    if file.reports.iter().any(Report::has_cpus) {
        draft.note(
            "cpu",
            sentence!(
                "The file has the mean of all CPUs: the times of each CPU are not in the file"
            ),
        );
    } else {
        draft.note("cpu", sentence!("cpu.user_ns and the other times of CPUs are not in the file: iostat without -d has their mean"));
    }
    let has = |heading: &str| {
        let mut rows = file.reports.iter().flat_map(|report| &report.rows);
        rows.any(|row| row.headings.contains(&heading))
    };
    if !has("%util") {
        draft.note("disk", sentence!("disk.busy_ns, queue_ns, read_ns and write_ns are not in the file: iostat -x has them"));
    }
    let is_untimed = |line: &Report<'_>| line.time.is_none();
    if !file.reports.iter().all(is_untimed) {
        draft.note("*", sentence!("Times of the file without a zone were taken for UTC, and dates with strokes for month/day/year"));
    }
}
