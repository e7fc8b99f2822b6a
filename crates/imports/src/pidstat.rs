//! What pidstat prints: a line per process and interval. Of a command only the program's name is taken, not its arguments.

use model::{Entity, EntityKind, Quality, sentence};

use crate::draft::{Cell, Draft, Interval};
use crate::report::{Banner, Days, Stamp, banner, between, instants, number, time_of_day};
use crate::{Imported, NotUnderstood};

const AGAIN: &str = "make it again: LC_ALL=C pidstat -u -d -r 1";
const KIB: f64 = 1024.0;
/// Percent of an interval, as ns per s.
const PERCENT: f64 = 1e7;
const SECOND_NS: f64 = 1e9;

/// A heading's column of `process`: a gauge, or how many of its unit one is per second.
struct Column {
    heading: &'static str,
    column: &'static str,
    is_rate: bool,
    scale: f64,
}

const fn of(heading: &'static str, column: &'static str, is_rate: bool, scale: f64) -> Column {
    Column {
        heading,
        column,
        is_rate,
        scale,
    }
}

const COLUMNS: &[Column] = &[
    of("%usr", "user_ns", true, PERCENT),
    of("%system", "system_ns", true, PERCENT),
    of("kB_rd/s", "read_bytes", true, KIB),
    of("kB_wr/s", "write_bytes", true, KIB),
    of("RSS", "resident_bytes", false, KIB),
    of("threads", "threads", false, 1.0),
];

/// A line about a process.
struct Row<'a> {
    line: usize,
    /// Which headings it stands under.
    headings: usize,
    words: Vec<&'a str>,
}

/// The lines of one instant.
struct Report<'a> {
    stamp: Stamp,
    rows: Vec<Row<'a>>,
}

#[derive(Default)]
struct File<'a> {
    banner: Banner,
    days: Option<Days>,
    /// When the first interval began, where the headings have it.
    start: Option<i64>,
    headings: Vec<Vec<&'a str>>,
    reports: Vec<Report<'a>>,
}

pub(crate) fn read(text: &str, period_ns: Option<i64>) -> Result<Imported, NotUnderstood> {
    let mut file = File::default();
    for (index, line) in text.lines().enumerate() {
        file.take(index + 1, line)?;
    }
    let stamps: Vec<Stamp> = file.reports.iter().map(|report| report.stamp).collect();
    let times = instants(&stamps, period_ns, AGAIN)?;
    let mut draft = Draft::default();
    for (index, report) in file.reports.iter().enumerate() {
        let Some(interval) = between(&times, index).or_else(|| first(&times, file.start)) else {
            continue;
        };
        for row in &report.rows {
            one(&mut draft, &file.headings[row.headings], row, interval)?;
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
        ..draft.finish("pidstat")?
    })
}

/// The first interval: from when its headings say, or as long as the second.
fn first(times: &[i64], start: Option<i64>) -> Option<Interval> {
    let (end, next) = (*times.first()?, times.get(1).copied());
    let told = start.filter(|start| *start < end);
    let start = told.or_else(|| next.map(|next| end.saturating_sub(next - end)))?;
    (start >= 0).then_some(Interval { start, end })
}

/// Whether these are its headings.
pub(crate) fn is_headings(words: &[&str]) -> bool {
    words.last() == Some(&"Command") && (words.contains(&"PID") || words.contains(&"TGID"))
}

