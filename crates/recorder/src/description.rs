//! The description of a recording that begins now: the plan, and whose machine it is.

use std::collections::BTreeMap;
use std::time::Duration;

use kernel::Clocks;
use model::{Cost, FORMAT_VERSION, Identity, Meta, ReadEvery, Timestamp, Window, WorkloadRun};

use super::applications;
use super::plan::{Plan, PlannedSubject};
use super::workload_plan::WorkloadPlan;

/// The period of the target's threads that is asked for.
const FAST_PERIOD_NS: i64 = 100_000_000;

/// The description of a recording that begins at `clocks`. What turns up later is added to it; the plan
/// in it stays.
pub(super) fn description(plan: &Plan, clocks: Clocks) -> Meta {
    let environment = &plan.environment;
    let (command, workload) = match &plan.subject {
        PlannedSubject::Workload(workload) => ("run", Some(workload)),
        PlannedSubject::Running { .. } => ("record", None),
    };
    let mut facts = environment.facts.clone();
    let sources = plan.applications.iter();
    facts.extend(sources.flat_map(|source| applications::facts(&**source)));
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: uuid::Uuid::new_v4().to_string(),
            machine_id: environment.machine_id.clone(),
            boot_id: environment.boot_id.clone(),
            node: environment.node.clone(),
            stallscope: env!("CARGO_PKG_VERSION").to_owned(),
            anchor_realtime_ns: clocks.realtime_ns,
            anchor_boottime: clocks.boottime,
        },
        plan: model::Plan {
            command: command.to_owned(),
            targets: plan.targets.iter().map(|it| it.text.clone()).collect(),
            fast_period_ns: FAST_PERIOD_NS,
            typed: plan.typed.clone(),
            periods: periods(),
            trace_all: plan.trace_all,
            stack_rate: plan.stack_rate,
            min_wait_ns: plan.min_wait.map(|it| it.as_nanos() as u64),
            goals: plan.goals.clone(),
        },
        window: Window::new(clocks.boottime, clocks.boottime),
        complete: false,
        cpus: environment.cpus,
        environment: facts,
        targets: Vec::new(),
        no_target: None,
        workload: workload.map(|workload| run_of(workload, clocks.boottime)),
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

fn run_of(workload: &WorkloadPlan, started: Timestamp) -> WorkloadRun {
    WorkloadRun {
        name: workload.name.clone(),
        command: workloads::redact(&workload.argv),
        adapter: workload.known.then(|| workload.name.clone()),
        notices: workload.notices.clone(),
        signals: workload.patterns.clone(),
        is_heard: false,
        quantiles_option: workload
            .is_lacking_quantiles
            .then(|| "--quantiles".to_owned()),
        load: workload.load.clone(),
        latency: workload.latency,
        started,
        outcome: None,
    }
}

/// How often each table is read.
fn periods() -> BTreeMap<String, ReadEvery> {
    let ns = |period: Duration| i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
    let periods = sensors::periods().map(|(table, period)| {
        let every = ReadEvery {
            near_ns: ns(period.tracked),
            rest_ns: ns(period.background),
        };
        (table.to_owned(), every)
    });
    periods.collect()
}
