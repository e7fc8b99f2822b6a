//! What vmstat prints: a line per interval, its times with `-t`.

use model::{Quality, sentence};

use crate::draft::{Cell, Draft, Interval, all_cpus, machine};
use crate::report::{Stamp, between, instants, number};
use crate::{Imported, NotUnderstood, wall_clock};

const AGAIN: &str = "make it again: LC_ALL=C vmstat -t 1";
const KIB: f64 = 1024.0;
const SECOND: f64 = 1e9;
/// Percent of an interval, as ns per s.
const PERCENT: f64 = 1e7;
/// vmstat counts what it swaps in KiB, the table in pages, and no file says how large these are.
const PAGE_KIB: f64 = 4.0;

/// A heading's column: one of a gauge, or of a counter that grows by so many per second.
struct Column {
    heading: &'static str,
    table: &'static str,
    column: &'static str,
    /// What the file calls it, and what else is in it.
    source: &'static str,
    is_rate: bool,
    scale: f64,
}

const fn gauge(
    heading: &'static str,
    table: &'static str,
    column: &'static str,
    source: &'static str,
    scale: f64,
) -> Column {
    Column {
        heading,
        table,
        column,
        source,
        is_rate: false,
        scale,
    }
}

const fn rate(
    heading: &'static str,
    table: &'static str,
    column: &'static str,
    source: &'static str,
    scale: f64,
) -> Column {
    Column {
        is_rate: true,
        ..gauge(heading, table, column, source, scale)
    }
}

const COLUMNS: &[Column] = &[
    gauge("r", "load", "running", "vmstat r", 1.0),
    gauge("b", "load", "blocked", "vmstat b", 1.0),
    gauge("free", "memory", "free_bytes", "vmstat free", KIB),
    gauge("buff", "memory", "buffers_bytes", "vmstat buff", KIB),
    gauge(
        "cache",
        "memory",
        "cached_bytes",
        "vmstat cache, with kernel caches that can be reclaimed",
        KIB,
    ),
    rate(
        "si",
        "paging",
        "swap_in",
        "vmstat si, pages of 4 KiB",
        1.0 / PAGE_KIB,
    ),
    rate(
        "so",
        "paging",
        "swap_out",
        "vmstat so, pages of 4 KiB",
        1.0 / PAGE_KIB,
    ),
    rate("bi", "paging", "page_in_bytes", "vmstat bi", KIB),
    rate("bo", "paging", "page_out_bytes", "vmstat bo", KIB),
    rate("cs", "load", "switches", "vmstat cs", 1.0),
    rate("us", "cpu", "user_ns", "vmstat us, with nice", PERCENT),
    rate(
        "sy",
        "cpu",
        "system_ns",
        "vmstat sy, with interrupts",
        PERCENT,
    ),
    rate("id", "cpu", "idle_ns", "vmstat id", PERCENT),
    rate("wa", "cpu", "iowait_ns", "vmstat wa", PERCENT),
    rate("st", "cpu", "steal_ns", "vmstat st", PERCENT),
    rate("gu", "cpu", "guest_ns", "vmstat gu", PERCENT),
];

/// A line of numbers.
struct Line<'a> {
    stamp: Stamp,
    headings: Vec<&'a str>,
    words: Vec<&'a str>,
}

pub(crate) fn read(text: &str, period_ns: Option<i64>) -> Result<Imported, NotUnderstood> {
    let lines = lines(text)?;
    let stamps: Vec<Stamp> = lines.iter().map(|line| line.stamp).collect();
    let times = instants(&stamps, period_ns, AGAIN)?;
    let mut draft = Draft::default();
    for (index, line) in lines.iter().enumerate() {
        // The first line is the mean since boot: it says when the second began.
        let Some(interval) = between(&times, index) else {
            continue;
        };
        one(&mut draft, line, interval)?;
    }
    notes(&mut draft, text);
    draft.finish("vmstat")
}

