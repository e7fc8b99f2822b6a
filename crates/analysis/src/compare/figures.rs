//! The figures that are compared, in the order in which they are shown.

use model::{ComparedFigure, FigureFamily, FigureUnit, LedgerClass};

use super::measured::{ALONE, CPU, Measured};
use super::{Group, differences, in_turns, used};
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

impl Declared {
    /// In words; totals are divided among requests, or seconds where these are not known.
    fn label(&self, per_request: bool) -> String {
        match (self.is_total, per_request) {
            (true, true) => format!("{} per request", self.label),
            (true, false) => format!("{} per second", self.label),
            (false, _) => self.label.clone(),
        }
    }

    /// What it is of a run.
    fn value(&self, run: &Measured, per_request: bool) -> Option<f64> {
        if !self.is_total {
            return run.values.get(&self.key).copied();
        }
        let total = run.totals.get(self.key.as_str())?;
        let seconds = run.run.window.seconds();
        let whole = if per_request { run.requests? } else { seconds };
        (whole > 0.0).then(|| total / whole)
    }
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

const USED: [Row; 6] = [
    (used::CPUS, "CPUs, busy", Share, None),
    (used::QUOTA, "CPU quota, used", Share, None),
    (used::THREAD, "busiest thread, busy", Share, None),
    (used::DISK, "busiest disk, busy", Share, None),
    (used::MEMORY, "memory in use", Share, None),
    (used::WAITING, "threads waiting for a CPU", Number, None),
];

const TOTALS: [Row; 9] = [
    (CPU, "CPU time of both", Nanoseconds, WORSE),
    ("cpu.target", "server's CPU time", Nanoseconds, WORSE),
    ("cpu.generator", "generator's CPU time", Nanoseconds, None),
    ("disk.read", "read from disks", Bytes, None),
    ("disk.written", "written to disks", Bytes, None),
    ("disk.operations", "disk operations", Number, None),
    ("disk.flushes", "disk flushes", Number, None),
    (
        used::CPU_OF_MACHINE,
        "machine's CPU time",
        Nanoseconds,
        None,
    ),
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
    all.extend(USED.map(of(FigureFamily::Resource, false)));
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

/// Whether totals can be divided among the requests of every run.
fn are_counted<'a>(mut runs: impl Iterator<Item = &'a Measured>) -> bool {
    runs.all(|it| it.requests.is_some_and(|it| it > 0.0))
}

/// A figure in each run of each configuration.
pub(crate) struct Figure {
    pub(crate) key: String,
    pub(crate) label: String,
    pub(crate) family: FigureFamily,
    pub(crate) unit: FigureUnit,
    /// By configuration, the values of the runs that have it.
    pub(crate) values: Vec<Vec<f64>>,
}

/// Every figure that a run has and that is anywhere above 0.
pub(crate) fn of_each(configurations: &[&[Measured]]) -> Vec<Figure> {
    let per_request = are_counted(configurations.iter().copied().flatten());
    let of = |declared: Declared| {
        let value = |run: &Measured| declared.value(run, per_request);
        let runs = configurations.iter();
        let values: Vec<Vec<f64>> = runs
            .map(|runs| runs.iter().filter_map(value).collect())
            .collect();
        let is_any = values.iter().flatten().any(|it| *it != 0.0);
        is_any.then(|| Figure {
            label: declared.label(per_request),
            family: declared.family,
            unit: declared.unit,
            values,
            key: declared.key,
        })
    };
    declared().into_iter().filter_map(of).collect()
}

/// Every figure that a run has.
pub(super) fn rows(groups: &[Group]) -> Vec<ComparedFigure> {
    let per_request = are_counted(groups.iter().flat_map(|it| &it.runs));
    let rows = declared().into_iter();
    rows.filter_map(|it| row(groups, it, per_request)).collect()
}

fn row(groups: &[Group], declared: Declared, per_request: bool) -> Option<ComparedFigure> {
    let label = declared.label(per_request);
    let value = |run: &Measured| declared.value(run, per_request);
    let values: Vec<Option<f64>> = groups
        .iter()
        .map(|group| median(&group.runs.iter().filter_map(value).collect::<Vec<f64>>()))
        .collect();
    // A class in which nobody ever was, or a column that nobody recorded, is no row.
    if values.iter().all(|it| it.is_none_or(|it| it == 0.0)) {
        return None;
    }
    let (baseline, others) = groups.split_first()?;
    let key = declared.key.as_str();
    let difference = |other| match key {
        ALONE => in_turns::alone(baseline, other),
        CPU => {
            let plain = differences::between(baseline, other, key, value)?;
            Some(in_turns::cpu(plain, (baseline, other), value))
        }
        _ => differences::between(baseline, other, key, value),
    };
    Some(ComparedFigure {
        noise: differences::noise(groups, value),
        differences: others.iter().map(difference).collect(),
        values,
        label,
        family: declared.family,
        unit: declared.unit,
        more_is_better: declared.more_is_better,
        key: declared.key,
    })
}
