mod functions;

use std::collections::BTreeMap;

use expect_test::expect;
use model::{
    ComparedRun, Confidence, Entity, EntityKind, Identity, IntervalMethod, LedgerClass,
    PhaseVerdict, Provenance, Timestamp, Window,
};

use super::intervals::Second;
use super::measured::AccountedSecond;
use super::*;
use crate::exposure::Exposure;
use crate::stats::Xorshift;

const S: i64 = 1_000_000_000;

/// A run of 20 s in which each second is like the other.
fn run(name: &str, figures: &[(&str, f64)]) -> Measured {
    let values: BTreeMap<String, f64> = figures
        .iter()
        .map(|(key, it)| ((*key).to_owned(), *it))
        .collect();
    let throughput = values.get("throughput").copied();
    let latency = values.get("latency").copied();
    let window = Window::new(Timestamp::from_ns(0), Timestamp::from_ns(20 * S));
    let second = |at: u32| {
        // Seconds of one run are not quite alike.
        let requests = throughput.unwrap_or(0.0) * (1.0 + 0.01 * f64::from(at * 7 % 5));
        Second {
            length_s: 1.0,
            requests,
            response_ns: latency.map(|it| it * requests),
            buckets: Vec::new(),
        }
    };
    Measured {
        run: ComparedRun {
            name: name.to_owned(),
            identity: identity(),
            window,
            steady_s: 0.0,
            rate_unit: "tps".to_owned(),
            verdict: None,
            would_help: Vec::new(),
            course: Vec::new(),
            marks: Vec::new(),
            round: None,
            taken: None,
            disks: Vec::new(),
        },
        facts: BTreeMap::new(),
        values,
        totals: BTreeMap::new(),
        requests: throughput.map(|it| it * window.seconds()),
        latency: Provenance::ToolMean,
        seconds: (0..20).map(second).collect(),
        account: Vec::new(),
        code: None,
        asked: None,
        goals: Vec::new(),
        exposure: Err("it was not measured"),
        setting: model::PointSetting::default(),
    }
}

/// Runs in rounds: throughput, CPU time of a request in ns, and what others took of it.
fn in_turns(name: &str, runs: &[(f64, f64, Exposure)]) -> Group {
    let one = |((throughput, cpu_ns, exposure), round): (&(f64, f64, Exposure), u32)| {
        let mut run = run(
            &format!("{round:03}-{name}"),
            &[("throughput", *throughput)],
        );
        run.totals.insert("cpu.both", throughput * 20.0 * cpu_ns);
        run.exposure = Ok(*exposure);
        run.in_round(round)
    };
    group(name, runs.iter().zip(1..).map(one).collect())
}

/// On two CPUs, of which others have a part of one while it waits for it.
fn beside(part: f64) -> Exposure {
    Exposure {
        own: 2.0 - part,
        others: part,
        stolen: 0.0,
        cpus: 2.0,
        waiting: 3.0 * part,
        standing: 0.9,
        busiest: 0.2,
        links: 1.0,
        clients: f64::INFINITY,
        asked: f64::INFINITY,
    }
}

fn identity() -> Identity {
    Identity {
        recording_id: String::new(),
        machine_id: String::new(),
        boot_id: String::new(),
        node: String::new(),
        stallscope: String::new(),
        anchor_realtime_ns: 0,
        anchor_boottime: Timestamp::from_ns(0),
    }
}

fn judged(mut run: Measured, cause: &str, entity: &str, share: f64) -> Measured {
    run.run.verdict = Some(PhaseVerdict {
        cause: cause.to_owned(),
        entity: Entity::new(EntityKind::Process, entity, entity),
        share: Some(share),
        confidence: Confidence::Measured,
        sentence: String::new(),
        at_peer: None,
    });
    run
}

fn group(name: &str, runs: Vec<Measured>) -> Group {
    Group {
        name: name.to_owned(),
        runs,
    }
}

/// Runs around a throughput, with 8 clients in a closed loop and a part of each request in fsync.
fn syncing(name: &str, throughput: f64, sync_ns: f64) -> Group {
    let one = |at: usize, factor: f64| {
        let latency = 8e9 / (throughput * factor);
        let figures = [
            ("throughput", throughput * factor),
            ("latency", latency),
            ("wait.sync", sync_ns),
            ("wait.on_cpu", latency - sync_ns),
            ("load1", 8.0),
        ];
        judged(
            run(&format!("{name}-{at}"), &figures),
            "io.sync",
            "postgres",
            sync_ns / latency,
        )
    };
    let runs = [0.99, 1.0, 1.01, 1.005].into_iter().enumerate();
    group(name, runs.map(|(at, factor)| one(at, factor)).collect())
}

