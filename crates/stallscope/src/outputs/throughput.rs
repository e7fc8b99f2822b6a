//! Throughput and latency, the load, the window and pressure, as the answer has them.

use analysis::{duration, integer, percent, rate};
use model::{
    EntityKind, Latency, PhaseKind, Provenance, Quantile, Report, Resource, Signal, StallKind,
    ThinkTime,
};

use super::layout::{labelled, seconds, two_columns};
use super::{spikes, stalls};

pub(super) fn lines(report: &Report, width: usize) -> String {
    let signal = |name: &str| report.signals.iter().find(|signal| signal.name == name);
    let mean = |name: &str| signal(name).and_then(|signal| signal.mean);
    let unit = rate_unit(report);
    let throughput =
        mean("throughput").map(|value| ("Throughput", format!("{} {unit}", rate(value))));
    let latency = signal("latency").map(|latency| ("Latency", latency_words(latency, report)));
    let mut rows = vec![(throughput, latency)];
    if let Some(words) = signal("latency").and_then(quantile_words) {
        rows.push((Some(("Quantiles", words)), None));
    }
    if !report.goals.is_empty() {
        rows.push((Some(("Goals", goal_words(report))), None));
    }
    if let Some(lag) = mean("lag") {
        rows.push((
            Some((
                "Lag",
                format!("{} behind the schedule, part of the latency", duration(lag)),
            )),
            None,
        ));
    }
    for (name, label) in [
        ("failed", "Failed"),
        ("skipped", "Skipped"),
        ("retried", "Retried"),
    ] {
        if let Some(value) = mean(name).filter(|value| *value > 0.0) {
            rows.push((Some((label, format!("{} per second", rate(value)))), None));
        }
    }
    rows.push((load_words(report), Some(("Window", window_words(report)))));
    two_columns(&rows, width)
        + &labelled("Stalls", &stalls::in_short(report), width)
        + &spikes::lines(report, width)
        + &labelled("PSI", &pressures_words(report), width)
}

/// What was judged, and the machine's pressure meanwhile.
pub(super) fn window_and_pressure(report: &Report, width: usize) -> String {
    let machine = pressure_words(report, EntityKind::Machine, "machine");
    let window = labelled("Window", &window_words(report), width);
    window + &labelled("PSI", &machine, width)
}

/// Pressure of the machine, and of the target.
fn pressures_words(report: &Report) -> String {
    let mut pressures = vec![pressure_words(report, EntityKind::Machine, "machine")];
    let own = [
        (EntityKind::Cgroup, "its cgroup"),
        (EntityKind::Process, "its processes"),
    ];
    for (kind, whose) in own {
        if report.pressure.iter().any(|it| it.entity.kind == kind) {
            pressures.push(pressure_words(report, kind, whose));
        }
    }
    pressures.join("; ")
}

/// `closed loop, 10 clients`; `None` where the load is not known.
fn load_words(report: &Report) -> Option<(&'static str, String)> {
    let load = &report.workload.as_ref()?.load;
    let clients = load
        .clients
        .map(|clients| analysis::count(clients, "client"));
    let mut words = match load.rate {
        Some(asked) => vec![format!(
            "open loop, {} {} asked for",
            rate(asked),
            rate_unit(report)
        )],
        None if clients.is_some() => vec!["closed loop".to_owned()],
        None => return None,
    };
    words.extend(clients);
    // In an open loop the schedule lies between two requests, and nobody's thought.
    let think = report.think_time.filter(|_| load.rate.is_none());
    words.extend(think.map(think_words));
    Some(("Load", words.join(", ")))
}

/// `think time 4.01 ms` between two requests of a client.
fn think_words(think: ThinkTime) -> String {
    format!("think time {}", duration(think.between_requests_ns))
}

/// `1 s to 30 s, steady`
fn window_words(report: &Report) -> String {
    let is_steady =
        |phase: &model::Phase| phase.kind == PhaseKind::Steady && phase.window == report.window;
    let from = seconds(report.window.start.seconds_since(report.origin));
    let to = seconds(report.window.end.seconds_since(report.origin));
    match report.phases.iter().any(is_steady) && !report.signals.is_empty() {
        true => format!("{from} to {to}, steady"),
        false => format!("{from} to {to}"),
    }
}

/// The workload's own word for its rate, if it has one. The kernel counts requests, of which a transaction may have
/// several.
pub(super) fn rate_unit(report: &Report) -> &str {
    let workload = report.workload.as_ref();
    let unit = workload.map(|workload| workload.load.rate_unit.as_str());
    let mut signals = report.signals.iter();
    let is_kernels =
        signals.any(|it| it.name == "throughput" && it.provenance == Provenance::Kernel);
    unit.filter(|unit| !unit.is_empty() && !is_kernels)
        .unwrap_or("per second")
}