impl<'a> File<'a> {
    fn take(&mut self, number: usize, line: &'a str) -> Result<(), NotUnderstood> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else {
            return Ok(());
        };
        if let Some(banner) = banner(line) {
            self.days = banner.day.map(Days::from);
            self.banner = banner;
        } else if is_headings(&words) {
            let from = words
                .iter()
                .position(|word| ["UID", "USER", "PID", "TGID"].contains(word));
            if self.reports.is_empty() {
                self.start = self.time(&words).and_then(|stamped| stamped.time);
            }
            self.headings
                .push(words[from.unwrap_or_default()..].to_vec());
        } else if !first.starts_with("Average:") {
            self.row(number, words)?;
        }
        Ok(())
    }

    fn row(&mut self, line: usize, words: Vec<&'a str>) -> Result<(), NotUnderstood> {
        let Some(headings) = self.headings.last() else {
            return Err(NotUnderstood::at(
                line,
                "the headings of pidstat: UID PID ... Command",
                AGAIN,
            ));
        };
        let width = headings.len();
        let Some(stamped) = self.time(&words) else {
            return Err(NotUnderstood::at(
                line,
                "a time: 16:05:06, or seconds since 1970",
                AGAIN,
            ));
        };
        if words.len() < stamped.words + width {
            let expected = format!(
                "a time and {width} words, one under each heading, found {}",
                words.len()
            );
            return Err(NotUnderstood::at(line, expected, AGAIN));
        }
        let row = Row {
            line,
            headings: self.headings.len() - 1,
            words: words[stamped.words..].to_vec(),
        };
        let time = stamped.time;
        match self.reports.last_mut() {
            // Without a date of the banner's there is no time, and a report is what stands under one row of headings.
            Some(report) if time.is_some() && report.stamp.time == time => report.rows.push(row),
            Some(report)
                if time.is_none()
                    && report
                        .rows
                        .last()
                        .is_some_and(|it| it.headings == row.headings) =>
            {
                report.rows.push(row);
            }
            _ => self.reports.push(Report {
                stamp: Stamp { line, time },
                rows: vec![row],
            }),
        }
        Ok(())
    }

    /// The time that a line begins with: of the banner's day, or in seconds since 1970.
    fn time(&mut self, words: &[&str]) -> Option<Stamped> {
        let words = match words.split_first() {
            Some((&"#", rest)) => rest,
            _ => words,
        };
        if let Some(time) = time_of_day(words) {
            return Some(Stamped {
                time: self.days.as_mut().map(|days| days.at(time.ns)),
                words: time.words,
            });
        }
        let seconds: i64 = words.first()?.parse().ok()?;
        let is_epoch = (1_000_000_000..9_000_000_000).contains(&seconds);
        is_epoch.then_some(Stamped {
            time: Some(seconds * 1_000_000_000),
            words: 1,
        })
    }
}

/// The time at the start of a line, and how many words it took.
struct Stamped {
    time: Option<i64>,
    words: usize,
}

fn one(
    draft: &mut Draft,
    headings: &[&str],
    row: &Row<'_>,
    interval: Interval,
) -> Result<(), NotUnderstood> {
    let word = |of: &str| {
        let place = headings.iter().position(|heading| *heading == of)?;
        row.words.get(place).copied()
    };
    let Some(pid) = word("TGID")
        .or_else(|| word("PID"))
        .filter(|pid| *pid != "-")
    else {
        // A thread: its process has a line of its own.
        return Ok(());
    };
    let pid = number(pid, row.line, AGAIN)?;
    let command = row
        .words
        .get(headings.len() - 1)
        .copied()
        .unwrap_or_default();
    let process = process(pid as u32, command);
    for column in COLUMNS {
        let Some(word) = word(column.heading) else {
            continue;
        };
        let value = number(word, row.line, AGAIN)?;
        // What it may not read it prints as -1.
        if value < 0.0 {
            continue;
        }
        let cell = Cell {
            table: "process",
            column: column.column,
            source: column.heading,
            quality: Quality::Estimated,
        };
        let amount = value * column.scale;
        match column.is_rate {
            true => draft.grow(
                cell,
                &process,
                interval,
                amount * interval.length() / SECOND_NS,
            ),
            false => draft.put(
                cell,
                &process,
                interval.end,
                amount.min(9e18).round() as i64,
            ),
        }
    }
    Ok(())
}

/// A process by its number; of a command line the program alone is taken, without its folder.
pub(crate) fn process(pid: u32, command: &str) -> Entity {
    let program = command.split_whitespace().next().unwrap_or_default();
    let name = match program.strip_prefix('/') {
        Some(path) => path.rsplit('/').next().unwrap_or_default(),
        None => program,
    };
    Entity::new(EntityKind::Process, name, format!("pid:{pid}"))
}

fn notes(draft: &mut Draft, file: &File<'_>) {
    draft.note("pressure", sentence!("pressure.cpu_some_ns, io_some_ns and memory_some_ns are not in the file: pidstat does not read pressure"));
    draft.note(
        "cpu",
        sentence!(
            "cpu.user_ns and the other times of CPUs are not in the file: sar and iostat have them"
        ),
    );
    let has = |heading: &str| {
        file.headings
            .iter()
            .any(|headings| headings.contains(&heading))
    };
    if !has("%usr") {
        draft.note(
            "process",
            sentence!("process.user_ns and system_ns are not in the file: pidstat -u has them"),
        );
    }
    if !has("kB_rd/s") {
        draft.note(
            "process",
            sentence!(
                "process.read_bytes and write_bytes are not in the file: pidstat -d has them"
            ),
        );
    }
    draft.note(
        "process",
        sentence!("Processes without a line in an interval were taken to do nothing in it"),
    );
    if file.banner.day.is_some() {
        draft.note(
            "*",
            sentence!(
                "Times of the file were taken for UTC, and dates with strokes for month/day/year"
            ),
        );
    }
}
