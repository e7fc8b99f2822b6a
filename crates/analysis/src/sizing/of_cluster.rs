//! A cluster's configurations, as a store of metrics tells them, as the points of a sweep over the number of nodes and the
//! CPUs of each.

use std::collections::BTreeSet;

use model::{
    ClusterConfiguration, ClusterReport, ComparedRun, Confidence, Entity, EntityKind, FigureFamily,
    FigureUnit, Identity, Interval, PhaseVerdict, PointFigure, PointSetting, SWEEP_SCHEMA, Sweep,
    SweepPoint, SweptParameter, Timestamp, Window,
};

use crate::cluster::short;
use crate::compare::used;

/// What a store knows of a second, by its name in `Quantities`, as a figure for a request: per what of its unit.
const OF_REQUEST: [(&str, &str, &str, FigureUnit); 4] = [
    (
        "cpus_used",
        used::CPU_OF_MACHINE,
        "CPU time of everybody",
        FigureUnit::Nanoseconds,
    ),
    (
        "disk_read",
        "disk.read",
        "read from disks",
        FigureUnit::Bytes,
    ),
    (
        "disk_written",
        "disk.written",
        "written to disks",
        FigureUnit::Bytes,
    ),
    (
        "sent",
        "network.sent",
        "sent over the network",
        FigureUnit::Bytes,
    ),
];
/// The same of figures that are what the store has.
const AS_IT_IS: [(&str, &str, &str, FigureFamily, FigureUnit); 6] = [
    (
        "cpu_busy",
        used::CPUS,
        "busy CPUs",
        FigureFamily::Resource,
        FigureUnit::Share,
    ),
    (
        "disk_busy",
        used::DISK,
        "busiest disk",
        FigureFamily::Resource,
        FigureUnit::Share,
    ),
    (
        "waiting_tasks",
        used::WAITING,
        "tasks that wait for a CPU",
        FigureFamily::Wait,
        FigureUnit::Number,
    ),
    (
        "cpu_some",
        "pressure.cpu_some",
        "CPU pressure, some",
        FigureFamily::Pressure,
        FigureUnit::Share,
    ),
    (
        "io_some",
        "pressure.io_some",
        "I/O pressure, some",
        FigureFamily::Pressure,
        FigureUnit::Share,
    ),
    (
        "memory_some",
        "pressure.memory_some",
        "memory pressure, some",
        FigureFamily::Pressure,
        FigureUnit::Share,
    ),
];
const NS_PER_S: f64 = 1e9;

/// The configurations of a cluster; where there was one, its longest phase of a known throughput.
///
/// # Errors
/// One sentence: the throughput is not known.
pub fn of_cluster(report: &ClusterReport) -> Result<Sweep, String> {
    let mut known = report.configurations.clone();
    if known.is_empty() {
        known.extend(longest(report));
    }
    known.retain(|it| it.throughput > 0.0 && it.cpus_each > 0.0);
    if known.is_empty() {
        return Err("the throughput of no configuration is known, so what a request needs is not either. Ask a store for it: stallscope explain --prometheus URL --metric 'sum(rate(NAME_OF_A_COUNTER[1m]))' --json FILE".to_owned());
    }
    known.sort_by(|one, other| {
        let nodes = one.nodes.cmp(&other.nodes);
        nodes.then(one.cpus_each.total_cmp(&other.cpus_each))
    });
    let nodes: BTreeSet<u32> = known.iter().map(|it| it.nodes).collect();
    let mut cpus: Vec<f64> = known.iter().map(|it| it.cpus_each).collect();
    cpus.sort_by(f64::total_cmp);
    cpus.dedup();
    Ok(Sweep {
        schema: SWEEP_SCHEMA.to_owned(),
        command: String::new(),
        parameters: vec![
            SweptParameter {
                name: "nodes".to_owned(),
                values: nodes.iter().map(u32::to_string).collect(),
            },
            SweptParameter {
                name: "cpus".to_owned(),
                values: cpus.into_iter().map(short).collect(),
            },
        ],
        answers: Vec::new(),
        points: known.iter().map(|it| point(report, it)).collect(),
        curves: Vec::new(),
        crossings: Vec::new(),
        goal: None,
        voided: Vec::new(),
        caveats: Vec::new(),
        seed: 0,
        spent_s: known.iter().map(|it| it.seconds).sum(),
    })
}