fn told(comparison: &Comparison) -> String {
    let mut text = comparison
        .answers
        .iter()
        .map(|it| it.join("\n"))
        .collect::<Vec<_>>()
        .join("\n---\n");
    for it in &comparison.environment {
        text.push_str(&format!("\n{}: {:?}", it.name, it.values));
    }
    for it in &comparison.caveats {
        text.push_str(&format!("\n! {it}"));
    }
    text + "\n"
}

#[test]
fn what_is_slower_is_said_with_what_it_waits_for() {
    let comparison = compare(vec![
        syncing("fast", 4000.0, 1e6),
        syncing("slow", 1000.0, 7e6),
    ]);
    expect![[r#"
        slow does 75 % less than fast: 1,002 instead of 4,010 tps (95 % interval of the difference: -75 % to -74 %).
        A request takes 4.00 times as long: 7.98 ms instead of 2.00 ms on average (95 % interval: 3.92 to 4.08 times).
        Of the 5.99 ms more: syncing to disk (fsync) 6.00 ms (100 %).
        The bottleneck is the same in both: io.sync (postgres, 87 %, measured).
        Load average does not tell them apart: it is 8.00 and 8.00.
    "#]].assert_eq(&told(&comparison));
    let throughput = comparison.figure("throughput").expect("it is compared");
    let difference = throughput.differences[0].expect("both have it");
    assert_eq!(difference.method, IntervalMethod::BetweenRuns);
    let interval = difference.interval.expect("four runs each");
    assert!(
        interval.low < -0.75 && -0.75 < interval.high && interval.high < -0.7,
        "{interval:?}"
    );
    assert!(
        throughput
            .noise
            .is_some_and(|it| (0.005..0.012).contains(&it))
    );
}

#[test]
fn pressure_by_which_nothing_is_lost_is_said_to_be_that() {
    let with = |name: &str, io: f64, load: f64| {
        let figures = [
            ("throughput", 100.0),
            ("latency", 8e7),
            ("pressure.io_full", io),
            ("load1", load),
        ];
        group(
            name,
            vec![judged(run(name, &figures), "cpu.saturated", "apache2", 0.9)],
        )
    };
    let comparison = compare(vec![with("fast", 0.02, 30.0), with("slow", 0.7, 12.0)]);
    expect![[r#"
        slow does as much as fast: 100 instead of 100 tps (95 % interval of the difference: -0.5 % to +0.5 %).
        The bottleneck is the same in both: cpu.saturated (apache2, 90 %, measured).
        I/O pressure (full) is 70 % instead of 2 %, and nothing is lost by it: throughput is not lower, and requests take no longer.
        Load average is 30.0 and 12.0, though both do as much.
        ! With one recording each, intervals hold what varies within a run, not what varies from run to run. Several of each tell more: stallscope compare 'A-*.stall' 'B-*.stall'.
    "#]].assert_eq(&told(&comparison));
}

#[test]
fn facts_that_differ_are_listed_and_runs_without_requests_named() {
    let of = |name: &str, kernel: Option<&str>| {
        let mut run = run(name, &[("pressure.cpu_some", 0.5)]);
        run.facts.insert("cpu.number".to_owned(), "2".to_owned());
        run.facts
            .extend(kernel.map(|it| ("kernel.release".to_owned(), it.to_owned())));
        run.totals.insert("disk.read", 20e6);
        run
    };
    let comparison = compare(vec![
        group(
            "old",
            vec![of("old-1", Some("6.1")), of("old-2", Some("6.2"))],
        ),
        group("new", vec![of("new", Some("6.18"))]),
    ]);
    expect![[r#"
        No throughput is known of old or of new: who does more is not said.
        kernel.release: [Some("6.1 | 6.2"), Some("6.18")]
        ! Requests were not counted in old-1, old-2, new: what was used is given per second.
    "#]]
    .assert_eq(&told(&comparison));
    let read = comparison.figure("disk.read").expect("it is compared");
    assert_eq!(
        (read.label.as_str(), read.values[0]),
        ("read from disks per second", Some(1e6))
    );
}

#[test]
fn a_single_recording_each_has_the_interval_of_what_varies_within() {
    let one = |name: &str, rate: f64| {
        group(
            name,
            vec![run(name, &[("throughput", rate), ("latency", 8e9 / rate)])],
        )
    };
    let comparison = compare(vec![one("a", 100.0), one("b", 104.0)]);
    let of = |key: &str| {
        comparison.figure(key).expect("it is compared").differences[0].expect("both have it")
    };
    let throughput = of("throughput");
    assert_eq!(throughput.method, IntervalMethod::WithinRuns);
    assert!(throughput.is_shown(), "{throughput:?}");
    let interval = throughput.interval.expect("20 seconds each");
    assert!(interval.low < 0.04 && 0.04 < interval.high, "{interval:?}");
    assert!(of("latency").relative.is_some_and(|it| it < 0.0));
}

#[test]
fn a_wait_within_one_recording_each_has_an_interval_too() {
    // Half of each request waits for a CPU in the one, and a quarter in the other, a little more or less each second.
    let one = |name: &str, part: f64| {
        let waited = part * 8e7;
        let mut run = run(
            name,
            &[
                ("throughput", 100.0),
                ("latency", 8e7),
                ("wait.cpu_wait", waited),
            ],
        );
        let second = |at: u32| AccountedSecond {
            classes: LedgerClass::ALL
                .map(|it| match it {
                    LedgerClass::CpuWait => part * (1.0 + 0.02 * f64::from(at * 7 % 5)) * 8e9,
                    _ => 0.0,
                })
                .to_vec(),
            total_ns: 8e9,
        };
        run.account = (0..20).map(second).collect();
        group(name, vec![run])
    };
    let comparison = compare(vec![one("a", 0.5), one("b", 0.25)]);
    let figure = comparison.figure("wait.cpu_wait").expect("both waited");
    let difference = figure.differences[0].expect("both have it");
    assert_eq!(difference.method, IntervalMethod::WithinRuns);
    let interval = difference.interval.expect("20 seconds each");
    assert!(
        -0.6 < interval.low && interval.low < -0.5 && -0.5 < interval.high && interval.high < -0.4,
        "{interval:?}"
    );
}

#[test]
fn without_an_interval_nobody_is_said_to_do_more() {
    let short = |name: &str, rate: f64| {
        let mut run = run(name, &[("throughput", rate), ("latency", 8e9 / rate)]);
        run.seconds.truncate(3);
        group(name, vec![run])
    };
    let comparison = compare(vec![short("a", 100.0), short("b", 200.0)]);
    let [said] = &*comparison.answers[0] else {
        panic!("{:?}", comparison.answers)
    };
    assert_eq!(
        said,
        "Whether b does more or less than a cannot be told from these runs: 200 instead of 100 tps (too little data for an interval)."
    );
}

#[test]
fn equal_groups_differ_in_about_one_comparison_of_twenty() {
    let mut random = Xorshift::new(7);
    // About normal, by the sum of twelve.
    let mut normal = move || {
        (0..12)
            .map(|_| random.below(1_000_000) as f64 / 1e6)
            .sum::<f64>()
            - 6.0
    };
    for runs in [2, 3, 5, 8] {
        let mut shown = 0;
        for _ in 0..400 {
            let mut group = |name: &str| {
                let mut one = || run(name, &[("throughput", 1000.0 * (1.0 + 0.03 * normal()))]);
                group(name, (0..runs).map(|_| one()).collect())
            };
            let comparison = compare(vec![group("a"), group("b")]);
            let difference = comparison
                .figure("throughput")
                .expect("it is there")
                .differences[0];
            shown += usize::from(difference.expect("both have it").is_shown());
        }
        // Binomial(400, 0.05) is at most 34 in 998 of 1,000 draws.
        assert!(shown <= 34, "{shown} of 400 with {runs} runs each");
    }
}

/// What five rounds on a machine that drifts by half do to a throughput.
const DRIFT: [f64; 5] = [1.0, 1.4, 0.9, 1.2, 1.5];

#[test]
fn what_drifts_between_rounds_is_in_no_difference_within_them() {
    let of = |name: &str, throughput: f64| {
        let wobble = [1.0, 1.01, 0.99, 1.0, 1.005];
        let runs = DRIFT
            .iter()
            .zip(wobble)
            .map(|(drift, wobble)| (throughput * drift * wobble, 5e4, beside(0.0)));
        in_turns(name, &runs.collect::<Vec<_>>())
    };
    let steady = [(1000.0, 5e4, beside(0.0)); 5].map(|(x, cpu, it)| (x, cpu, it));
    let a = in_turns(
        "A",
        &steady
            .iter()
            .zip(DRIFT)
            .map(|(it, drift)| (it.0 * drift, it.1, it.2))
            .collect::<Vec<_>>(),
    );
    let comparison = compare(vec![a, of("B", 950.0)]);
    let throughput = comparison.figure("throughput.alone").expect("it is known");
    let difference = throughput.differences[0].expect("both have it");
    assert_eq!(difference.method, IntervalMethod::InTurns);
    let interval = difference.interval.expect("five rounds");
    assert!(
        -0.065 < interval.low && interval.high < -0.035,
        "{interval:?}"
    );
    expect![[r#"
        Alone, B does 4.9 % less than A: 1,140 instead of 1,200 tps (95 % interval of the difference: -5.8 % to -4 %).
        B needs as much CPU per request as A: 50.0 us instead of 50.0 us of server and load generator (95 % interval of the difference: 0 to 0).
        Neighbours, steal and the host took 0 of the throughput of A and 0 of that of B: as measured it is 1,200 and 1,140.
    "#]]
    .assert_eq(&told(&comparison));
}

#[test]
fn a_neighbour_beside_one_arm_makes_no_difference_and_less_is_known() {
    let of = |name: &str, parts: [f64; 5]| {
        let runs = parts
            .iter()
            .zip(DRIFT)
            .map(|(part, drift)| (1000.0 * drift * (2.0 - part) / 2.0, 5e4, beside(*part)));
        in_turns(name, &runs.collect::<Vec<_>>())
    };
    let exposed = [0.6, 0.62, 0.58, 0.61, 0.6];
    let one = compare(vec![of("A", [0.0; 5]), of("B", exposed)]);
    let both = compare(vec![of("A", exposed), of("B", exposed)]);
    let width = |comparison: &Comparison, key: &str| {
        let difference = comparison.figure(key).expect("it is known").differences[0];
        let interval = difference
            .expect("both have it")
            .interval
            .expect("five rounds");
        (interval.low, interval.high)
    };
    let plain = width(&one, "throughput");
    assert!(plain.1 < -0.2, "as measured it is less: {plain:?}");
    let alone = width(&one, "throughput.alone");
    assert!(alone.0 < 0.0 && 0.0 < alone.1, "{alone:?}");
    let cpu = width(&one, "cpu.both");
    assert!(cpu.0 < 0.0 && 0.0 < cpu.1, "{cpu:?}");
    // Where both were exposed alike the correction cancels, and nothing is less sure by it.
    for key in ["throughput.alone", "cpu.both"] {
        let (low, high) = width(&both, key);
        assert!(
            low.abs() < 1e-3 && high.abs() < 1e-3,
            "{key}: {low} to {high}"
        );
    }
}

#[test]
fn rounds_that_lack_a_run_are_left_out_and_one_round_has_no_interval() {
    let mut a = in_turns("A", &[(1000.0, 5e4, beside(0.0)); 3]);
    let b = in_turns(
        "B",
        &[
            (900.0, 5e4, beside(0.0)),
            (910.0, 5e4, beside(0.0)),
            (9.0, 5e4, beside(0.0)),
        ],
    );
    a.runs.truncate(2);
    let interval = |groups: &[Group]| alone(groups)[0].and_then(|it| it.interval);
    let groups = [a, b];
    let two = interval(&groups).expect("two rounds have both");
    assert!(two.low > -0.2 && two.high < 0.0, "{two:?}");
    let [mut a, b] = groups;
    a.runs.truncate(1);
    assert_eq!(interval(&[a, b]), None);
}

#[test]
fn equal_commands_in_turns_differ_in_about_one_comparison_of_twenty() {
    let mut random = Xorshift::new(11);
    let mut normal = move || {
        (0..12)
            .map(|_| random.below(1_000_000) as f64 / 1e6)
            .sum::<f64>()
            - 6.0
    };
    for rounds in [3, 5, 8, 12] {
        let mut shown = 0;
        for _ in 0..400 {
            let drift: Vec<f64> = (0..rounds).map(|_| (0.3 * normal()).exp()).collect();
            let mut of = |name: &str| {
                let one =
                    |drift: &f64| (1000.0 * drift * (0.03 * normal()).exp(), 5e4, beside(0.0));
                in_turns(name, &drift.iter().map(one).collect::<Vec<_>>())
            };
            let groups = [of("A"), of("B")];
            shown += usize::from(alone(&groups)[0].expect("both have it").is_shown());
        }
        // Binomial(400, 0.05) is at most 34 in 998 of 1,000 draws.
        assert!(shown <= 34, "{shown} of 400 with {rounds} rounds");
    }
}
