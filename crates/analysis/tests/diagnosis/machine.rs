//! The whole machine: everybody who was followed is judged as the only target, and ranked by the time lost.

use model::{
    MachineReport, MachineUnit, Meta, PartKind, Role, Timeline, UnitKind, UnitReport, Verdict,
};

use crate::drawing::{Drawn, drawn, with};
use crate::pools::{POOL, POOLER};

/// A server of one thread on the CPU of a batch job of one: it waits for it most of the time. Both were followed.
const TWO: &str = "
    cpus 1
    busy      ####################
    run x1    33333333333333333333
    gen x1    77777777777777777777
    thread_time.queued_target_ns worker1 *1e9 66666666666666666666
    thread_time.delay_caused_ns  worker1 *1e9 33333333333333333333
    thread_time.queued_target_ns loader1 *1e9 33333333333333333333
    thread_time.delay_caused_ns  loader1 *1e9 66666666666666666666
";

/// The same with four threads that serve: of each one's waits, others of the server cause a third of what the
/// batch job does.
const SIBLINGS: &str = "
    cpus 1
    busy      ####################
    run x4    11111111111111111111
    gen x1    55555555555555555555
    thread_time.queued_target_ns *1e9 88888888888888888888
    thread_time.delay_caused_ns  *1e9 11111111111111111111
    thread_time.queued_target_ns loader1 *1e9 33333333333333333333
    thread_time.delay_caused_ns  loader1 *1e9 99999999999999999999
";

/// As `record` without a target has it: server and load generator are two services, both followed.
fn of_machine(text: &str) -> Drawn {
    let mut drawn = drawn(text);
    drawn.meta.plan.command = "record".to_owned();
    for target in &mut drawn.meta.targets {
        target.role = Role::Target;
        target.machine_unit = Some(MachineUnit {
            kind: UnitKind::Process,
            group: None,
        });
    }
    for record in drawn.timeline.entities.iter_mut() {
        if record.role == Role::Generator {
            record.role = Role::Target;
        }
    }
    drawn
}

fn diagnose(drawn: &Drawn, top: usize) -> (MachineReport, Timeline, Meta) {
    let (mut timeline, mut meta) = (drawn.timeline.clone(), drawn.meta.clone());
    let report = analysis::conclude(&mut timeline, &mut meta, None, top);
    let machine = report.machine.expect("the machine was recorded");
    (machine, timeline, meta)
}

/// Behind whom somebody waited for a CPU, ms per second.
fn behind(unit: &UnitReport) -> Vec<(PartKind, String, i64)> {
    let window_s = unit.window.seconds();
    let parts = unit.waits.iter().flat_map(|wait| &wait.behind);
    let part = |part: &model::AccountPart| {
        let ms = part.ns as f64 / 1e6 / window_s;
        (part.kind, part.label.clone(), ms.round() as i64)
    };
    parts.map(part).collect()
}

#[test]
fn each_of_two_on_one_cpu_waits_behind_the_other() {
    let (machine, timeline, meta) = diagnose(&of_machine(TWO), 1);
    let lost: Vec<(&str, i64)> = machine
        .units
        .iter()
        .map(|unit| (&*unit.name, (unit.lost_per_second * 1e3).round() as i64))
        .collect();
    assert_eq!(lost, [("server", 600), ("loadgen", 300)]);
    let other = |name: &str, ms| (PartKind::Other, name.to_owned(), ms);
    assert_eq!(behind(&machine.units[0]), [other("loadgen", 600)]);
    assert_eq!(behind(&machine.units[1]), [other("server", 300)]);
    assert!(machine.units[0].verdict.is_some() && machine.units[1].verdict.is_none());
    // What is left is a recording of the first alone.
    assert_eq!(meta.targets.len(), 1);
    let roles = timeline
        .entities
        .iter()
        .filter(|it| it.role == Role::Target);
    assert!(roles.into_iter().all(|it| it.entity.name != "loadgen"));
    let verdict = machine.units[0].verdict.as_ref().expect("as seen");
    let headline = &verdict.findings[0];
    assert_eq!(headline.cause, "cpu.neighbour", "{headline:?}");
    assert_eq!(headline.entity.name, "loadgen");
}

#[test]
fn nobody_waits_behind_himself_but_behind_his_siblings() {
    let (machine, ..) = diagnose(&of_machine(SIBLINGS), 2);
    let server = machine.units.iter().find(|unit| unit.name == "server");
    let behind = behind(server.expect("it was followed"));
    // Of 3,200 ms a second: three siblings caused 0.3 of 1.2, the other one 0.9.
    let own = (PartKind::Own, "server".to_owned(), 800);
    let other = (PartKind::Other, "loadgen".to_owned(), 2_400);
    assert_eq!(behind, [other, own]);
}

#[test]
fn who_was_followed_too_briefly_to_be_measured_is_left_out() {
    let mut drawn = of_machine(TWO);
    drawn.timeline.remove("thread_time");
    drawn.timeline.remove("thread");
    let (machine, ..) = diagnose(&drawn, 5);
    assert_eq!(machine.units, []);
}

#[test]
fn a_recording_with_a_target_is_judged_as_before() {
    let drawn = drawn(TWO);
    let (mut timeline, mut meta) = (drawn.timeline.clone(), drawn.meta.clone());
    let mut report = analysis::conclude(&mut timeline, &mut meta, None, 5);
    assert!(report.named_after_ns.take().is_some());
    assert_eq!(report, drawn.diagnose());
    assert_eq!(meta, drawn.meta);
}

/// Requests take their time at the sockets of a server beside which a pooler has clients that wait.
#[test]
fn what_a_pooler_reports_is_about_nobody_else_on_the_machine() {
    let pooler = POOLER.lines().filter(|line| line.contains("pgbouncer."));
    let pooler = pooler.map(|line| line.replace(" server ", " other1 "));
    let text = with(POOL, "rest 11111111111111111111") + &pooler.collect::<Vec<_>>().join("\n");
    let longer = "\npgbouncer.wait_time_ns other1 *12e10 66666666666666666666";
    let text = with(&text, longer);
    let names_pooler = |verdict: &Verdict| {
        let findings = &verdict.findings;
        findings.iter().any(|it| it.entity.name == "other1")
    };
    assert!(names_pooler(&drawn(&text).diagnose().verdict));
    let (machine, _, _) = diagnose(&of_machine(&text), 5);
    let judged: Vec<bool> = machine
        .units
        .iter()
        .filter_map(|unit| Some(names_pooler(unit.verdict.as_ref()?)))
        .collect();
    assert!(!judged.is_empty() && !judged.contains(&true), "{judged:?}");
}
