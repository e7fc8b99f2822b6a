//! Reports drawn by hand, judged.

use model::{
    Confidence, Cost, Entity, EntityKind, Finding, Identity, REPORT_SCHEMA, Report, ReportSubject,
    Role, Timestamp, Verdict, Window,
};

use super::*;
use crate::outcome::Steps;
use crate::removal::tests::removal;
use crate::scenario::{Expect, Set, Who};

const EXPECT: Expect = Expect::one("cpu.saturated", Who::Target);

fn server() -> Entity {
    Entity::new(EntityKind::Process, "postgres", "pid:7@1")
}

fn generator() -> Entity {
    Entity::new(EntityKind::Process, "pgbench", "pid:9@1")
}

fn subject(role: Role, entity: Entity) -> ReportSubject {
    ReportSubject {
        role,
        entity,
        found_by: String::new(),
        unit: "backend".to_owned(),
        serving: 1,
        cpu_ns: 0,
        threads: None,
    }
}

fn finding(cause: &str, entity: Entity) -> Finding {
    Finding {
        cause: cause.to_owned(),
        entity,
        confidence: Confidence::Measured,
        share: None,
        share_interval: None,
        sentence: String::new(),
        evidence: Vec::new(),
        would_help: Vec::new(),
        would_not_help: Vec::new(),
        evidence_against: Vec::new(),
        to_confirm: String::new(),
        at_peer: None,
    }
}

/// A report about a server and a generator, with the given findings.
pub fn report(findings: &[(&str, Entity)]) -> Report {
    let origin = Timestamp::from_seconds(0.0);
    Report {
        by_second: None,
        spikes: None,
        programs: Vec::new(),
        statements: Vec::new(),
        lock_holders: Vec::new(),
        wait_graph: Vec::new(),
        stacks: None,
        think_time: None,
        workload: None,
        schema: REPORT_SCHEMA.to_owned(),
        identity: Identity {
            recording_id: String::new(),
            machine_id: String::new(),
            boot_id: String::new(),
            node: String::new(),
            stallscope: String::new(),
            anchor_realtime_ns: 0,
            anchor_boottime: origin,
        },
        window: Window::new(origin, Timestamp::from_seconds(10.0)),
        origin,
        subjects: vec![
            subject(Role::Target, server()),
            subject(Role::Generator, generator()),
        ],
        threads: Vec::new(),
        verdict: Verdict {
            findings: findings
                .iter()
                .map(|(cause, entity)| finding(cause, entity.clone()))
                .collect(),
            ruled_out: Vec::new(),
            judged: Vec::new(),
            caveats: Vec::new(),
            not_collected: Vec::new(),
            account: None,
            generator: None,
            headroom: None,
        },
        labels: Vec::new(),
        disks: Vec::new(),
        connections: Vec::new(),
        phases: Vec::new(),
        goals: Vec::new(),
        machine: None,
        proof: None,
        named_after_ns: None,
        signals: Vec::new(),
        pressure: Vec::new(),
        gaps: Vec::new(),
        cost: Cost::default(),
        environment: Default::default(),
    }
}

fn answer(findings: &[(&str, Entity)]) -> Answer {
    Answer {
        report: report(findings),
        steps: Steps::default(),
    }
}

/// A row of a run that counts.
pub(super) fn counted(scenario: &'static str, mechanism: &'static str, found: Found) -> Row {
    Row {
        scenario,
        mechanism,
        kind: Kind::Cause,
        repetition: Some(1),
        expected: String::new(),
        found: String::new(),
        claims: [Claim::Silent; 3],
        headline: None,
        removal: None,
        judgement: Judgement::Counted {
            found,
            rules: [false; 3],
        },
    }
}

fn outcome() -> Outcome {
    let mut outcome = Outcome::new("x", 1);
    outcome
        .cast
        .insert(Who::LimitedGroup, "/limited".to_owned());
    outcome.cast.insert(Who::Holder, "pid:7@".to_owned());
    // Started by the lab beside `record`; the other one plays the role.
    outcome.cast.insert(Who::Generator, "pid:3@".to_owned());
    outcome.cast.insert(Who::Thread, "/tid:8".to_owned());
    outcome.cast.insert(Who::Cpu, "cpu1".to_owned());
    outcome.cast.insert(Who::Filesystem, "/full".to_owned());
    outcome.cast.insert(Who::Disk, "vda".to_owned());
    outcome
}

fn judged(expect: Expect, findings: &[(&str, Entity)]) -> Found {
    judge(&answer(findings), expect, &outcome())
}

#[test]
fn cause_and_entity_must_both_be_right() {
    assert_eq!(judged(EXPECT, &[("cpu.saturated", server())]), Found::First);
    assert_eq!(judged(EXPECT, &[("cpu.quota", server())]), Found::Not);
    assert_eq!(
        judged(EXPECT, &[("cpu.saturated", generator())]),
        Found::Not
    );
    assert_eq!(judged(EXPECT, &[]), Found::Not);
}

