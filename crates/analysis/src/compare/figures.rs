//! The figures that are compared, in the order in which they are shown.

use model::{ComparedFigure, FigureFamily, FigureUnit, LedgerClass};

use super::measured::{ALONE, CPU, Measured};
use super::{Group, differences, in_turns};
use crate::account;
use crate::stats::median;

/// A figure: its key, what it is called, its unit, and whether more of it is better.
struct Declared {
    key: String,
    label: String,
    family: FigureFamily,
    unit: FigureUnit,
    more_is_better: Option<bool>,
    /// Whether it is a total, to be divided among requests.
    is_total: bool,
}

const BETTER: Option<bool> = Some(true);
const WORSE: Option<bool> = Some(false);

type Row = (&'static str, &'static str, FigureUnit, Option<bool>);

use FigureUnit::{Bytes, Nanoseconds, Number, Rate, Share};

const LOAD: [Row; 10] = [
    ("throughput", "throughput", Rate, BETTER),
    (ALONE, "throughput, as if alone", Rate, BETTER),
    ("latency", "latency, mean", Nanoseconds, WORSE),
    ("latency.p50", "latency, p50", Nanoseconds, WORSE),
    ("latency.p99", "latency, p99", Nanoseconds, WORSE),
    ("latency.max", "latency, max", Nanoseconds, WORSE),
    ("lag", "lag behind the schedule", Nanoseconds, WORSE),
    ("failed", "failed", Rate, WORSE),
    ("skipped", "skipped", Rate, WORSE),
    ("retried", "retried", Rate, WORSE),
];

const PRESSURE: [Row; 8] = [
    ("pressure.cpu_some", "CPU pressure (some)", Share, None),
    ("pressure.cpu_full", "CPU pressure (full)", Share, None),
    ("pressure.io_some", "I/O pressure (some)", Share, None),
    ("pressure.io_full", "I/O pressure (full)", Share, None),
    (
        "pressure.memory_some",
        "memory pressure (some)",
        Share,
        None,
    ),
    (
        "pressure.memory_full",
        "memory pressure (full)",
        Share,
        None,
    ),
    ("pressure.irq_full", "IRQ pressure (full)", Share, None),
    ("load1", "load average, 1 min", Number, None),
];

const TOTALS: [Row; 8] = [
    (CPU, "CPU time of both", Nanoseconds, WORSE),
    ("cpu.target", "server's CPU time", Nanoseconds, WORSE),
    ("cpu.generator", "generator's CPU time", Nanoseconds, None),
    ("disk.read", "read from disks", Bytes, None),
    ("disk.written", "written to disks", Bytes, None),
    ("disk.operations", "disk operations", Number, None),
    ("disk.flushes", "disk flushes", Number, None),
    ("network.sent", "sent over networks", Bytes, None),
];

fn declared() -> Vec<Declared> {
    let of = |family, is_total| {
        move |(key, label, unit, more_is_better): Row| Declared {
            key: key.to_owned(),
            label: label.to_owned(),
            family,
            unit,
            more_is_better,
            is_total,
        }
    };
    let waits = LedgerClass::ALL.map(|class| Declared {
        key: format!("wait.{}", class.word()),
        label: label(class).to_owned(),
        family: FigureFamily::Wait,
        unit: Nanoseconds,
        more_is_better: WORSE,
        is_total: false,
    });
    let mut all: Vec<Declared> = LOAD.map(of(FigureFamily::Load, false)).into();
    all.extend(waits);
    all.extend(PRESSURE.map(of(FigureFamily::Pressure, false)));
    all.extend(TOTALS.map(of(FigureFamily::Resource, true)));
    all
}

/// As the account of one recording calls it.
fn label(class: LedgerClass) -> &'static str {
    match class {
        LedgerClass::Outside => account::OUTSIDE,
        _ => class.label(),
    }
}

/// Every figure that a run has.
pub(super) fn rows(groups: &[Group]) -> Vec<ComparedFigure> {
    let mut runs = groups.iter().flat_map(|it| &it.runs);
    let per_request = runs.all(|it| it.requests.is_some_and(|it| it > 0.0));
    let rows = declared().into_iter();
    rows.filter_map(|it| row(groups, it, per_request)).collect()
}

fn row(groups: &[Group], declared: Declared, per_request: bool) -> Option<ComparedFigure> {
    let Declared {
        key,
        family,
        unit,
        more_is_better,
        is_total,
        ..
    } = declared;
    let value = |run: &Measured| match is_total {
        false => run.values.get(&key).copied(),
        true => {
            let total = run.totals.get(key.as_str())?;
            let seconds = run.run.window.seconds();
            let whole = if per_request { run.requests? } else { seconds };
            (whole > 0.0).then(|| total / whole)
        }
    };
    let values: Vec<Option<f64>> = groups
        .iter()
        .map(|group| median(&group.runs.iter().filter_map(value).collect::<Vec<f64>>()))
        .collect();
    // A class in which nobody ever was, or a column that nobody recorded, is no row.
    if values.iter().all(|it| it.is_none_or(|it| it == 0.0)) {
        return None;
    }
    let (baseline, others) = groups.split_first()?;
    let label = match (is_total, per_request) {
        (true, true) => format!("{} per request", declared.label),
        (true, false) => format!("{} per second", declared.label),
        (false, _) => declared.label,
    };
    let difference = |other| match key.as_str() {
        ALONE => in_turns::alone(baseline, other),
        CPU => {
            let plain = differences::between(baseline, other, &key, value)?;
            Some(in_turns::cpu(plain, (baseline, other), value))
        }
        _ => differences::between(baseline, other, &key, value),
    };
    Some(ComparedFigure {
        label,
        family,
        unit,
        more_is_better,
        noise: differences::noise(groups, value),
        differences: others.iter().map(difference).collect(),
        values,
        key,
    })
}