/// Whether these are its headings.
pub(crate) fn is_headings(words: &[&str]) -> bool {
    words.starts_with(&["r", "b", "swpd", "free"])
}

fn lines(text: &str) -> Result<Vec<Line<'_>>, NotUnderstood> {
    let mut headings: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let words: Vec<&str> = line.split_whitespace().collect();
        if is_headings(&words) {
            headings = words;
        } else if words.is_empty() || line.trim_start_matches('-').starts_with("procs") {
            // Headings over the headings.
        } else if headings.is_empty() {
            return Err(NotUnderstood::at(
                number,
                "the headings of vmstat: r b swpd free",
                AGAIN,
            ));
        } else {
            lines.push(timed(number, &headings, words)?);
        }
    }
    Ok(lines)
}

/// A line without its time: a date and a time of day stand under the name of the zone.
fn timed<'a>(
    line: usize,
    headings: &[&'a str],
    mut words: Vec<&'a str>,
) -> Result<Line<'a>, NotUnderstood> {
    let mut headings = headings.to_vec();
    let mut time = None;
    if words.len() > 2 && words.last().is_some_and(|word| word.contains(':')) {
        let of_day = words.pop().unwrap_or_default();
        let date = words.pop().unwrap_or_default();
        time = wall_clock::parse(&format!("{date}T{of_day}"));
        headings.truncate(words.len());
        if time.is_none() {
            return Err(NotUnderstood::at(
                line,
                "a date and a time as vmstat -t prints them",
                AGAIN,
            ));
        }
    }
    if headings.len() != words.len() {
        let expected = format!(
            "{} numbers, one under each heading, found {}",
            headings.len(),
            words.len()
        );
        return Err(NotUnderstood::at(line, expected, AGAIN));
    }
    Ok(Line {
        stamp: Stamp { line, time },
        headings,
        words,
    })
}

fn one(draft: &mut Draft, line: &Line<'_>, interval: Interval) -> Result<(), NotUnderstood> {
    for (heading, word) in line.headings.iter().zip(&line.words) {
        let value = number(word, line.stamp.line, AGAIN)?;
        let Some(column) = COLUMNS.iter().find(|it| it.heading == *heading) else {
            continue;
        };
        let cell = Cell {
            table: column.table,
            column: column.column,
            source: column.source,
            quality: match column.is_rate {
                true => Quality::Estimated,
                false => Quality::Sampled,
            },
        };
        let entity = match column.table {
            "cpu" => all_cpus(),
            _ => machine(),
        };
        let amount = value * column.scale;
        match column.is_rate {
            true => draft.grow(cell, &entity, interval, amount * interval.length() / SECOND),
            false if (0.0..9e18).contains(&amount) => {
                draft.put(cell, &entity, interval.end, amount.round() as i64);
            }
            false => {}
        }
    }
    Ok(())
}

fn notes(draft: &mut Draft, text: &str) {
    draft.note("pressure", sentence!("pressure.cpu_some_ns, io_some_ns and memory_some_ns are not in the file: vmstat does not read pressure"));
    draft.note(
        "disk",
        sentence!(
            "disk.busy_ns and the other columns of disks are not in the file: iostat -x has them"
        ),
    );
    draft.note(
        "cpu",
        sentence!("The file has the mean of all CPUs: the times of each CPU are not in the file"),
    );
    draft.note(
        "memory",
        sentence!("Sizes were taken for KiB, as vmstat prints them without -S"),
    );
    let mut headings = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let zone = headings.find(|words| is_headings(words));
    let zone = zone
        .and_then(|words| words.last().copied())
        .unwrap_or("UTC");
    if !["UTC", "GMT"].contains(&zone) && COLUMNS.iter().all(|it| it.heading != zone) {
        draft.note(
            "*",
            sentence!("The file has local times, which were taken for UTC"),
        );
    }
}
