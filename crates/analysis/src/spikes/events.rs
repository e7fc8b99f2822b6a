//! Streams of events that may start spikes, each with its times.
//!
//! Events that come close together are one, at the time of the first: a script that starts two hundred programs begins
//! once.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    ColumnKind, Entity, EntityId, EntityKind, Role, Series, Timeline, Timestamp, TriggerKind,
    Window,
};
use sensors::flow::{FLOW, FlowName, Peer, Protocol, Side};
use sensors::log::{CallName, LOG_TEMPLATE, LOGGED_CALL};
use sensors::program_run::PROGRAM_RUN;

use super::bursts::{Bursts, EXACT, Steps, firsts};
use crate::coverage;
use crate::program_runs::{Templates, program_runs};
use crate::statements::rare_statements;
use crate::stats::median;

/// More events than this in a window tell nothing of a few spikes.
const MOST_EVENTS: usize = 2_000;
/// A tick of /proc/PID/stat's start time, ns: USER_HZ is 100 on all architectures that this runs on.
const TICK_NS: i64 = 10_000_000;
/// Processes of this length or longer are met by several readings, s.
const SURELY_MET: f64 = 0.3;
/// A burst of connections has so many at least in a step, and one of sends.
const LEAST_OPENED: f64 = 3.0;
const LEAST_SENDS: f64 = 50.0;
/// One of calls that a log reports.
const LEAST_CALLS: f64 = 5.0;
/// And one of CPU time takes this part of a CPU.
const LEAST_CPU: f64 = 0.2;
/// Tables of what applications count themselves.
pub(super) const COUNTED: [&str; 6] = ["database", "mysql", "redis", "pgbouncer", "jvm", "scraped"];

/// Events of one kind and name.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stream {
    pub(super) kind: TriggerKind,
    pub(super) name: String,
    pub(super) parent: Option<String>,
    /// The node that it is of, where there are several.
    pub(super) node: Option<String>,
    pub(super) entity: Option<EntityId>,
    /// When they began, s after the window's start, rising.
    pub(super) times: Vec<f64>,
    /// How long after it an event may have been seen, s.
    pub(super) resolution: f64,
}

/// All streams of a window.
pub(super) fn streams(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let mut all = programs(timeline, window);
    all.extend(connections(timeline, window));
    all.extend(cpu_bursts(timeline, window));
    all.extend(counters(timeline, window));
    all.extend(log_templates(timeline, window));
    all.extend(logged_calls(timeline, window));
    all.extend(statements(timeline, window));
    all.retain(|it| (2..=MOST_EVENTS).contains(&it.times.len()));
    all
}

/// Starts of programs, by what their command lines have in common.
fn programs(timeline: &Timeline, window: Window) -> Vec<Stream> {
    if timeline.table(&PROGRAM_RUN.name).is_none() {
        return processes(timeline, window);
    }
    let mut templates = Templates::new(timeline);
    let mut found: BTreeMap<String, (Option<String>, Vec<f64>)> = BTreeMap::new();
    for run in program_runs(timeline) {
        let since = run.start.ns_since(window.start);
        if run.is_fork || !(0..window.len_ns()).contains(&since) {
            continue;
        }
        let name = templates.of(run.command);
        if name.is_empty() {
            continue;
        }
        let (parent, times) = found.entry(name).or_default();
        if parent.is_none() {
            *parent = Some(templates.of(run.parent_command)).filter(|it| !it.is_empty());
        }
        times.push(since as f64 / 1e9);
    }
    let found = found.into_iter();
    let streams = found.map(|(name, (parent, times))| Stream {
        kind: TriggerKind::Program,
        name,
        parent,
        node: None,
        entity: None,
        times: firsts(times),
        resolution: EXACT,
    });
    streams.collect()
}