fn latency_words(latency: &Signal, report: &Report) -> String {
    let Some(mean) = latency.mean else {
        return "no data: nothing was completed".to_owned();
    };
    let tool = report
        .workload
        .as_ref()
        .map_or("the tool", |workload| workload.name.as_str());
    let origin = match latency.provenance {
        Provenance::Derived => {
            format!("{tool} derived it from clients and throughput")
        }
        Provenance::Kernel => "measured in the kernel".to_owned(),
        _ if !latency.quantiles.is_empty() => tool.to_owned(),
        _ => match quantiles_option(report) {
            Some(option) => format!("{tool}; p99: add {option}"),
            None => format!("{tool}; no p99"),
        },
    };
    let mean = duration(mean);
    let p99 = latency.quantiles.iter().find(|it| it.q == 0.99);
    match p99.map(|it| (it.of_whole_run, value_words(it))) {
        Some((true, p99)) => format!("{mean} mean ({origin}; p99 of {tool}'s whole run {p99})"),
        Some((false, p99)) => format!("{mean} mean, p99 {p99} ({origin})"),
        None => format!("{mean} mean ({origin})"),
    }
}

/// A quantile's value; a bound where requests had no reply yet.
pub(super) fn value_words(quantile: &Quantile) -> String {
    let value = duration(quantile.value);
    match quantile.at_least {
        true => format!("at least {value}"),
        false => value,
    }
}

fn quantiles_option(report: &Report) -> Option<&str> {
    let workload = report.workload.as_ref()?;
    workload.quantiles_option.as_deref()
}

/// `p50 0.101 ms, p99 0.350 ms, max 12.0 ms of 46,012 sampled`. Beside p99, p95 stands in the JSON only: without
/// it the rest fits on a line.
fn quantile_words(latency: &Signal) -> Option<String> {
    let first = latency.quantiles.first()?;
    let has_p99 = latency.quantiles.iter().any(|it| it.q == 0.99);
    let last = if has_p99 { 0.99 } else { 0.95 };
    let shown = [0.5, 0.9, last, 0.999, 1.0];
    let words = latency
        .quantiles
        .iter()
        .filter(|it| shown.contains(&it.q))
        .map(|it| format!("{} {}", Latency::Quantile(it.q), value_words(it)));
    let words = words.collect::<Vec<_>>().join(", ");
    let of = match first.sampled {
        _ if first.of_whole_run => " as printed, of the whole run".to_owned(),
        Some(count) => format!(" of {} sampled", integer(count as f64)),
        None => String::new(),
    };
    Some(words + &of)
}

/// `p99 < 10 ms missed (23.0 ms), mean < 5 ms met (4.10 ms)`
fn goal_words(report: &Report) -> String {
    let words = report.goals.iter().map(|it| {
        let met = match it.met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "not known",
        };
        let below = duration(it.goal.below_ns as f64);
        let value = it.value.map_or("not measured".to_owned(), duration);
        format!("{} < {below} {met} ({value})", it.goal.of)
    });
    words.collect::<Vec<_>>().join(", ")
}

fn pressure_words(report: &Report, kind: EntityKind, whose: &str) -> String {
    let mut words = Vec::new();
    for resource in [Resource::Cpu, Resource::Memory, Resource::Io] {
        let of = |stall: StallKind| {
            report
                .pressure
                .iter()
                .find(|p| p.entity.kind == kind && p.resource == resource && p.kind == stall)
        };
        let Some(some) = of(StallKind::Some) else {
            continue;
        };
        let full =
            of(StallKind::Full).filter(|full| full.share >= 0.01 && kind != EntityKind::Machine);
        let full = full.map_or(String::new(), |full| {
            format!(" {} full", percent(full.share))
        });
        let word = if words.is_empty() { " some" } else { "" };
        words.push(format!(
            "{} {}{word}{full}",
            resource.word(),
            percent(some.share)
        ));
    }
    if words.is_empty() {
        not_recorded(report)
    } else {
        format!("{} ({whose})", words.join(", "))
    }
}

/// Pressure is a difference of two readings 2 s apart.
fn not_recorded(report: &Report) -> String {
    let off = report
        .gaps
        .iter()
        .any(|gap| gap.table == "pressure" && gap.what.to_string().ends_with("cpu"));
    if off {
        "not recorded"
    } else {
        "too short a time to tell"
    }
    .to_owned()
}
