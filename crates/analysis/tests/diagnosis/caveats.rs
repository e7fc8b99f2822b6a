//! Each doubt about the measurement is raised when it holds, and only then.

use expect_test::expect;
use model::{Cost, ExitKind, Gap, GapReason, Provenance, Summary};

use crate::drawing::{Drawn, drawn};
use crate::locks::DATABASE;
use crate::saturated::SATURATED;

fn caveats(run: &Drawn) -> String {
    let report = run.diagnose();
    let line = |caveat: &model::Caveat| format!("{}: {}\n", caveat.gate, caveat.sentence);
    report.verdict.caveats.iter().map(line).collect()
}

fn changed(change: impl FnOnce(&mut Drawn)) -> String {
    let mut run = drawn(SATURATED);
    change(&mut run);
    caveats(&run)
}

#[test]
fn a_good_run_raises_none() {
    expect![[""]].assert_eq(&caveats(&drawn(SATURATED)));
}

#[test]
fn no_target() {
    expect![[r#"
        gate.no_target: no server was found behind loadgen.
    "#]]
    .assert_eq(&changed(|run| {
        run.meta.no_target = Some("no server was found behind loadgen.".into());
    }));
}

#[test]
fn cut_off_or_ended_badly() {
    expect![[r#"
        gate.interrupted: the recording was cut off: it holds what was written up to its last second
    "#]]
    .assert_eq(&changed(|run| run.meta.complete = false));
    let outcome = |run: &mut Drawn, exit, complete: bool| {
        let workload = run.meta.workload.as_mut().expect("a workload");
        let outcome = workload.outcome.as_mut().expect("it ended");
        outcome.exit = exit;
        outcome.remarks = vec!["client 3 aborted".into()];
        outcome.summary = Some(Summary {
            complete,
            ..Summary::default()
        });
    };
    expect![[r#"
        gate.interrupted: client 3 aborted
    "#]]
    .assert_eq(&changed(|run| outcome(run, ExitKind::Code(2), true)));
    expect![[r#"
        gate.interrupted: client 3 aborted
    "#]]
    .assert_eq(&changed(|run| outcome(run, ExitKind::Signal(9), true)));
    expect![[r#"
        gate.interrupted: client 3 aborted
    "#]]
    .assert_eq(&changed(|run| outcome(run, ExitKind::Code(0), false)));
    expect![[r#"
        gate.interrupted: client 3 aborted
    "#]]
    .assert_eq(&changed(|run| outcome(run, ExitKind::Code(0), true)));
}

#[test]
fn too_short() {
    let of = |seconds: usize| {
        let cells = |line: &str| match line.len() >= 34 {
            true => format!("{}{}\n", &line[..14 + seconds], &line[34..]),
            false => format!("{line}\n"),
        };
        let text: String = SATURATED.lines().map(cells).collect();
        caveats(&drawn(&text))
    };
    expect![[r#"
        gate.short: only 4.0 s were steady: run at least 10 s for a verdict to rely on
    "#]]
    .assert_eq(&of(5));
    expect![[""]].assert_eq(&of(6));
}

#[test]
fn a_warm_up_longer_than_what_is_left() {
    let slow = SATURATED.replace("tps       99999999999", "tps       12223334445");
    expect![[r#"
        gate.warm_up: the warm-up took 10 s of 20 s: throughput may not have settled, run longer
    "#]]
    .assert_eq(&caveats(&drawn(&slow)));
    let found_late = SATURATED.replace(
        "run x10   11111111111111111111",
        "run x10   -----------111111111",
    );
    expect![[r#"
        gate.warm_up: the warm-up took 11 s of 20 s: throughput may not have settled, run longer
    "#]]
    .assert_eq(&caveats(&drawn(&found_late)));
}

#[test]
fn no_pressure() {
    let gap = |reason| Gap {
        table: "pressure".to_owned(),
        what: "".into(),
        window: None,
        reason,
    };
    expect![[r#"
        gate.pressure_off: no pressure was recorded: boot with psi=1
    "#]]
    .assert_eq(&changed(|run| {
        run.timeline
            .gaps
            .push(gap(GapReason::Unsupported("boot with psi=1".into())));
    }));
    expect![[""]].assert_eq(&changed(|run| {
        run.timeline.gaps.push(gap(GapReason::Overrun))
    }));
}

#[test]
fn who_holds_a_lock_of_the_database_is_seen_where_it_was_asked() {
    let not_collected = |text: &str| drawn(text).diagnose().verdict.not_collected[0].clone();
    assert!(not_collected(SATURATED).contains("who holds which lock,"));
    assert!(not_collected(DATABASE).contains("who holds which lock but the database's,"));
}

#[test]
fn what_the_machine_withheld_points_to_the_doctor() {
    let with = |table: &str, what: &str| {
        let mut run = drawn(SATURATED);
        run.timeline.gaps.push(Gap {
            table: table.to_owned(),
            what: what.to_owned().into(),
            window: None,
            reason: GapReason::Denied("run as root".into()),
        });
        let not_collected = run.diagnose().verdict.not_collected;
        not_collected
            .iter()
            .any(|it| it.contains("stallscope doctor"))
    };
    assert!(with("thread", "syscall"));
    assert!(with("pressure", "proc/pressure/cpu"));
    // A server that refuses a question is no matter of the machine's.
    assert!(!with("pg_session", ""));
    assert!(!with("thread", "wait_event"));
}

#[test]
fn deadlines_missed() {
    let with = |cells: &str| caveats(&drawn(&format!("{SATURATED}missed {cells}\n")));
    // A tenth of a cell is ten deadlines of a sampler of 100 ms.
    expect![[r#"
        gate.gaps: the sampler missed 10 of its deadlines, the worst by 100 ms: it was starved, or stopped
    "#]].assert_eq(&with("00000100000000000000"));
    expect![[""]].assert_eq(&with("10000000000000000000"));
}

#[test]
fn rows_that_the_disk_did_not_take() {
    expect![[r#"
        gate.unwritten: the disk did not take everything that was recorded: rows are lacking from 7 s to 9 s (No space left on device (os error 28): 512 rows)
    "#]].assert_eq(&changed(|run| {
        let start = run.timeline.window.start;
        run.timeline.gaps.push(Gap {
            table: "*".to_owned(),
            what: "".into(),
            window: Some(model::Window::new(
                start + 7_000_000_000,
                start + 9_400_000_000,
            )),
            reason: GapReason::Unwritten(
                "No space left on device (os error 28): 512 rows".into(),
            ),
        });
    }));
}

#[test]
fn rows_that_the_recorder_had_no_room_for() {
    let gap = |table: &str, what: &str, count| Gap {
        table: table.to_owned(),
        what: what.to_owned().into(),
        window: None,
        reason: GapReason::Dropped(count),
    };
    expect![[r#"
        gate.dropped: the recorder could not write as fast as it read: rows are lacking from 3 s to 5 s (30,000 rows)
    "#]].assert_eq(&changed(|run| {
        let start = run.timeline.window.start;
        let window = Some(model::Window::new(start + 3_000_000_000, start + 5_000_000_000));
        run.timeline.gaps.push(Gap { window, ..gap("*", "", 30_000) });
    }));
    // What there are too many of is no doubt about the rest.
    let mut run = drawn(SATURATED);
    run.timeline.gaps.push(gap("cgroup_cpu", "groups", 2_500));
    run.timeline.gaps.push(gap("cgroup_cpu", "groups", 1_200));
    let verdict = run.diagnose().verdict;
    assert_eq!(verdict.caveats, []);
    assert_eq!(verdict.not_collected[1..], ["2,500 groups were left out"]);
}

#[test]
fn what_could_not_be_read() {
    let gap = |table: &str, text: &str| Gap {
        table: table.to_owned(),
        what: "".into(),
        window: None,
        reason: GapReason::Malformed(text.to_owned().into()),
    };
    expect![[r#"
        gate.unread: not everything could be read: thread.arrow was read up to byte 0: it is empty; meta.json: its checksum does not fit; tcp: no number
    "#]].assert_eq(&changed(|run| {
        run.timeline.gaps.extend([
            gap("thread", "thread.arrow was read up to byte 0: it is empty"),
            gap("*", "meta.json: its checksum does not fit"),
            gap("tcp", "no number"),
        ]);
    }));
}

#[test]
fn periods_that_were_stretched() {
    // Digits are factors on the periods, the target's of 100 ms.
    let with = |near: &str, rest: &str| {
        let lanes = format!("near_by {near}\nrest_by {rest}\n");
        caveats(&drawn(&format!("{SATURATED}{lanes}")))
    };
    expect![[r#"
        gate.stretched: to keep recording cheap, from 5 s on other processes and groups were read up to 5 times less often; from 9 s on the target's threads were read every 500 ms by then, not every 100 ms: what lasts shorter is seen less well
    "#]].assert_eq(&with("11111111225555555555", "11112455555555555555"));
    expect![[r#"
        gate.stretched: to keep recording cheap, from 5 s on other processes and groups were read up to 2 times less often: what lasts shorter is seen less well
    "#]].assert_eq(&with("11111111111111111111", "11112222222222222222"));
    expect![[""]].assert_eq(&with("11111111111111111111", "11111111111111111111"));
}

#[test]
fn own_cost() {
    let with = |cells: &str| caveats(&drawn(&format!("{SATURATED}recorder {cells}\n")));
    // Tenths of a tenth of a CPU.
    expect![[r#"
        gate.own_cost: recording itself took 3 % of a CPU
    "#]]
    .assert_eq(&with("33333333333333333333"));
    expect![[""]].assert_eq(&with("11111111111111111111"));
    let unseen = changed(|run| {
        run.meta.cost = Cost {
            cpu_ns: 1,
            wall_ns: 20_000_000_000,
            ..Cost::default()
        };
    });
    assert_eq!(unseen, "", "the recorder's own table decides");
}

#[test]
fn latency_that_was_derived() {
    expect![[r#"
        gate.latency_derived: loadgen worked its latency out from clients and throughput: it is no evidence, shares are of busy time
    "#]].assert_eq(&changed(|run| {
        let workload = run.meta.workload.as_mut().expect("a workload");
        workload.latency = Provenance::Derived;
    }));
}

#[test]
fn seconds_without_a_completed_operation() {
    let stalled = SATURATED.replace("tps       9999999999", "tps       9999900999");
    expect![[r#"
        gate.stalled: in 2 intervals nothing was completed: latency has no data there, and the mean hides the stall
    "#]].assert_eq(&caveats(&drawn(&stalled)));
}

#[test]
fn steal() {
    let with = |cells: &str| {
        let text = SATURATED.replace(
            "busy      ####################",
            "busy      99999999999999999999",
        );
        caveats(&drawn(&format!("{text}steal {cells}\n")))
    };
    expect![[r#"
        gate.steal: the hypervisor took 10 % of the CPUs away (steal): compare within this run only
    "#]]
    .assert_eq(&with("11111111111111111111"));
    expect![[""]].assert_eq(&with("00000101010101010101"));
}

#[test]
fn laws_that_are_broken() {
    // Ten threads are busy for more than the requests took: some of it was not for these requests.
    let more = SATURATED.to_owned() + "ms 55555555555555555555\n";
    expect![[r#"
        gate.law: the parts of the response time add up to 120 %: some of it was not spent on these requests, and nothing is called measured
    "#]].assert_eq(&caveats(&drawn(
        &SATURATED.replace("clients 10", "clients 5"),
    )));
    // 900 per second of 50 ms each are 45 in flight, of ten clients.
    expect![[r#"
        gate.law: throughput x latency gives 45.0 requests in flight, more than the 10 clients (Little's law)
    "#]].assert_eq(&caveats(&drawn(&more)));
}

#[test]
fn what_the_hypervisor_took_breaks_no_law() {
    let report = drawn(crate::cores::STEAL).diagnose();
    let gates: Vec<&str> = report
        .verdict
        .caveats
        .iter()
        .map(|it| it.gate.as_str())
        .collect();
    expect!["gate.steal"].assert_eq(&gates.join(", "));
}