/// Where nobody reported starts of programs: processes that were met, by their names. Those that were over before the next
/// reading are not among them; and where CPUs are busy short ones last longer, so that more are met: a name whose
/// processes are short shows that only.
fn processes(timeline: &Timeline, window: Window) -> Vec<Stream> {
    #[derive(Default)]
    struct Met {
        parent: Option<String>,
        times: Vec<f64>,
        lengths: Vec<f64>,
    }
    let mut found: BTreeMap<&str, Met> = BTreeMap::new();
    for process in timeline.entities.of_kind(EntityKind::Process) {
        let is_own = process.role == Role::Recorder;
        let Some(start) = started(&process.entity).filter(|_| !is_own) else {
            continue;
        };
        let since = start.ns_since(window.start);
        if (0..window.len_ns()).contains(&since) {
            let parent = process.parent.and_then(|it| timeline.entities.get(it));
            let met = found.entry(&process.entity.name).or_default();
            met.parent = met
                .parent
                .take()
                .or(parent.map(|it| it.entity.name.clone()));
            met.times.push(since as f64 / 1e9);
            let end = process.vanished.unwrap_or(timeline.window.end);
            met.lengths.push(end.ns_since(start) as f64 / 1e9);
        }
    }
    let long = found.into_iter();
    let long = long.filter(|(_, it)| median(&it.lengths).is_some_and(|it| it >= SURELY_MET));
    let streams = long.map(|(name, Met { parent, times, .. })| Stream {
        kind: TriggerKind::Program,
        name: name.to_owned(),
        parent,
        node: None,
        entity: None,
        times: firsts(times),
        resolution: TICK_NS as f64 / 1e9,
    });
    streams.collect()
}

/// When a process was started, by its path, `pid:7@5750989`: the kernel's ticks since boot.
fn started(process: &Entity) -> Option<Timestamp> {
    let ticks: i64 = process.path.split_once('@')?.1.parse().ok()?;
    Some(Timestamp::from_ns(ticks.checked_mul(TICK_NS)?))
}

fn stream(bursts: Bursts, kind: TriggerKind, name: String, entity: Option<EntityId>) -> Stream {
    Stream {
        kind,
        name,
        parent: None,
        node: None,
        entity,
        times: bursts.times,
        resolution: bursts.resolution,
    }
}

/// The service's port, and whether it is the server's end.
type FlowEnd = (u16, bool);

/// All connections between processes of a name and a port. Of those with both ends on this machine the clients' are
/// taken: they say who asks.
pub(super) fn services(timeline: &Timeline) -> BTreeMap<String, Vec<EntityId>> {
    let mut by_name: BTreeMap<(String, FlowEnd), Vec<EntityId>> = BTreeMap::new();
    // What is counted in on-windows alone comes and goes with them.
    let is_sampled = coverage::part_of_calls(timeline, timeline.window).is_some();
    for flow in timeline.entities.of_kind(EntityKind::Flow) {
        let name = FlowName::parse(&flow.entity.name);
        if let Some(name) = name.filter(|it| !is_sampled || it.protocol == Protocol::Tcp) {
            let end = (name.port, name.side == Side::Server);
            let own = by_name.entry((service(&name), end)).or_default();
            own.push(flow.id);
        }
    }
    let clients: BTreeSet<u16> = by_name
        .keys()
        .filter(|(_, (port, is_server))| *port > 0 && !is_server)
        .map(|(_, (port, _))| *port)
        .collect();
    by_name.retain(|(_, (port, is_server)), _| !is_server || !clients.contains(port));
    let by_name = by_name.into_iter();
    by_name.map(|((name, _), flows)| (name, flows)).collect()
}

/// Bursts of new connections and of sends, by process name and port.
fn connections(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let kinds = [
        (TriggerKind::Connections, "opened", LEAST_OPENED),
        (TriggerKind::Sends, "sends", LEAST_SENDS),
    ];
    let mut streams = Vec::new();
    for (name, flows) in &services(timeline) {
        for (kind, column, least) in kinds {
            let series = flows
                .iter()
                .filter_map(|it| timeline.series(&FLOW.name, *it, column));
            let steps = Steps::of(series.collect(), window);
            let bursts = steps.and_then(|it| {
                let bursts = it.bursts(least)?;
                Some(match kind {
                    TriggerKind::Connections if it.are_mostly_idle() => {
                        bursts.beginning_at(&openings(timeline, flows, window))
                    }
                    _ => bursts,
                })
            });
            streams.extend(bursts.map(|it| stream(it, kind, name.clone(), None)));
        }
    }
    streams
}

