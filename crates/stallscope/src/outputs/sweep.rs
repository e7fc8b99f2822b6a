//! Runs over a parameter, as a person reads them in a terminal.

use analysis::sweep::THROUGHPUT_OF_EACH;
use analysis::{count, duration, rate};
use model::{FigureFamily, FigureUnit, PointFigure, Sweep, SweepPoint};

use super::comparison::amount;
use super::disks;
use super::layout::{cut, labelled, wrap};
use super::{Detail, harmless};

/// A wait that is less of a request's time than this at every point is shown by `--verbose` alone.
const LEAST_WAIT: f64 = 0.05;

/// The sweep, ending in a line end.
pub(super) fn text(sweep: &Sweep, width: usize, detail: Detail) -> String {
    let mut text = String::new();
    for answer in &sweep.answers {
        wrap(answer, width)
            .iter()
            .for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text.push_str(&format!("\n{}", load(sweep, width)));
    text.push_str(&waits(sweep, width, detail));
    text.push_str(&on_disk(sweep, width));
    text.push('\n');
    text.push_str(&labelled("Swept", &made(sweep), width));
    for run in &sweep.voided {
        let said = format!(
            "{} ({}) does not count: {}",
            run.name, run.group, run.reason
        );
        text.push_str(&labelled("Voided", &said, width));
    }
    for caveat in &sweep.caveats {
        text.push_str(&labelled("Caveat", caveat, width));
    }
    let text = harmless(&text);
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn made(sweep: &Sweep) -> String {
    let runs: usize = sweep.points.iter().map(|it| it.runs.len()).sum();
    format!(
        "{}; {} of {}, {} together (seed {})",
        sweep.command,
        count(u32::try_from(runs).unwrap_or(u32::MAX), "run"),
        count(
            u32::try_from(sweep.points.len()).unwrap_or(u32::MAX),
            "configuration"
        ),
        duration(sweep.spent_s * 1e9),
        sweep.seed
    )
}

/// A column of the table of points.
pub(super) struct Shown {
    pub(super) head: String,
    pub(super) cells: Vec<String>,
    /// Names stand on the left, numbers on the right.
    pub(super) is_name: bool,
}

/// Throughput, latency, pressure and the limit, a line for each point.
fn load(sweep: &Sweep, width: usize) -> String {
    let mut columns: Vec<Shown> = parameters(sweep);
    columns.push(throughput(sweep));
    let keys = [
        (THROUGHPUT_OF_EACH, "each"),
        ("latency", "mean"),
        ("latency.p99", "p99"),
        ("pressure.cpu_some", "CPU some"),
        ("pressure.io_some", "I/O some"),
        ("pressure.memory_some", "memory some"),
    ];
    for (key, head) in keys {
        let says = |it: &PointFigure| it.unit != FigureUnit::Share || it.value >= 0.01;
        let points = sweep.points.iter();
        if points.filter_map(|it| it.figure(key)).any(says) {
            columns.push(Shown {
                head: head.to_owned(),
                cells: sweep.points.iter().map(|it| cell(it, key)).collect(),
                is_name: false,
            });
        }
    }
    let limit = |it: &SweepPoint| {
        it.limit.as_ref().map_or("-".to_owned(), |limit| {
            format!("{} ({})", limit.cause, limit.entity.name)
        })
    };
    columns.push(Shown {
        head: "limit".to_owned(),
        cells: sweep.points.iter().map(limit).collect(),
        is_name: true,
    });
    lines(&columns, sweep.points.len(), width)
}

fn parameters(sweep: &Sweep) -> Vec<Shown> {
    let parameters = sweep.parameters.iter().enumerate();
    let column = |(place, parameter): (usize, &model::SweptParameter)| Shown {
        head: parameter.name.clone(),
        cells: sweep
            .points
            .iter()
            .map(|it| it.values.get(place).cloned().unwrap_or_default())
            .collect(),
        is_name: false,
    };
    parameters.map(column).collect()
}

fn throughput(sweep: &Sweep) -> Shown {
    let mut runs = sweep.points.iter().flat_map(|it| &it.runs);
    let unit = runs.next().map_or("", |it| it.rate_unit.as_str());
    let shown = |it: &SweepPoint| match it.figure("throughput") {
        Some(figure) => match figure.interval {
            Some(interval) => format!(
                "{} ({} to {})",
                rate(figure.value),
                rate(interval.low),
                rate(interval.high)
            ),
            None => rate(figure.value),
        },
        None => "-".to_owned(),
    };
    let is_known = |it: &SweepPoint| {
        it.figure("throughput")
            .is_some_and(|it| it.interval.is_some())
    };
    let interval = match sweep.points.iter().any(is_known) {
        true => " (95 % interval)",
        false => "",
    };
    Shown {
        head: format!("{unit}{interval}"),
        cells: sweep.points.iter().map(shown).collect(),
        is_name: false,
    }
}

fn cell(point: &SweepPoint, key: &str) -> String {
    point
        .figure(key)
        .map_or("-".to_owned(), |it| amount(it.value, it.unit))
}

/// The columns side by side, `rows` of each.
pub(super) fn lines(columns: &[Shown], rows: usize, width: usize) -> String {
    let widest = |it: &Shown| {
        let cells = it.cells.iter().map(|it| it.chars().count());
        cells.max().unwrap_or(0).max(it.head.chars().count())
    };
    let line = |of: &dyn Fn(&Shown) -> String| {
        let mut line = String::new();
        for column in columns {
            let wide = widest(column);
            let shown = of(column);
            line.push_str(&match column.is_name {
                true => format!("  {shown}"),
                false => format!("  {shown:>wide$}"),
            });
        }
        // A name at the end is cut rather than wrapped.
        format!("{}\n", cut(line.trim_end(), width))
    };
    let mut text = line(&|it| it.head.clone());
    for row in 0..rows {
        text.push_str(&line(&|it| it.cells.get(row).cloned().unwrap_or_default()));
    }
    text
}

/// Where a request's time goes, a line for each wait class and a column for each point.
fn waits(sweep: &Sweep, width: usize, detail: Detail) -> String {
    let known = || sweep.points.iter().flat_map(|it| &it.figures);
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for figure in known().filter(|it| it.family == FigureFamily::Wait) {
        if keys.iter().all(|it| it.0 != figure.key) && says(sweep, &figure.key, detail) {
            keys.push((&figure.key, &figure.label));
        }
    }
    let [parameter, others @ ..] = sweep.parameters.as_slice() else {
        return String::new();
    };
    if keys.is_empty() {
        return String::new();
    }
    let label = keys
        .iter()
        .map(|it| it.1.chars().count())
        .max()
        .unwrap_or(0);
    const NUMBER: usize = 10;
    let head = |it: &SweepPoint| it.values.join(" ");
    let heads = sweep.points.iter().map(|it| head(it).chars().count() + 2);
    let column = heads.fold(NUMBER, usize::max);
    let most = (width.saturating_sub(label + 2) / column).max(1);
    let mut text = "\n  Where a request's time goes\n".to_owned();
    for points in sweep.points.chunks(most) {
        let name = match others.is_empty() {
            true => parameter.name.as_str(),
            false => "",
        };
        text.push_str(&format!("  {name:<label$}"));
        for point in points {
            text.push_str(&format!("{:>column$}", head(point)));
        }
        text.push('\n');
        for (key, name) in &keys {
            text.push_str(&format!("  {name:<label$}"));
            for point in points {
                text.push_str(&format!("{:>column$}", cell(point, key)));
            }
            text.push('\n');
        }
    }
    text
}

/// What disks did in the first run of each configuration.
fn on_disk(sweep: &Sweep, width: usize) -> String {
    let of = |point: &SweepPoint| {
        let said = disks_of(point);
        match said.is_empty() {
            true => String::new(),
            false => labelled(&named(sweep, point), &said, width),
        }
    };
    let said: String = sweep.points.iter().map(of).collect();
    match said.is_empty() {
        true => said,
        false => format!("\n  What disks did\n{said}"),
    }
}

/// What disks did in a point's first run; empty where that was not recorded.
pub(super) fn disks_of(point: &SweepPoint) -> String {
    let first = point.runs.first();
    first.map_or(String::new(), |it| disks::in_short(&it.disks))
}

/// A configuration by its values: `clients=4 quota=0.5`.
fn named(sweep: &Sweep, point: &SweepPoint) -> String {
    let values = sweep.parameters.iter().zip(&point.values);
    let values = values.map(|(parameter, value)| format!("{}={value}", parameter.name));
    values.collect::<Vec<_>>().join(" ")
}

/// Whether a wait tells a reader something anywhere.
fn says(sweep: &Sweep, key: &str, detail: Detail) -> bool {
    let share = |it: &SweepPoint| {
        let whole = it.figure("latency")?.value;
        Some(it.figure(key)?.value / whole)
    };
    let least = match detail {
        Detail::Full => 0.0,
        _ => LEAST_WAIT,
    };
    sweep.points.iter().filter_map(share).any(|it| it > least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep() -> Sweep {
        let json = include_str!("../../fixtures/sweeps/clients.json");
        serde_json::from_str(json).expect("it is a sweep")
    }

    #[test]
    fn what_a_person_reads() {
        let text = text(&sweep(), 100, Detail::Short);
        expect_test::expect_file!["../../fixtures/sweeps/clients.txt"].assert_eq(&text);
        let longest = text.lines().map(|it| it.chars().count()).max();
        assert!(longest.is_some_and(|it| it <= 100), "{text}");
    }
}
