//! A CSV that a monitoring script wrote: load averages and pressure, row by row.

use std::collections::{BTreeMap, BTreeSet};

use model::{Quality, sentence};

use crate::draft::{Cell, Draft, Interval, machine};
use crate::headings::{Field, by_place, named};
use crate::{Imported, NotUnderstood, wall_clock};

/// The time constant of avg10 (kernel/sched/psi.c).
const AVG10_NS: f64 = 10e9;
/// The kernel folds avg10 every 2 s: readings that lie closer say nothing more.
const FOLD_NS: i64 = 2_000_000_000;
const NS_PER_US: f64 = 1e3;
const DECIMALS: &str =
    "write it again under LC_ALL=C, with commas between fields and points in numbers";
const COLUMNS: &str =
    "give it a header line: time,load1,cpu_some_avg10,io_some_avg10,memory_some_avg10";

/// A row's line in the file, and its fields.
struct Line<'a> {
    number: usize,
    fields: Vec<&'a str>,
}

pub(crate) fn read(text: &str, period_ns: Option<i64>) -> Result<Imported, NotUnderstood> {
    let mut lines: Vec<Line<'_>> = lines(text);
    let is_header = lines
        .first()
        .is_some_and(|line| line.fields.iter().all(|it| wall_clock::parse(it).is_none()));
    let header = is_header.then(|| lines.remove(0));
    let width = header
        .as_ref()
        .or(lines.first())
        .map_or(0, |line| line.fields.len());
    if let Some(line) = lines.iter().find(|line| line.fields.len() != width) {
        let expected = format!("{width} fields as before, found {}", line.fields.len());
        return Err(NotUnderstood::at(line.number, expected, DECIMALS));
    }
    let twins = twins(&lines, width);
    let fields = match &header {
        Some(header) => named(&header.fields),
        None => by_place(width, period_ns.is_none(), &twins).ok_or_else(|| {
            NotUnderstood::at(
                1,
                "a header, or time, load average and avg10 of cpu, io and memory",
                COLUMNS,
            )
        })?,
    };
    let mut draft = Draft::default();
    if header.is_none() {
        draft.note("*", sentence!("The file has no header: its columns were taken for time, load average, and avg10 of cpu, io and memory."));
    }
    let fields = without_twins(fields, &twins, &mut draft);
    let times = times(&lines, &fields, period_ns, &mut draft)?;
    for (place, field) in fields.iter().enumerate() {
        column(&mut draft, &lines, &times, place, *field)?;
    }
    missing(&mut draft, &fields);
    draft.finish("monitor.csv")
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let lines = text.lines().enumerate();
    let told = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    told.map(|(index, line)| Line {
        number: index + 1,
        fields: line
            .split(',')
            .map(|field| field.trim().trim_matches('"'))
            .collect(),
    })
    .collect()
}