/// When the first connection was opened after each reading, s after the window's start, in their order.
fn openings(timeline: &Timeline, flows: &[EntityId], window: Window) -> Vec<f64> {
    let series = flows
        .iter()
        .filter_map(|it| timeline.series(&FLOW.name, *it, "opened_ns"));
    let opened = series.flat_map(|it| it.values());
    let opened = opened.map(|(_, ns)| Timestamp::from_ns(ns));
    let opened = opened.filter(|it| window.contains(*it));
    let mut times: Vec<f64> = opened
        .map(|it| it.ns_since(window.start) as f64 / 1e9)
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

/// All connections between processes of a name and a port: `postgres -> :7100`.
fn service(name: &FlowName) -> String {
    let FlowName {
        process,
        side,
        port,
        peer,
        ..
    } = name;
    match (peer, side) {
        (Peer::Path(path), _) => format!("{process} {} {path}", side.mark()),
        (_, Side::Server) => format!("{process} :{port} {}", side.mark()),
        _ => format!("{process} {} :{port}", side.mark()),
    }
}

/// Bursts of CPU time, by process name; a generator's follow from what it is answered.
fn cpu_bursts(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let mut by_name: BTreeMap<&str, Vec<EntityId>> = BTreeMap::new();
    for process in timeline.entities.of_kind(EntityKind::Process) {
        if !matches!(process.role, Role::Generator | Role::Recorder) {
            let own = by_name.entry(&process.entity.name).or_default();
            own.push(process.id);
        }
    }
    let mut streams = Vec::new();
    for (name, processes) in by_name {
        let series = processes.iter().flat_map(|it| {
            ["user_ns", "system_ns"].map(|column| timeline.series("process", *it, column))
        });
        let steps = Steps::of(series.flatten().collect(), window);
        let entity = (processes.len() == 1).then(|| processes[0]);
        let bursts = steps.and_then(|it| it.bursts(LEAST_CPU * 1e9 * it.seconds));
        streams.extend(bursts.map(|it| stream(it, TriggerKind::CpuBurst, name.to_owned(), entity)));
    }
    streams
}

/// Steps of what applications count and rarely count: checkpoints, collections of garbage.
fn counters(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let mut streams = Vec::new();
    for table in COUNTED.into_iter().filter_map(|it| timeline.table(it)) {
        let columns = table.table.columns.iter();
        for column in columns.filter(|it| it.kind == ColumnKind::Counter) {
            for entity in table.entities() {
                let series = timeline.series(&table.table.name, entity, &column.name);
                let steps = series.and_then(|it| Steps::of(vec![it], window));
                let bursts = steps.and_then(|it| it.bursts(0.0));
                let name = timeline.entities.get(entity).map(|it| &it.entity.name);
                streams.extend(bursts.zip(name).map(|(it, name)| {
                    let name = format!("{name}: {}", column.name);
                    stream(it, TriggerKind::Counter, name, Some(entity))
                }));
            }
        }
    }
    streams
}

/// Lines of logs by template: bursts of the usual, and any of the rare.
fn log_templates(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let mut streams = Vec::new();
    for template in timeline.entities.of_kind(EntityKind::LogTemplate) {
        let series = timeline.series(&LOG_TEMPLATE.name, template.id, "lines");
        let steps = series.and_then(|it| Steps::of(vec![it], window));
        let bursts = steps.and_then(|it| it.bursts(0.0));
        let name = &template.entity.name;
        streams
            .extend(bursts.map(|it| stream(it, TriggerKind::Log, name.clone(), Some(template.id))));
    }
    streams
}

/// Bursts of calls that logs report, by method and callee.
fn logged_calls(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let mut by_name: BTreeMap<String, Vec<Series<'_>>> = BTreeMap::new();
    for call in timeline.entities.of_kind(EntityKind::LoggedCall) {
        let name = CallName::parse(&call.entity.name);
        let series = timeline.series(&LOGGED_CALL.name, call.id, "calls");
        if let (Some(CallName { method, callee, .. }), Some(series)) = (name, series) {
            let own = by_name.entry(format!("{method} -> {callee}")).or_default();
            own.push(series);
        }
    }
    let streams = by_name.into_iter().filter_map(|(name, series)| {
        let bursts = Steps::of(series, window)?.bursts(LEAST_CALLS)?;
        Some(stream(bursts, TriggerKind::Calls, name, None))
    });
    streams.collect()
}

/// Statements of rare kinds.
fn statements(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let streams = rare_statements(timeline).into_iter();
    let streams = streams.map(|(name, entity, times)| {
        let inside = times.into_iter().filter(|it| window.contains(*it));
        let times = inside.map(|it| it.ns_since(window.start) as f64 / 1e9);
        Stream {
            kind: TriggerKind::Statement,
            name,
            parent: None,
            node: None,
            entity,
            times: firsts(times.collect()),
            resolution: EXACT,
        }
    });
    streams.collect()
}

#[cfg(test)]
mod tests;