#[test]
fn the_headline_counts_and_the_first_three_are_counted_apart() {
    let mut findings = vec![("healthy", server()), ("cpu.saturated", server())];
    assert_eq!(judged(EXPECT, &findings), Found::AmongThree);
    findings.splice(0..0, [("a.b", server()), ("c.d", server())]);
    assert_eq!(judged(EXPECT, &findings), Found::Not);
}

#[test]
fn names_do_not_matter() {
    let renamed = Entity::new(EntityKind::Process, "something else", "pid:7@1");
    assert_eq!(judged(EXPECT, &[("cpu.saturated", renamed)]), Found::First);
    let other_kind = Entity::new(EntityKind::Thread, "postgres", "pid:7@1");
    assert_eq!(judged(EXPECT, &[("cpu.saturated", other_kind)]), Found::Not);
}

#[test]
fn a_second_finding_may_be_required() {
    let expect = Expect::healthy();
    let both = [("healthy", server()), ("load.rate", generator())];
    assert_eq!(judged(expect, &both), Found::First);
    assert_eq!(judged(expect, &both[..1]), Found::AmongThree);
}

#[test]
fn groups_processes_and_threads_are_told_by_their_paths() {
    let found = |who, kind, path| {
        let entity = Entity::new(kind, "x", path);
        judged(Expect::one("a.b", who), &[("a.b", entity)]) == Found::First
    };
    assert!(found(Who::LimitedGroup, EntityKind::Cgroup, "/limited"));
    assert!(!found(Who::LimitedGroup, EntityKind::Cgroup, "/"));
    assert!(!found(Who::LimitedGroup, EntityKind::Process, "/limited"));
    assert!(!found(Who::NeighbourGroup, EntityKind::Cgroup, "/limited"));
    assert!(found(Who::Holder, EntityKind::Process, "pid:7@123"));
    assert!(!found(Who::Holder, EntityKind::Process, "pid:71@123"));
    assert!(found(Who::Generator, EntityKind::Process, "pid:9@1"));
    assert!(found(Who::Generator, EntityKind::Process, "pid:3@1"));
    assert!(!found(Who::Generator, EntityKind::Process, "pid:7@1"));
    assert!(found(Who::Thread, EntityKind::Thread, "pid:7@1/tid:8"));
    assert!(!found(Who::Thread, EntityKind::Thread, "pid:7@1/tid:18"));
    assert!(found(Who::Cpu, EntityKind::Cpu, "cpu1"));
    assert!(!found(Who::Cpu, EntityKind::Cpu, "cpu11"));
    assert!(found(Who::Filesystem, EntityKind::Filesystem, "/full"));
    assert!(!found(Who::Filesystem, EntityKind::Disk, "/full"));
    assert!(found(Who::Disk, EntityKind::Disk, "vda"));
    assert!(!found(Who::Disk, EntityKind::Disk, "vdb"));
    assert!(!found(Who::Disk, EntityKind::Process, "vda"));
    assert!(found(Who::Anyone, EntityKind::Machine, ""));
    assert!(found(Who::Machine, EntityKind::Machine, ""));
    assert!(!found(Who::Machine, EntityKind::Process, "pid:7@1"));
}

#[test]
fn with_steps_every_phase_must_be_right() {
    let expect = Expect {
        phases: &[("a.b", Who::Anyone), ("c.d", Who::LimitedGroup)],
        ..EXPECT
    };
    let phase = |cause: &str| {
        format!(
            r#"{{"kind": "steady", "verdict": {{"cause": "{cause}", "share": null,
                "entity": {{"kind": "cgroup", "name": "", "path": "/limited"}}}}}}"#
        )
    };
    let found = |phases: &[String]| {
        let text = format!(
            r#"{{"phases": [{{"kind": "warm_up"}}, {}]}}"#,
            phases.join(",")
        );
        let steps: Steps = serde_json::from_str(&text).expect("phases");
        let report = report(&[("cpu.saturated", server())]);
        let answer = Answer { report, steps };
        judge(&answer, expect, &outcome())
    };
    assert_eq!(found(&[phase("a.b"), phase("c.d")]), Found::First);
    assert_eq!(
        found(&[phase("a.b"), phase("a.b"), phase("c.d")]),
        Found::First
    );
    assert_eq!(found(&[phase("c.d"), phase("a.b")]), Found::Not);
    assert_eq!(found(&[phase("a.b")]), Found::Not);
}

#[test]
fn a_run_without_report_or_with_a_failed_command_is_wrong() {
    let chosen = scenarios::chosen(&["cpu-saturated".to_owned()], Set::Tuned);
    let scenario = &chosen.expect("known")[0];
    let row = |outcome: &Outcome, answer| row(scenario, outcome, answer, &Metrics::new());
    let found = |row: &Row| match &row.judgement {
        Judgement::Counted { found, .. } => Some(*found),
        _ => None,
    };
    let mut outcome = Outcome::new(scenario.name, 1);
    outcome.status = Some(125);
    assert_eq!(found(&row(&outcome, None)), Some(Found::Not));
    assert_eq!(row(&outcome, None).found, "no report (stallscope: 125)");
    let answer = answer(&[("cpu.saturated", server())]);
    assert_eq!(found(&row(&outcome, Some(&answer))), Some(Found::Not));
    outcome.status = Some(0);
    assert_eq!(found(&row(&outcome, Some(&answer))), Some(Found::First));
    outcome.void = Some("steal 7.0 %".to_owned());
    assert_eq!(found(&row(&outcome, Some(&answer))), None);
}