/// Pairs of columns that hold the same in every one of three rows or more, and not one and the same value throughout.
fn twins(lines: &[Line<'_>], width: usize) -> BTreeSet<(usize, usize)> {
    let varies = |place: usize| {
        lines
            .iter()
            .any(|it| it.fields[place] != lines[0].fields[place])
    };
    let same = |a: usize, b: usize| lines.iter().all(|it| it.fields[a] == it.fields[b]);
    // A script's columns, and not a matrix: pairs are many.
    let places = 0..width.min(64);
    let pairs = places
        .clone()
        .flat_map(|a| places.clone().skip(a + 1).map(move |b| (a, b)));
    pairs
        .filter(|(a, b)| lines.len() >= 3 && same(*a, *b) && varies(*a))
        .collect()
}

/// Of columns that hold the same the first is kept; the other is what the writer put in twice.
fn without_twins(
    mut fields: Vec<Field>,
    twins: &BTreeSet<(usize, usize)>,
    draft: &mut Draft,
) -> Vec<Field> {
    for (a, b) in twins {
        if let (Field::Avg10(of), Field::Avg10(_)) = (fields[*a], fields[*b]) {
            let (first, second) = (*a + 1, *b + 1);
            let name = of.trim_end_matches("_ns").replace('_', " ");
            let name = model::Sentence::from_iter([model::Part::Own(name.into())]);
            draft.note("*", sentence!("Columns {} and {} of the file hold the same numbers in every row: the writer put one column in twice. They were taken once, for {}.", first, second, name));
            fields[*b] = Field::Unknown;
        }
    }
    // One that stands twice with different numbers is nobody's.
    for place in 0..fields.len() {
        if fields[place] != Field::Unknown && fields[..place].contains(&fields[place]) {
            fields[place] = Field::Unknown;
            draft.note("*", sentence!("Column {} of the file has the heading of one before it, and other numbers: the first was taken.", place + 1));
        }
    }
    fields
}

fn times(
    lines: &[Line<'_>],
    fields: &[Field],
    period_ns: Option<i64>,
    draft: &mut Draft,
) -> Result<Vec<i64>, NotUnderstood> {
    let place = fields.iter().position(|field| *field == Field::Time);
    let Some(place) = place else {
        let period = period_ns.filter(|period| *period > 0).ok_or_else(|| {
            NotUnderstood::at(
                1,
                "a column with the time",
                "name it time, or say how far rows lie apart: --period 10s",
            )
        })?;
        draft.note("*", sentence!("The file has no times: rows were taken to lie a period apart, and the time of day is not known."));
        return Ok((0..lines.len() as i64)
            .map(|row| row.saturating_mul(period))
            .collect());
    };
    let mut times: Vec<i64> = Vec::new();
    for line in lines {
        let time = wall_clock::parse(line.fields[place]);
        let time = time.ok_or_else(|| {
            NotUnderstood::at(
                line.number,
                "a time: 2026-11-26T06:00:00Z, or seconds since 1970",
                "write it as date -Is or date +%s does",
            )
        })?;
        if times.last().is_some_and(|last| *last >= time) {
            return Err(NotUnderstood::at(
                line.number,
                "a later time than in the row before",
                "import the part before it and the part after it on their own",
            ));
        }
        times.push(time);
    }
    Ok(times)
}

fn column(
    draft: &mut Draft,
    lines: &[Line<'_>],
    times: &[i64],
    place: usize,
    field: Field,
) -> Result<(), NotUnderstood> {
    let numbers = || lines.iter().map(|line| number(line, place));
    match field {
        Field::Time | Field::Unknown => {}
        Field::Load(column) => {
            let source = "load average of the CSV";
            let cell = Cell {
                table: "load",
                column,
                source,
                quality: Quality::Sampled,
            };
            for (time, value) in times.iter().zip(numbers()) {
                draft.put(cell, &machine(), *time, (value? * 100.0).round() as i64);
            }
        }
        Field::Total(column) => {
            let source = "pressure total of the CSV, us";
            let cell = Cell {
                table: "pressure",
                column,
                source,
                quality: Quality::Sampled,
            };
            let mut highest = 0;
            for (time, value) in times.iter().zip(numbers()) {
                highest = highest.max((value? * NS_PER_US) as i64);
                draft.put(cell, &machine(), *time, highest);
            }
        }
        Field::Avg10(column) => {
            let values = numbers().collect::<Result<Vec<f64>, _>>()?;
            let cell = Cell {
                table: "pressure",
                column,
                source: "avg10 of the CSV, the mean between two rows worked out from both",
                quality: Quality::Estimated,
            };
            for stalled in from_avg10(times, &values) {
                let amount = stalled.interval.length() * stalled.part;
                draft.grow(cell, &machine(), stalled.interval, amount);
            }
        }
    }
    Ok(())
}

/// The part of an interval that was stalled.
struct Stalled {
    interval: Interval,
    part: f64,
}

/// An exponential average a1 that was a0 before is a0 k + x (1 - k) with k = exp(-dt / 10 s), where x is the mean between,
/// if it was steady.
fn from_avg10(times: &[i64], percent: &[f64]) -> Vec<Stalled> {
    let mut readings = times.iter().copied().zip(percent.iter().copied());
    let Some((mut since, mut before)) = readings.next() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (time, now) in readings {
        let interval = Interval {
            start: since,
            end: time,
        };
        if interval.end - interval.start < FOLD_NS {
            continue;
        }
        let kept = (-interval.length() / AVG10_NS).exp();
        let mean = ((now - before * kept) / (1.0 - kept)).clamp(0.0, 100.0);
        all.push(Stalled {
            interval,
            part: mean / 100.0,
        });
        (since, before) = (time, now);
    }
    all
}

fn number(line: &Line<'_>, place: usize) -> Result<f64, NotUnderstood> {
    let text = line.fields[place].trim_end_matches('%');
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|it| it.is_finite() && (0.0..9e15).contains(it));
    number.ok_or_else(|| {
        NotUnderstood::at(
            line.number,
            format!("a number in field {}", place + 1),
            DECIMALS,
        )
    })
}

/// Says which columns of pressure the file does not have.
fn missing(draft: &mut Draft, fields: &[Field]) {
    let named: BTreeMap<&str, &'static str> = [
        ("cpu_some_ns", "pressure.cpu_some_ns is not in the file"),
        ("io_some_ns", "pressure.io_some_ns is not in the file"),
        (
            "memory_some_ns",
            "pressure.memory_some_ns is not in the file",
        ),
    ]
    .into();
    for (column, words) in named {
        let is_there =
            |field: &Field| matches!(field, Field::Avg10(of) | Field::Total(of) if *of == column);
        if !fields.iter().any(is_there) {
            draft.note("*", words.into());
        }
    }
}
