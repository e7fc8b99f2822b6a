//! Pages for the tests of the page's own program: kept as golden files, with what `explain` says of
//! windows of them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use model::{EntityKind, Report, Role, Timeline, Window};
use recording::Recording;
use serde_json::{Value, json};

use super::drawn_spikes::spikes;
use super::drawn_statements::with_statements;
use super::made::{
    HOSTILE, kept, of_machine, of_stacks, with_gaps, with_names, with_programs, with_requests,
};
use super::{data_of, draw, text_of};

/// More would make the repository large for little.
const MOST_BYTES: usize = 310_000;

fn keep(name: &str, recording: &Recording) {
    let (report, text) = data_of(recording);
    keep_page(name, recording, &report, &text);
}

fn keep_page(name: &str, recording: &Recording, report: &Report, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../ui/fixtures");
    assert!(text.len() <= MOST_BYTES, "{name}: {} bytes", text.len());
    golden(&folder.join(format!("{name}.data.html")), text);
    let windows: Vec<Value> = windows(recording, report)
        .into_iter()
        .map(|window| said(recording, window))
        .collect();
    let windows = serde_json::to_string_pretty(&windows).expect("numbers are JSON");
    golden(
        &folder.join(format!("{name}.windows.json")),
        &(windows + "\n"),
    );
}

/// Nobody reads packed numbers: that they changed is all that is said.
fn golden(file: &Path, text: &str) {
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, text).expect("the fixture is written");
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert!(
        kept == text,
        "{} is not what is made now: UPDATE_EXPECT=1 writes it anew, then run the tests in ui",
        file.display()
    );
}

/// The judged one, the middle of the recording, and a short one.
fn windows(recording: &Recording, report: &Report) -> [Window; 3] {
    let intervals = analysis::intervals(&recording.timeline, &recording.meta);
    if intervals.len() < 6 {
        return [report.window; 3];
    }
    let third = intervals.len() / 3;
    let between = |from: usize, to: usize| Window::new(intervals[from].start, intervals[to].end);
    [
        judged(report, &intervals),
        between(third, 2 * third),
        between(intervals.len() - 3, intervals.len() - 2),
    ]
}

/// The judged window, less the load's last interval where a quota was set in the run: a wait is counted when it ends, and
/// the page moves what a bin has no room for into those before it, over the edge where everybody stops.
fn judged(report: &Report, intervals: &[Window]) -> Window {
    let Window { start, end } = report.window;
    let changes = report.phases.iter().filter_map(|it| it.change.as_ref());
    let is_set = changes
        .flat_map(|it| &it.differences)
        .any(|it| it.what == "limit.cpu");
    match intervals {
        [.., before, last] if is_set && last.end == end && before.end > start => {
            Window::new(start, before.end)
        }
        _ => report.window,
    }
}

/// What `explain --from --to` says of a window, and a few numbers that it has but does not show.
fn said(recording: &Recording, window: Window) -> Value {
    let Recording { meta, timeline, .. } = recording;
    let report = analysis::diagnose(timeline, meta, Some(window));
    let signal = |name: &str| {
        let mut signals = report.signals.iter();
        signals.find(|signal| signal.name == name)?.mean
    };
    let pressure: Vec<Value> = report.pressure.iter().map(|pressure| json!({
        "kind": pressure.entity.kind,
        "path": pressure.entity.path,
        "column": format!("{}_{}_ns", pressure.resource.word(), json!(pressure.kind).as_str().unwrap_or_default()),
        "share": pressure.share,
    })).collect();
    let threads = |role: Role| {
        let mut subjects = report.subjects.iter();
        let threads = subjects.find(|it| it.role == role)?.threads.as_ref()?;
        let of = |class: model::LedgerClass| {
            let mut items = threads.items.iter();
            items.find(|it| it.class == class).map_or(0, |it| it.ns)
        };
        Some(json!({
            "threads": threads.threads,
            "wall_ns": threads.wall_ns,
            "on_cpu_ns": of(model::LedgerClass::OnCpu),
            "cpu_wait_ns": of(model::LedgerClass::CpuWait),
            "throttled_ns": of(model::LedgerClass::Throttled),
        }))
    };
    let mut said = json!({
        "from_ns": report.window.start.ns_since(report.origin),
        "to_ns": report.window.end.ns_since(report.origin),
        "throughput": signal("throughput"),
        "latency_ns": signal("latency"),
        "lag_ns": signal("lag"),
        "failed_per_second": signal("failed"),
        "pressure": pressure,
        "target": threads(Role::Target),
        "generator": threads(Role::Generator),
        "cpus": cpus(timeline, report.window),
        "requests": requests(timeline, "requests", Role::Target, report.window),
        "calls": requests(timeline, "calls", Role::Generator, report.window),
    });
    if let Some(stacks) = analysis::stacks::report(timeline, report.window) {
        said["stacks"] = json!(stacks);
    }
    said
}

