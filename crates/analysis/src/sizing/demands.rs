//! What a request needs of each resource, and how that depends on the load.

use model::{
    DemandReport, FigureUnit, Interval, PointFigure, ResourceDemand, ScalingEstimate,
    SizingEstimate, Sweep, SweepPoint,
};

use super::axes::{Axes, named};
use super::measured::estimate;
use crate::compare::used;
use crate::scaling::{BusyPoint, BusyRun, service_demand};

/// Those that are figures for a request already.
const KEYS: [&str; 7] = [
    "cpu.target",
    "cpu.generator",
    used::CPU_OF_MACHINE,
    "disk.read",
    "disk.written",
    "disk.operations",
    "network.sent",
];

/// Less than this at every configuration is no demand: bytes or ns for a request.
const LEAST: f64 = 0.5;
/// The same of operations.
const LEAST_NUMBER: f64 = 0.01;

/// What a request needs, a row for each resource that any configuration used.
pub(super) fn demands(sweep: &Sweep, axes: &Axes) -> Vec<ResourceDemand> {
    let mut demands: Vec<ResourceDemand> = KEYS
        .iter()
        .filter_map(|key| demand(sweep, key, &of_request))
        .collect();
    demands.extend(demand(sweep, used::DISK, &disk_time));
    for demand in &mut demands {
        if demand.key == used::CPU_OF_MACHINE {
            demand.courses = courses(sweep, axes);
        }
    }
    demands
}

type OfRequest<'a> = &'a dyn Fn(&SweepPoint, &PointFigure) -> Option<SizingEstimate>;

fn demand(sweep: &Sweep, key: &str, of: OfRequest<'_>) -> Option<ResourceDemand> {
    let known = sweep.points.iter().filter_map(|point| {
        let figure = point.figure(key)?;
        Some((point, figure, of(point, figure)?))
    });
    let known: Vec<(&SweepPoint, &PointFigure, SizingEstimate)> = known.collect();
    let by_value = |one: &&(_, _, SizingEstimate), other: &&(_, _, SizingEstimate)| {
        one.2.value.total_cmp(&other.2.value)
    };
    let least = known.iter().min_by(by_value)?;
    let most = known.iter().max_by(by_value)?;
    let (label, unit) = match key {
        used::DISK => ("busy time of the busiest disk", FigureUnit::Nanoseconds),
        _ => (most.1.label.trim_end_matches(" per request"), most.1.unit),
    };
    let least_shown = match unit {
        FigureUnit::Number => LEAST_NUMBER,
        _ => LEAST,
    };
    (most.2.value > least_shown).then(|| ResourceDemand {
        key: key.to_owned(),
        label: label.to_owned(),
        unit,
        least: least.2,
        least_at: least.0.values.clone(),
        most: most.2,
        most_at: most.0.values.clone(),
        courses: Vec::new(),
    })
}

fn of_request(_: &SweepPoint, figure: &PointFigure) -> Option<SizingEstimate> {
    // Where requests were not counted in all runs, figures are for a second.
    figure
        .label
        .ends_with("per request")
        .then_some(SizingEstimate {
            value: figure.value,
            interval: figure.interval,
        })
}

/// Utilisation law: busy time of a request = busy part / throughput.
fn disk_time(point: &SweepPoint, figure: &PointFigure) -> Option<SizingEstimate> {
    let rate = point.figure("throughput")?.value;
    let time = |busy: f64| busy / rate * 1e9;
    (rate > 0.0).then(|| SizingEstimate {
        value: time(figure.value),
        interval: figure.interval.map(|it| Interval {
            low: time(it.low),
            high: time(it.high),
        }),
    })
}

/// How the demand for CPUs depends on the load, a sentence for each configuration at three loads or more.
fn courses(sweep: &Sweep, axes: &Axes) -> Vec<String> {
    let mut seen: Vec<Vec<String>> = Vec::new();
    for point in &sweep.points {
        let own = axes.without_load(&point.values);
        if axes.load.is_some() && !seen.contains(&own) {
            seen.push(own);
        }
    }
    let said = seen.iter().filter_map(|own| {
        let points = at_loads(sweep, axes, own);
        let report = of_cpus(&points)?;
        let with = fixed(sweep, axes, points.first()?.1);
        Some(format!("{with}{}", report.answer))
    });
    said.collect()
}

/// The demand for CPUs by the loads of one configuration.
fn of_cpus(points: &[(f64, &SweepPoint)]) -> Option<DemandReport> {
    let (_, first) = points.first()?;
    let busy: Option<Vec<BusyPoint>> = points.iter().map(|(load, it)| busy(*load, it)).collect();
    service_demand(&busy?, cpus(first)?).ok()
}

/// The throughput at which the CPUs of a configuration are full, by its loads.
pub(super) fn full_at(points: &[(f64, &SweepPoint)]) -> Option<ScalingEstimate> {
    of_cpus(points)?.full_at
}

/// `With nodes=3: `; nothing where the load is all that differs.
fn fixed(sweep: &Sweep, axes: &Axes, point: &SweepPoint) -> String {
    let mut others = sweep.clone();
    let mut values = point.values.clone();
    if let Some(load) = axes.load {
        others.parameters.remove(load);
        values.remove(load);
    }
    match values.is_empty() {
        true => String::new(),
        false => format!("With {}: ", named(&others, &values)),
    }
}

/// The points of a configuration, from the lowest load on.
pub(super) fn at_loads<'a>(
    sweep: &'a Sweep,
    axes: &Axes,
    own: &[String],
) -> Vec<(f64, &'a SweepPoint)> {
    let points = sweep
        .points
        .iter()
        .filter(|it| axes.without_load(&it.values) == own);
    let mut points: Vec<(f64, &SweepPoint)> = points
        .filter_map(|it| Some((axes.load_of(&it.values)?, it)))
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

fn cpus(point: &SweepPoint) -> Option<f64> {
    point.setting.as_ref().map(|it| it.cpus)
}

/// CPUs that were busy in each run.
fn busy(load: f64, point: &SweepPoint) -> Option<BusyPoint> {
    let cpus = cpus(point)?;
    let rates = &point.figure("throughput")?.of_runs;
    let shares = &point.figure(used::CPUS)?.of_runs;
    let runs = rates.iter().zip(shares).map(|(rate, share)| BusyRun {
        throughput: *rate,
        busy: share * cpus,
    });
    let runs: Vec<BusyRun> = runs.collect();
    (!runs.is_empty()).then_some(BusyPoint { load, runs })
}

/// CPU time of everybody on the machine for a request, s.
pub(super) fn cpu_of_request_s(point: &SweepPoint) -> Option<f64> {
    let figure = point.figure(used::CPU_OF_MACHINE)?;
    let time = of_request(point, figure)?;
    Some(time.value / 1e9).filter(|it| *it > 0.0)
}

/// Throughput of a point with its interval.
pub(super) fn throughput(point: &SweepPoint) -> Option<SizingEstimate> {
    estimate(point, "throughput").filter(|it| it.value > 0.0)
}

/// The part of the machine's CPU time that neither the server nor the load generator had.
pub(super) fn others_part(point: &SweepPoint) -> Option<f64> {
    let all = point.figure(used::CPU_OF_MACHINE)?.value;
    let own = point.figure("cpu.both")?.value;
    (all > 0.0).then(|| (1.0 - own / all).max(0.0))
}
