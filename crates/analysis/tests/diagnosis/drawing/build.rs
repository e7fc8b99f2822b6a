//! From lanes to entities and rows.

use model::{Column, EntityId, EntityKind, Table, Timeline, Unit};
use sensors::thread_time::THREAD_TIME;

use super::lanes::{Drawing, Lane};
use super::people::People;
use super::rows::Value;
use super::tables::Tables;
use super::{Drawn, at, meta, seconds, stacks};

const NS: f64 = 1e9;

/// Lanes of pressure and their columns.
const PRESSURES: [(&str, &str); 3] = [
    ("cpu", "cpu_some_ns"),
    ("io", "io_some_ns"),
    ("memory", "memory_some_ns"),
];

/// What analysis reads of the workload's table; its declaration stands in `workloads`, which
/// analysis must not know.
pub static SIGNAL: Table = Table::new(
    "signal",
    EntityKind::Workload,
    "The workload's own view.",
    SIGNAL_COLUMNS,
);
static SIGNAL_COLUMNS: &[Column] = &[
    Column::gauge("interval_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("throughput_milli", Unit::MilliPerSecond, "", ""),
    Column::gauge("latency_mean_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("latency_stddev_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("lag_mean_ns", Unit::Nanoseconds, "", ""),
    Column::gauge("failed", Unit::Count, "", ""),
];

/// Builds what a recording of the drawing would hold.
pub fn build(drawing: &Drawing) -> Drawn {
    let tail = drawing.number("tail").unwrap_or(0.0) / 1e3;
    let window = seconds(0.0, drawing.seconds as f64 + tail);
    let mut timeline = Timeline::new(window);
    let people = People::of(drawing, &mut timeline);
    let mut tables = Tables::of(drawing, &people, &mut timeline);
    cpus(drawing, &people, &mut tables);
    threads(drawing, &people, &mut tables);
    groups(drawing, &people, &mut tables);
    machine(drawing, &people, &mut tables);
    for (lane, id) in drawing.all("rest").zip(&people.rest) {
        let values = |second| {
            vec![
                known("user_ns", lane.value(second)),
                known("system_ns", 0.0),
            ]
        };
        tables.write("process", *id, 1000, |s| lane.seen(s), values);
    }
    tables.finish();
    signal(drawing, &people, &mut timeline, tail);
    stacks::write(drawing, &people, &mut timeline);
    let meta = meta::describe(drawing, &people, window);
    Drawn { timeline, meta }
}

fn known(column: &'static str, cpus: f64) -> Value {
    Value(column, cpus * NS, true)
}

fn cpus(drawing: &Drawing, people: &People, tables: &mut Tables<'_>) {
    let busy: Vec<&Lane> = drawing.all("busy").collect();
    if busy.is_empty() {
        return;
    }
    let other = |name: &str, second| drawing.lane(name).map_or(0.0, |lane| lane.value(second));
    for (number, id) in people.cpus.iter().enumerate() {
        let busy = busy[number.min(busy.len() - 1)];
        let values = |second| {
            let (user, steal) = (busy.value(second), other("steal", second));
            let iowait = other("iowait", second);
            vec![
                known("user_ns", user),
                known("steal_ns", steal),
                known("iowait_ns", iowait),
                known("idle_ns", (1.0 - user - steal - iowait).max(0.0)),
            ]
        };
        tables.write("cpu", *id, 100, |s| busy.seen(s), values);
    }
}

fn threads(drawing: &Drawing, people: &People, tables: &mut Tables<'_>) {
    let (alike, apart) = (drawing.blocked("blocked"), drawing.blocked("hotblocked"));
    let idle = drawing.blocked("");
    let sets = [
        ("run", "wait", &people.workers, alike),
        ("hot", "hotwait", &people.hot, apart),
        ("gen", "genwait", &people.loaders, idle),
    ];
    for (run, wait, threads, blocked) in sets {
        let Some(run) = drawing.lane(run) else {
            continue;
        };
        let wait = drawing.lane(wait);
        let told = |code: Option<i64>, name| Value(name, code.unwrap_or(0) as f64, code.is_some());
        for thread in threads {
            let values = |second: usize| {
                let blocked = blocked[second % blocked.len()];
                let waited = wait.map_or(0.0, |lane| lane.value(second)) * NS;
                let waits_seen = wait.is_none_or(|lane| lane.seen(second));
                vec![
                    known("run_ns", run.value(second)),
                    Value("wait_ns", waited, waits_seen),
                    told(Some(blocked.state), "state"),
                    told(blocked.call, "syscall"),
                    told(blocked.event, "wait_event"),
                    told(blocked.channel, "wait_channel"),
                ]
            };
            tables.write("thread", *thread, 100, |s| run.seen(s), values);
            thread_times(run, *thread, tables);
        }
    }
}

/// The accounts of a thread that lanes draw something of: what they leave of its time it waited for input.
fn thread_times(run: &Lane, thread: EntityId, tables: &mut Tables<'_>) {
    const BOOKS: &str = "thread_time";
    let drawn: Vec<Vec<Value>> = (0..run.cells.len())
        .map(|second| tables.drawn(BOOKS, thread, second))
        .collect();
    if drawn.iter().all(Vec::is_empty) {
        return;
    }
    let values = |second: usize| {
        let times = THREAD_TIME.columns.iter().map(|column| &*column.name);
        let times = times.filter(|name| sensors::thread_time::class(name).is_some());
        let mut values: Vec<Value> = times.map(|name| known(name, 0.0)).collect();
        let spent: f64 = drawn[second]
            .iter()
            .filter(|value| sensors::thread_time::class(value.0).is_some())
            .map(|value| value.1 / NS)
            .sum();
        for value in &mut values {
            match value.0 {
                "on_cpu_ns" => value.1 = run.value(second) * NS,
                "input_ns" => value.1 = (1.0 - run.value(second) - spent) * NS,
                _ => {}
            }
        }
        let since = super::at(0.0).as_ns() as f64;
        values.push(Value("known_since_ns", since, true));
        values.push(known("hidden_ns", 0.0));
        values
    };
    tables.write(BOOKS, thread, 100, |s| run.seen(s), values);
}

fn groups(drawing: &Drawing, people: &People, tables: &mut Tables<'_>) {
    const PERIOD: f64 = 0.1;
    let quota = drawing.number("quota");
    let unlimited = Lane {
        name: String::new(),
        times: 1,
        cells: vec![Some(0.0); drawing.seconds],
        group: None,
        about: None,
        scale: 1.0,
        value: None,
    };
    for (path, id) in people
        .groups
        .iter()
        .filter(|(path, _)| path.as_str() != "/")
    {
        let of_group = |lane: &&Lane| lane.group.as_ref() == Some(path);
        let held = drawing.all("throttled").find(of_group);
        let limited = held.is_some();
        let held = held.unwrap_or(&unlimited);
        let values = |second| {
            let part = held.value(second);
            vec![
                known("usage_ns", quota.unwrap_or(1.0) / 10.0),
                Value("periods", 1.0 / PERIOD, limited),
                Value("throttled_periods", part / PERIOD, limited),
                Value("throttled_ns", part * drawing.cpus() as f64 * NS, limited),
            ]
        };
        tables.write("cgroup_cpu", *id, 200, |s| held.seen(s), values);
        if let Some(quota) = quota.filter(|_| limited) {
            let values = |_| {
                vec![
                    Value("quota_ns", quota / 10.0 * PERIOD * NS, true),
                    Value("period_ns", PERIOD * NS, true),
                ]
            };
            tables.write("cgroup_limit", *id, 1000, |_| true, values);
        }
    }
}

fn machine(drawing: &Drawing, people: &People, tables: &mut Tables<'_>) {
    let places = people.groups.iter().map(|(path, id)| (Some(path), *id));
    for (path, id) in places.chain([(None, people.machine)]) {
        let lanes: Vec<(&'static str, &Lane)> = PRESSURES
            .iter()
            .flat_map(|(name, column)| drawing.all(name).map(|lane| (*column, lane)))
            .filter(|(_, lane)| lane.group.as_ref() == path)
            .collect();
        let table = path.map_or("pressure", |_| "cgroup_pressure");
        let seen = |second| lanes.iter().any(|(_, lane)| lane.seen(second));
        let values = |second| {
            let value = |(column, lane): &(&'static str, &Lane)| {
                Value(column, lane.value(second) * NS, lane.seen(second))
            };
            lanes.iter().map(value).collect()
        };
        tables.write(table, id, 2000, seen, values);
    }
    recorder(drawing, people, tables);
}

fn recorder(drawing: &Drawing, people: &People, tables: &mut Tables<'_>) {
    let own = |name: &str, second| drawing.lane(name).map_or(0.0, |lane| lane.value(second));
    let lanes = ["recorder", "missed", "near_by", "rest_by"];
    if lanes.iter().any(|name| drawing.lane(name).is_some()) {
        let values = |second| {
            let missed = own("missed", second);
            let factor = |name| (own(name, second) * 10.0).round();
            vec![
                known("period_ns", factor("near_by") / 10.0),
                Value("background_period_factor", factor("rest_by"), true),
                Value("lateness_ns", 1e5 + missed * NS, true),
                known("cpu_ns", own("recorder", second) / 10.0),
                Value("missed", missed * 100.0, true),
            ]
        };
        tables.write("recorder", people.machine, 1000, |_| true, values);
    }
}

fn signal(drawing: &Drawing, people: &People, timeline: &mut Timeline, tail: f64) {
    let Some(tps) = drawing.lane("tps") else {
        return;
    };
    let lane = |name: &str, second: usize| {
        let lane = drawing.lane(name)?;
        lane.seen(second).then(|| lane.value(second) * 1e8)
    };
    let whole = (0..drawing.seconds).map(|second| (second, second as f64 + 1.0, 1.0));
    let last = drawing.seconds.saturating_sub(1);
    let short = (tail > 0.0).then_some((last, drawing.seconds as f64 + tail, tail));
    for (second, end, length) in whole
        .chain(short)
        .filter(|(second, _, _)| tps.seen(*second))
    {
        let rate = tps.value(second) * 1000.0 * tps.scale;
        let closed = (drawing.lane("ms").is_none()).then(|| drawing.clients() / rate * NS);
        let latency = lane("ms", second).or(closed).filter(|_| rate > 0.0);
        let or_missing = |value: Option<f64>| value.map_or(model::MISSING, |ns| ns.round() as i64);
        let row = [
            (length * NS).round() as i64,
            (rate * 1e3).round() as i64,
            or_missing(latency),
            model::MISSING,
            or_missing(lane("lag", second).filter(|_| rate > 0.0)),
            0,
        ];
        timeline
            .table_mut(&SIGNAL)
            .push(at(end), people.workload, &row);
    }
}
