//! Calls drawn by what a log reported in each tenth of a second.

use model::{
    Cost, Entity, EntityEvent, EntityId, EntityRecord, FORMAT_VERSION, Identity, Meta, Plan,
    Schedule, Timestamp, TriggerKind,
};
use sensors::log::LOG_TEMPLATE;

use super::super::of;
use super::*;

const STEPS: i64 = 300;

fn at(step: i64) -> Timestamp {
    Timestamp::from_ns(step * STEP_NS)
}

/// A series by its kind and name, with what it grows by in a step.
struct Drawn<'a> {
    kind: EntityKind,
    name: &'a str,
    grows: fn(i64) -> i64,
}

fn call(name: &str, grows: fn(i64) -> i64) -> Drawn<'_> {
    let kind = EntityKind::LoggedCall;
    Drawn { kind, name, grows }
}

fn timeline(drawn: &[Drawn<'_>]) -> Timeline {
    let mut timeline = Timeline::new(Window::new(at(0), at(STEPS)));
    for (number, Drawn { kind, name, grows }) in (1..).zip(drawn) {
        let id = EntityId(number);
        let record = EntityRecord::new(
            id,
            Entity::new(*kind, *name, format!("{kind}:{number}")),
            at(0),
        );
        timeline.entities.apply(EntityEvent {
            time: at(0),
            record,
        });
        let table = match kind {
            EntityKind::LoggedCall => &LOGGED_CALL,
            _ => &LOG_TEMPLATE,
        };
        let data = timeline.table_mut(table);
        let mut sum = 0;
        for step in 0..=STEPS {
            let more = if step == 0 { 0 } else { grows(step - 1) };
            sum += more;
            // Calls of 2 ms; of templates the second column is bytes.
            let row = [sum, sum * 2_000_000, 0, 0, 0];
            data.push(at(step), id, &row[..table.columns.len()]);
        }
    }
    timeline
}

fn found(drawn: &[Drawn<'_>]) -> Option<model::SpikeReport> {
    let timeline = timeline(drawn);
    of(&timeline, &meta(timeline.window), timeline.window)
}

/// A recording without a workload.
fn meta(window: Window) -> Meta {
    Meta {
        format_version: FORMAT_VERSION,
        identity: Identity {
            recording_id: "drawn".to_owned(),
            machine_id: String::new(),
            boot_id: "drawn".to_owned(),
            node: "node".to_owned(),
            stallscope: "0.1.0".to_owned(),
            anchor_realtime_ns: 0,
            anchor_boottime: window.start,
        },
        plan: Plan::default(),
        window,
        complete: true,
        cpus: 2,
        environment: Default::default(),
        targets: Vec::new(),
        no_target: None,
        workload: None,
        gaps: Vec::new(),
        cost: Cost::default(),
        segment: None,
        firings: Vec::new(),
    }
}

fn heartbeat(step: i64) -> i64 {
    1 + step % 2
}

fn every_two_seconds(step: i64) -> i64 {
    if step % 20 == 5 { 400 } else { 0 }
}

#[test]
fn a_log_alone_has_the_period_and_the_method_that_bursts() {
    let report = found(&[
        call("a.Heartbeat 10.0.0.1 -> 10.0.0.9:7100", heartbeat),
        call(
            "a.GetTableSchema 10.0.0.1 -> 10.0.0.9:7100",
            every_two_seconds,
        ),
        call(
            "a.GetTableSchema 10.0.0.2 -> 10.0.0.9:7100",
            every_two_seconds,
        ),
    ]);
    let report = report.expect("there are bursts");
    assert_eq!(report.provenance, Provenance::Log);
    assert_eq!(report.spikes.len(), 15);
    assert_eq!(report.spikes[0].window, Window::new(at(5), at(6)));
    assert_eq!(report.usual_latency_ns, Some(2e6));
    assert_eq!(report.lost, 0.0);
    let train = report.trains.first().expect("they have a period");
    assert!((train.period_ns / 1e9 - 2.0).abs() < 0.01, "{train:?}");
    assert!(
        matches!(train.schedule, Schedule::Clock { .. }),
        "{train:?}"
    );
    let [method] = &report.methods[..] else {
        panic!("one method bursts: {:?}", report.methods);
    };
    assert_eq!(
        (
            &*method.method,
            &*method.callee,
            method.callers,
            method.spikes
        ),
        ("a.GetTableSchema", "10.0.0.9:7100", 2, 15)
    );
    assert_eq!((method.calls, method.usual_calls), (800.0, 0.0));
    assert_eq!(method.mean_ns, Some(2e6));
    assert!(
        report
            .triggers
            .iter()
            .all(|it| it.kind != TriggerKind::Calls)
    );
}

#[test]
fn even_calls_and_those_that_never_rest_are_no_bursts() {
    assert_eq!(found(&[]), None);
    let even = call("a.Heartbeat 10.0.0.1 -> 10.0.0.9:7100", heartbeat);
    assert_eq!(found(&[even]), None);
    let few = call("a.Get 10.0.0.1 -> 10.0.0.9:7100", |step| {
        i64::from(step % 20 == 5) * 4
    });
    assert_eq!(found(&[few]), None, "four calls are no burst");
    let often = call("a.Get 10.0.0.1 -> 10.0.0.9:7100", |step| {
        i64::from(step % 3 == 0) * 100
    });
    assert_eq!(found(&[often]), None, "a third of the time is usual");
}

#[test]
fn what_reaches_the_end_is_left_out() {
    let last = call("a.Get 10.0.0.1 -> 10.0.0.9:7100", |step| {
        i64::from(step >= STEPS - 2) * 100
    });
    assert_eq!(found(&[last]), None);
}

#[test]
fn lines_of_a_rare_template_and_bursts_of_calls_are_events() {
    let timeline = timeline(&[
        call("a.Get 10.0.0.1 -> 10.0.0.9:7100", every_two_seconds),
        Drawn {
            kind: EntityKind::LogTemplate,
            name: "invalidating the catalogue",
            grows: |step| i64::from(step % 100 == 5),
        },
        Drawn {
            kind: EntityKind::LogTemplate,
            name: "a line of every moment",
            grows: |step| 20 + step % 3,
        },
    ]);
    let streams = super::super::events::streams(&timeline, timeline.window);
    let said = streams
        .iter()
        .map(|it| (it.kind, &*it.name, it.times.len()));
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            (TriggerKind::Log, "invalidating the catalogue", 3),
            (TriggerKind::Calls, "a.Get -> 10.0.0.9:7100", 15),
        ]
    );
}