/// What the engine counts of a part's requests; nothing where none were counted.
fn requests(timeline: &Timeline, table: &str, role: Role, window: Window) -> Value {
    let Some(times) = analysis::RequestTimes::counted(timeline, table, role, window) else {
        return Value::Null;
    };
    json!({
        "requests": times.requests,
        "pipelined": times.pipelined,
        "timed": times.timed,
        "mean_ns": times.mean_ns(),
        "median_ns": times.quantile_ns(0.5),
        "p99_ns": times.quantile_ns(0.99),
    })
}

/// Growth of the columns of all CPUs together.
fn cpus(timeline: &Timeline, window: Window) -> Value {
    let sum = |column: &str| -> f64 {
        let cpus = timeline.entities.of_kind(EntityKind::Cpu);
        let grown = cpus.filter_map(|cpu| timeline.series("cpu", cpu.id, column)?.growth(window));
        grown.sum()
    };
    json!({
        "user_ns": sum("user_ns"),
        "system_ns": sum("system_ns"),
        "idle_ns": sum("idle_ns"),
        "steal_ns": sum("steal_ns"),
    })
}

#[test]
fn pages_of_kept_recordings() {
    for name in ["cpu-saturated", "io-sync", "cpu-quota", "step-change"] {
        keep(name, &kept(name));
    }
}

#[test]
fn a_page_with_gaps() {
    keep("gaps", &with_gaps(kept("cpu-neighbour")));
}

#[test]
fn a_page_with_request_times() {
    let recording = with_statements(with_programs(with_requests(kept("one-client"))));
    let report = analysis::answer(&recording.timeline, &recording.meta, None);
    let drawn = draw(&recording, &report, "drawn.stall").expect("it is drawn");
    keep_page("requests", &recording, &report, &text_of(&drawn));
}

#[test]
fn a_page_of_hostile_names() {
    keep("hostile", &with_names(&HOSTILE));
}

#[test]
fn a_page_of_call_stacks() {
    let mut recording = of_stacks();
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    let report = Report {
        spikes: Some(spikes(recording.timeline.window)),
        ..report
    };
    keep_without(&mut recording, "stacks", &report);
}

/// Tables that no part of the page needs which other pages do not show.
const ELSEWHERE: [&str; 17] = [
    "cgroup_io",
    "cgroup_limit",
    "cgroup_memory",
    "cgroup_stall",
    "connection",
    "filesystem",
    "kernel_wait",
    "peer_calls",
    "process_stall",
    "process_time",
    "serving",
    "softnet",
    "stall",
    "thread_pool",
    "thread_time",
    "wait_event",
    "wakeup",
];

#[test]
fn a_page_of_a_machine_whose_servers_were_asked() {
    let mut recording = of_machine();
    let Recording { timeline, meta, .. } = &mut recording;
    let report = analysis::conclude(timeline, meta, None, 2);
    for table in ELSEWHERE {
        assert!(timeline.table(table).is_some(), "{table} was recorded");
    }
    keep_without(&mut recording, "machine", &report);
}

/// Keeps a page of it without tables that other pages show.
fn keep_without(recording: &mut Recording, name: &str, report: &Report) {
    for table in ELSEWHERE {
        recording.timeline.remove(table);
    }
    let drawn = draw(recording, report, &format!("{name}.stall")).expect("it is drawn");
    keep_page(name, recording, report, &text_of(&drawn));
}