fn longest(report: &ClusterReport) -> Option<ClusterConfiguration> {
    let phases = report.phases.iter().filter_map(|it| {
        Some(ClusterConfiguration {
            name: String::new(),
            nodes: it.nodes_present,
            cpus_each: it.cpus_each?,
            seconds: it.span.seconds(),
            throughput: it.throughput?,
            interval: None,
            means: it.means.clone(),
            limits: it.limits.clone(),
            sentence: it.sentence.clone(),
        })
    });
    phases.max_by(|one, other| one.seconds.total_cmp(&other.seconds))
}

fn point(report: &ClusterReport, it: &ClusterConfiguration) -> SweepPoint {
    let limit = limit(it);
    SweepPoint {
        values: vec![it.nodes.to_string(), short(it.cpus_each)],
        runs: vec![run(report, it, limit.clone())],
        agreeing: u32::from(limit.is_some()),
        limit,
        figures: figures(it),
        setting: Some(PointSetting {
            machine_cpus: it.cpus_each.ceil() as u32,
            cpus: it.cpus_each * f64::from(it.nodes),
            ..PointSetting::default()
        }),
    }
}

fn figures(it: &ClusterConfiguration) -> Vec<PointFigure> {
    let throughput = PointFigure {
        interval: it.interval,
        ..figure(
            "throughput",
            "throughput".to_owned(),
            FigureFamily::Load,
            FigureUnit::Rate,
            it.throughput,
        )
    };
    let of_request = OF_REQUEST
        .iter()
        .filter_map(|(quantity, key, label, unit)| {
            let of_second = *it.means.get(*quantity)?;
            let times = match unit {
                FigureUnit::Nanoseconds => NS_PER_S,
                _ => 1.0,
            };
            let of = |throughput: f64| of_second * times / throughput;
            let label = format!("{label} per request");
            let interval = it.interval.filter(|it| it.low > 0.0);
            Some(PointFigure {
                interval: interval.map(|it| Interval {
                    low: of(it.high),
                    high: of(it.low),
                }),
                ..figure(key, label, FigureFamily::Resource, *unit, of(it.throughput))
            })
        });
    let as_it_is = AS_IT_IS
        .iter()
        .filter_map(|(quantity, key, label, family, unit)| {
            let value = *it.means.get(*quantity)?;
            Some(figure(key, (*label).to_owned(), *family, *unit, value))
        });
    std::iter::once(throughput)
        .chain(of_request)
        .chain(as_it_is)
        .collect()
}

fn figure(
    key: &str,
    label: String,
    family: FigureFamily,
    unit: FigureUnit,
    value: f64,
) -> PointFigure {
    PointFigure {
        key: key.to_owned(),
        label,
        family,
        unit,
        value,
        interval: None,
        of_runs: vec![value],
    }
}

/// A store has pressure and use, and no cause.
fn limit(it: &ClusterConfiguration) -> Option<PhaseVerdict> {
    let first = it.limits.first().filter(|it| *it != "none")?;
    let cause = match first.contains('.') {
        true => first.clone(),
        false => format!("{first}.pressure"),
    };
    let is_pressure = it.means.contains_key("cpu_some");
    Some(PhaseVerdict {
        cause,
        entity: Entity::new(EntityKind::Machine, "the nodes", ""),
        share: None,
        confidence: match is_pressure {
            true => Confidence::Consistent,
            false => Confidence::Suspected,
        },
        sentence: it.sentence.clone(),
        at_peer: None,
    })
}

/// The time in which it had this size, as a run.
fn run(
    report: &ClusterReport,
    it: &ClusterConfiguration,
    verdict: Option<PhaseVerdict>,
) -> ComparedRun {
    ComparedRun {
        name: it.name.clone(),
        identity: Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: report.source.clone(),
            stallscope: String::new(),
            anchor_realtime_ns: report.span.from_ns,
            anchor_boottime: Timestamp::from_ns(0),
        },
        window: Window::new(Timestamp::from_ns(0), Timestamp::from_seconds(it.seconds)),
        steady_s: 0.0,
        rate_unit: "requests/s".to_owned(),
        verdict,
        would_help: Vec::new(),
        course: Vec::new(),
        marks: Vec::new(),
        round: None,
        taken: None,
        disks: Vec::new(),
    }
}
