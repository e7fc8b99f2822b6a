//! The description of the run that a drawing stands for.

use std::collections::BTreeMap;

use model::{
    Cost, ExitKind, FORMAT_VERSION, Identity, Load, Meta, Outcome, Plan, Provenance, Role, Target,
    Window, WorkloadRun,
};

use super::lanes::Drawing;
use super::people::People;

/// A run that went well, of a generator whose latency is measured.
pub fn describe(drawing: &Drawing, people: &People, window: Window) -> Meta {
    let target = |role, root, name: &str, connections| Target {
        role,
        root: Some(root),
        name: name.to_owned(),
        unit: "process".to_owned(),
        version: None,
        found_by: "pid 10".into(),
        connections,
        cpus_allowed: None,
        allowed: Vec::new(),
        found_at: people.found_at,
        machine_unit: None,
    };
    let server = people.server.map(|root| Target {
        cpus_allowed: drawing.number("allowed").map(|cpus| cpus as u32),
        allowed: drawing.word("which").map_or_else(Vec::new, numbers),
        ..target(Role::Target, root, "server", people.workers.len() as u32)
    });
    let loadgen = people
        .loadgen
        .map(|root| target(Role::Generator, root, "loadgen", 0));
    Meta {
        format_version: FORMAT_VERSION,
        identity: identity(window),
        plan: Plan {
            command: "run".to_owned(),
            fast_period_ns: 100_000_000,
            ..Plan::default()
        },
        window,
        complete: true,
        cpus: drawing.cpus() as u32,
        environment: BTreeMap::from([("machine.architecture".to_owned(), "x86_64".to_owned())]),
        targets: server.into_iter().chain(loadgen).collect(),
        no_target: None,
        workload: drawing.lane("tps").map(|_| workload(drawing, window)),
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

fn identity(window: Window) -> Identity {
    Identity {
        recording_id: "drawn".to_owned(),
        machine_id: String::new(),
        boot_id: "drawn".to_owned(),
        node: "node".to_owned(),
        stallscope: "0.1.0".to_owned(),
        anchor_realtime_ns: 0,
        anchor_boottime: window.start,
    }
}

fn workload(drawing: &Drawing, window: Window) -> WorkloadRun {
    WorkloadRun {
        name: "loadgen".to_owned(),
        command: vec!["loadgen".to_owned()],
        adapter: match drawing.word("adapter") {
            Some("none") => None,
            other => Some(other.unwrap_or("drawn").to_owned()),
        },
        notices: Vec::new(),
        signals: Vec::new(),
        is_heard: false,
        quantiles_option: None,
        load: Load {
            clients: Some(drawing.clients() as u32),
            threads: drawing.lane("gen").map(|lane| lane.times as u32),
            rate: drawing.number("rate").filter(|rate| *rate > 0.0),
            rate_unit: "tps".to_owned(),
            clients_option: Some("-c".to_owned()),
            rate_option: Some("-R".to_owned()),
        },
        latency: Provenance::ToolMean,
        started: window.start,
        outcome: Some(Outcome {
            ended: window.end,
            exit: ExitKind::Code(0),
            summary: None,
            remarks: Vec::new(),
            complaints: drawing.complaints(),
        }),
    }
}

/// `0,2`
fn numbers(list: &str) -> Vec<u32> {
    let each = list.split(',').map(str::parse);
    each.collect::<Result<_, _>>().expect("numbers of CPUs")
}