#[test]
fn an_alarm_and_a_comfort_are_wrong_in_opposite_ways() {
    let row = |name: &str, cause| {
        let chosen = scenarios::chosen(&[name.to_owned()], Set::Tuned).expect("known");
        let mut outcome = Outcome::new(name, 1);
        outcome.status = Some(0);
        let answer = answer(&[(cause, server())]);
        row(&chosen[0], &outcome, Some(&answer), &Metrics::new())
    };
    assert!(row("nice-batch", "cpu.saturated").is_alarm());
    assert!(row("rate-limited", "io.sync").is_alarm());
    assert!(!row("nice-batch", "healthy").is_alarm());
    assert!(!row("nice-batch", "undetermined").is_alarm());
    assert!(!row("cpu-quota", "cpu.saturated").is_alarm());
    assert!(row("cpu-quota", "healthy").is_false_comfort());
    assert!(!row("cpu-quota", "undetermined").is_false_comfort());
    assert!(!row("nice-batch", "healthy").is_false_comfort());
}

#[test]
fn of_two_causes_both_must_be_named_and_either_may_come_first() {
    let expect = Expect::one("a.b", Who::Target).and("c.d", Who::Generator);
    let (one, other) = (("a.b", server()), ("c.d", generator()));
    assert_eq!(judged(expect, &[one.clone(), other.clone()]), Found::First);
    assert_eq!(judged(expect, &[other.clone(), one.clone()]), Found::First);
    assert_eq!(
        judged(expect, std::slice::from_ref(&one)),
        Found::AmongThree
    );
    let behind = [("e.f", server()), one, other];
    assert_eq!(judged(expect, &behind), Found::AmongThree);
    assert_eq!(judged(expect, &behind[..1]), Found::Not);
}

#[test]
fn an_unnamed_cause_may_be_left_undetermined_or_named() {
    let expect = Expect::undetermined_or(&[("lock.runtime", Who::Target)]);
    assert_eq!(judged(expect, &[("undetermined", server())]), Found::First);
    assert_eq!(judged(expect, &[("lock.runtime", server())]), Found::First);
    assert_eq!(judged(expect, &[("healthy", server())]), Found::Not);
}

#[test]
fn a_peer_is_known_by_its_process_or_its_address() {
    let mut outcome = outcome();
    let cast = "pid:7@ 10.0.0.2:80".to_owned();
    outcome.cast.insert(Who::Peer, cast);
    let found = |kind, path| {
        let answer = answer(&[("net.remote", Entity::new(kind, "x", path))]);
        judge(&answer, Expect::one("net.remote", Who::Peer), &outcome) == Found::First
    };
    assert!(found(EntityKind::Process, "pid:7@123"));
    assert!(!found(EntityKind::Process, "pid:77@123"));
    assert!(found(
        EntityKind::Connection,
        "pid:9@1/10.0.0.1:5000-10.0.0.2:80"
    ));
    assert!(!found(EntityKind::Process, "pid:9@1"));
}

#[test]
fn a_decoy_that_costs_something_does_not_count() {
    let beside = |p99| {
        let removal = removal((500.0, 1.0, p99), (500.0, 1.0, 4.0));
        let row = Row {
            kind: Kind::Decoy,
            ..counted("nice-batch", "x", Found::First)
        };
        row.beside(Some(removal)).found()
    };
    assert_eq!(beside(4.1), Some(Found::First));
    assert_eq!(beside(9.0), None);
}

#[test]
fn the_status_is_0_only_if_all_that_counts_is_right() {
    let counted = |found| Judgement::Counted {
        found,
        rules: [false; 3],
    };
    let (right, wrong) = (counted(Found::First), counted(Found::AmongThree));
    let void = Judgement::Void(String::new());
    let not_here = Judgement::NotHere(String::new());
    let not_made = Judgement::NotMade(String::new());
    assert_eq!(status(&[&right, &not_made], true), 0);
    assert_eq!(status(&[&not_made], false), 1);
    assert_eq!(status(&[&right, &right], true), 0);
    assert_eq!(status(&[&right, &wrong], false), 1);
    assert_eq!(status(&[&right, &void, &not_here], false), 0);
    assert_eq!(status(&[&right, &void], true), 1);
    assert_eq!(status(&[&right, &not_here], true), 1);
    assert_eq!(status(&[&right, &Judgement::NotRun], false), 1);
    assert_eq!(status(&[&void], false), 1, "nothing counts");
    assert_eq!(status(&[], false), 1);
}
