//! `--quantiles`: latencies of single transactions from pgbench's own log.

use model::{Report, Signal};

use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::{Ended, Running};

fn run(postgres: &Postgres, place: &Place, load: &[&str]) -> Ended {
    let words = [
        &["run", "--json", JSON, "--quantiles", "--", "pgbench"],
        load,
    ];
    Running::start(postgres.stallscope(place, &words.concat())).end()
}

fn latency(report: &Report) -> &Signal {
    let found = report
        .signals
        .iter()
        .find(|signal| signal.name == "latency");
    found.expect("there is a latency")
}

/// What is left of the log.
fn leftover(place: &Place) -> bool {
    place.recording().join("latency-log").exists()
}

#[test]
fn quantiles_of_all_threads_are_reported_and_explained_again() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let ended = run(
        postgres,
        &place,
        &["-c", "4", "-j", "2", "-S", "-T", "5", "bench"],
    );
    ended
        .status(0)
        .says("pgbench: added -P 1 (--no-adjust leaves it alone). pgbench: added -l --sampling-rate=0.033 for quantiles.")
        .says(" mean, p99 ")
        .says(" sampled")
        .says("Quantiles   p50 ");
    assert!(!leftover(&place), "the log is removed");

    let report = place.report();
    let quantiles = &latency(&report).quantiles;
    let names: Vec<f64> = quantiles.iter().map(|it| it.q).collect();
    assert!(names.starts_with(&[0.5, 0.9, 0.95]), "{quantiles:?}");
    assert_eq!(names.last(), Some(&1.0));
    assert!(quantiles.is_sorted_by(|a, b| a.q < b.q && a.value <= b.value));
    let mean = latency(&report).mean.expect("there is a mean");
    assert!(
        quantiles[0].value > mean / 10.0 && quantiles[0].value < mean * 10.0,
        "{quantiles:?} about {mean}"
    );
    // Some 3 % of all, within the judged window.
    let throughput = report.signals[0].mean.expect("there is a mean");
    let share = quantiles[0].sampled.unwrap_or(0) as f64 / (throughput * report.window.seconds());
    assert!((0.02..0.05).contains(&share), "{share}\n{ended}");

    let again = place.run(&["explain", "--json", "again.json"]);
    again.status(0);
    let again: Report = serde_json::from_str(&place.read("again.json")).expect("a report");
    assert_eq!(&latency(&again).quantiles, quantiles);
}

#[test]
fn a_schedule_and_retries_have_columns_of_their_own() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    place.write(
        "conflict.sql",
        "BEGIN ISOLATION LEVEL SERIALIZABLE;\nUPDATE pgbench_branches SET bbalance = bbalance + 1;\nCOMMIT;\n",
    );
    let load = [
        "-n",
        "-c",
        "4",
        "-T",
        "4",
        "-R",
        "150",
        "-L",
        "50",
        "--max-tries=3",
        "--failures-detailed",
        "-f",
        "conflict.sql",
        "bench",
    ];
    run(postgres, &place, &load)
        .status(0)
        .says("pgbench: added -l for quantiles")
        .does_not_say("--sampling-rate");
    let report = place.report();
    let quantiles = &latency(&report).quantiles;
    assert!(quantiles.len() >= 4, "{quantiles:?}");
    assert!(quantiles.iter().all(|it| it.value > 0.0 && it.value < 60e9));
}

#[test]
fn the_users_own_log_is_left_alone() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let load = [
        "-c",
        "2",
        "-S",
        "-T",
        "4",
        "-l",
        "--log-prefix=mine",
        "bench",
    ];
    run(postgres, &place, &load)
        .status(0)
        .says("pgbench writes a log of its own (-l), which is left alone")
        .says("no p99");
    let names = std::fs::read_dir(place.path()).expect("it is ours");
    let mine = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("mine.");
    assert!(
        names.flatten().any(|entry| mine(&entry.file_name())),
        "the user's log is there"
    );
    assert!(latency(&place.report()).quantiles.is_empty());
}

#[test]
fn where_there_is_no_log_the_option_is_refused() {
    let place = Place::new();
    place
        .run(&["run", "--quantiles", "--", "touch", "started"])
        .status(125)
        .says("--quantiles needs a load of pgbench or ysql_bench, and touch as typed is none: leave --quantiles away");
    place
        .run(&[
            "run",
            "--quantiles",
            "--no-adjust",
            "--",
            "touch",
            "started",
        ])
        .status(125)
        .says("cannot be used with");
    assert!(!place.path().join("started").exists());
    assert!(place.recordings().is_empty());
}
