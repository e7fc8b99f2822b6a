//! Reports drawn by hand, judged.

use model::{
    Confidence, Cost, Entity, Identity, REPORT_SCHEMA, ReportSubject, Timestamp, Verdict, Window,
};

use super::*;

const EXPECT: Expect = Expect {
    cause: "cpu.saturated",
    entity: Who::Target,
    also: None,
};

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
        contradictions: Vec::new(),
        prove_wrong: String::new(),
    }
}

/// A report about a server and a generator, with the given findings.
pub fn report(findings: &[(&str, Entity)]) -> Report {
    let origin = Timestamp::from_seconds(0.0);
    Report {
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
        verdict: Verdict {
            findings: findings
                .iter()
                .map(|(cause, entity)| finding(cause, entity.clone()))
                .collect(),
            innocent: Vec::new(),
            judged: Vec::new(),
            caveats: Vec::new(),
            not_seen: Vec::new(),
            account: None,
            generator: None,
            headroom: None,
        },
        phases: Vec::new(),
        signals: Vec::new(),
        pressure: Vec::new(),
        gaps: Vec::new(),
        cost: Cost::default(),
        environment: Default::default(),
    }
}

fn judged(expect: Expect, findings: &[(&str, Entity)]) -> bool {
    let mut outcome = Outcome::new("x", 1);
    outcome.limited_group = Some("/limited".to_owned());
    is_right(&report(findings), expect, &outcome)
}

#[test]
fn cause_and_entity_must_both_be_right() {
    assert!(judged(EXPECT, &[("cpu.saturated", server())]));
    assert!(!judged(EXPECT, &[("cpu.quota", server())]));
    assert!(!judged(EXPECT, &[("cpu.saturated", generator())]));
    assert!(!judged(EXPECT, &[]));
}

#[test]
fn only_the_headline_counts() {
    let findings = [("healthy", server()), ("cpu.saturated", server())];
    assert!(!judged(EXPECT, &findings));
}

#[test]
fn names_do_not_matter() {
    let renamed = Entity::new(EntityKind::Process, "something else", "pid:7@1");
    assert!(judged(EXPECT, &[("cpu.saturated", renamed)]));
    let other_kind = Entity::new(EntityKind::Thread, "postgres", "pid:7@1");
    assert!(!judged(EXPECT, &[("cpu.saturated", other_kind)]));
}

#[test]
fn a_second_finding_may_be_required() {
    let expect = Expect {
        cause: "healthy",
        entity: Who::Target,
        also: Some("load.rate"),
    };
    assert!(judged(
        expect,
        &[("healthy", server()), ("load.rate", generator())]
    ));
    assert!(!judged(expect, &[("healthy", server())]));
    assert!(!judged(
        expect,
        &[("load.rate", generator()), ("healthy", server())]
    ));
}

#[test]
fn the_limited_group_is_told_by_its_path() {
    let expect = Expect {
        cause: "cpu.quota",
        entity: Who::LimitedGroup,
        also: None,
    };
    let group = |path| Entity::new(EntityKind::Cgroup, "x", path);
    assert!(judged(expect, &[("cpu.quota", group("/limited"))]));
    assert!(!judged(expect, &[("cpu.quota", group("/"))]));
    let process = Entity::new(EntityKind::Process, "x", "/limited");
    assert!(!judged(expect, &[("cpu.quota", process)]));
}

#[test]
fn a_run_without_report_or_with_a_failed_command_is_wrong() {
    let scenario = &scenarios::named(&["cpu-saturated".to_owned()]).expect("known")[0];
    let mut outcome = Outcome::new(scenario.name, 1);
    outcome.status = Some(125);
    let wrong = Judgement::Counted {
        right: false,
        baseline_right: false,
    };
    assert_eq!(row(scenario, &outcome, None).judgement, wrong);
    assert_eq!(
        row(scenario, &outcome, None).found,
        "no report (stallscope: 125)"
    );
    let report = report(&[("cpu.saturated", server())]);
    assert_eq!(row(scenario, &outcome, Some(&report)).judgement, wrong);
    outcome.void = Some("steal 7.0 %".to_owned());
    let void = Judgement::Void("steal 7.0 %".to_owned());
    assert_eq!(row(scenario, &outcome, Some(&report)).judgement, void);
}

#[test]
fn the_status_is_0_only_if_all_that_counts_is_right() {
    let counted = |right| Judgement::Counted {
        right,
        baseline_right: false,
    };
    let (right, wrong) = (counted(true), counted(false));
    let void = Judgement::Void(String::new());
    let not_here = Judgement::NotHere(String::new());
    assert_eq!(status(&[&right, &right], true), 0);
    assert_eq!(status(&[&right, &wrong], false), 1);
    assert_eq!(status(&[&right, &void, &not_here], false), 0);
    assert_eq!(status(&[&right, &void], true), 1);
    assert_eq!(status(&[&right, &not_here], true), 1);
    assert_eq!(status(&[&right, &Judgement::NotRun], false), 1);
    assert_eq!(status(&[&void], false), 1, "nothing counts");
    assert_eq!(status(&[], false), 1);
}
