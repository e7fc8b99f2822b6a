//! `compare --run`: real commands in turns, gone on with after an interrupt, and what does not count.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use model::{Comparison, IntervalMethod};
use rustix::process::Signal;
use serde_json::Value;

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres::{self, Postgres};
use crate::process::Running;

const ONE: &str = "pgbench -n -S -c 1 -T 3 bench";
const TWO: &str = "pgbench -n -S -c 2 -T 3 bench";
const FOLDER: &str = "trial";

fn command(postgres: &Postgres, place: &Place, arms: [&str; 2], options: &[&str]) -> Command {
    let [a, b] = arms;
    let words = ["compare", "--run", a, "--run", b, "--folder", FOLDER];
    postgres.stallscope(place, &[&words, options].concat())
}

fn state(place: &Place) -> Value {
    serde_json::from_str(&place.read("trial/experiment.json")).expect("it is JSON")
}

/// The runs that were begun: round, command, and why it does not count.
fn runs(place: &Place) -> Vec<(u64, u64, Option<String>)> {
    let state = state(place);
    let runs = state["runs"].as_array().expect("a list").iter();
    runs.map(|run| {
        let number = |name: &str| run[name].as_u64().expect("a number");
        let reason = run["voided"].as_str().map(str::to_owned);
        (number("round"), number("arm"), reason)
    })
    .collect()
}

fn comparison(place: &Place) -> Comparison {
    serde_json::from_str(&place.read(JSON)).expect("it is a comparison")
}

#[test]
fn two_commands_run_in_turns_and_their_difference_is_told_as_if_alone() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    // Enough for two rounds where starting takes long.
    let options = ["--budget", "45s", "--json", JSON];
    let ended = Running::start(command(postgres, &place, [ONE, TWO], &options)).end();
    ended.status(0).says("A  pgbench -n -S -c 1 -T 3 bench");
    let said = ended.out_text() + &ended.err_text();
    assert!(said.contains("B is"), "{ended}");
    let comparison = comparison(&place);
    let experiment = comparison.experiment.as_ref().expect("it made the runs");
    assert!(experiment.rounds >= 2, "{experiment:?}");
    assert!(experiment.spent_s <= 45.0 + 5.0, "{experiment:?}");
    let alone = comparison.figure("throughput.alone").expect("it is known");
    let difference = alone.differences[0].expect("both have it");
    assert_eq!(difference.method, IntervalMethod::InTurns);
    for key in ["throughput.alone", "cpu.both"] {
        let values = &comparison.figure(key).expect("it is known").values;
        assert!(
            values.iter().all(|it| it.is_some_and(|it| it > 0.0)),
            "{key}: {values:?}"
        );
    }
    for run in comparison.groups.iter().flat_map(|it| &it.runs) {
        let taken = run.taken.expect("it is known");
        assert!(taken.alone >= 1.0 && run.round.is_some(), "{taken:?}");
    }
    // Each round has both commands once.
    let mut begun: Vec<(u64, u64)> = runs(&place).into_iter().map(|it| (it.0, it.1)).collect();
    begun.sort_unstable();
    let rounds = begun.len() as u64 / 2;
    let wanted: Vec<(u64, u64)> = (1..=rounds).flat_map(|it| [(it, 0), (it, 1)]).collect();
    assert_eq!(begun, wanted);
    if needs::is_root() {
        let mode = |name: &str| {
            let about = fs::metadata(place.path().join(name)).expect("it is there");
            about.permissions().mode() & 0o777
        };
        assert_eq!(mode("trial"), 0o700);
        assert_eq!(mode("trial/experiment.json"), 0o600);
        let first = if runs(&place)[0].1 == 0 { "A" } else { "B" };
        assert_eq!(mode(&format!("trial/001-{first}.log")), 0o600);
    }
}

#[test]
fn an_interrupted_experiment_goes_on_and_another_one_is_refused() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let options = ["--budget", "20s", "--json", JSON];
    let running = Running::start(command(postgres, &place, [ONE, TWO], &options));
    // In the middle of the second run.
    place.wait_for("trial/experiment.json");
    while runs(&place).len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.signal(Signal::INT);
    running
        .end()
        .status(130)
        .says("The same command with --folder trial goes on");
    let before = runs(&place);
    assert_eq!(before.len(), 2);
    assert_eq!(before[0].2, None);
    assert_eq!(before[1].2.as_deref(), Some("it was interrupted"));
    let refused = |arms: [&str; 2], options: &[&str], why: &str| {
        let ended = Running::start(command(postgres, &place, arms, options)).end();
        ended.status(2).says(why).says("or name another folder");
    };
    refused(
        [ONE, "pgbench -n -S -c 3 -T 3 bench"],
        &[],
        "its command B is `pgbench -n -S -c 2 -T 3 bench`, and not `pgbench -n -S -c 3",
    );
    refused(
        [ONE, TWO],
        &["--precision", "5%"],
        "its --precision is 2 %, and not 5 %",
    );
    refused(
        [ONE, TWO],
        &["--target", "pid:1"],
        "its options for the runs are none, and not --target pid:1",
    );
    assert_eq!(runs(&place), before, "what is refused changes nothing");
    let ended = Running::start(command(postgres, &place, [ONE, TWO], &options)).end();
    ended.status(0).says("1 run of before counts");
    let after = runs(&place);
    assert_eq!(after[..2], before[..]);
    assert!(
        after[2..].iter().all(|it| it.0 > before[0].0),
        "in rounds of its own: {after:?}"
    );
    let comparison = comparison(&place);
    let voided = comparison.experiment.expect("it made the runs").voided;
    assert!(
        voided.iter().any(|it| it.reason == "it was interrupted"),
        "{voided:?}"
    );
}

#[test]
fn commands_that_fail_or_do_nothing_do_not_count() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let fails = "pgbench -n -S -c 1 -T 3 nosuchdatabase";
    let ended = Running::start(command(postgres, &place, [fails, ONE], &["--budget", "1m"])).end();
    ended.status(2).says("no run of A counts");
    let reasons: Vec<Option<String>> = runs(&place)
        .into_iter()
        .filter(|it| it.1 == 0)
        .map(|it| it.2)
        .collect();
    assert_eq!(reasons.len(), 3, "it is not tried for ever");
    let failed = |it: &Option<String>| {
        it.as_deref()
            .is_some_and(|it| it.starts_with("its command failed (exit status: 1)"))
    };
    assert!(reasons.iter().all(failed), "{reasons:?}");
    // The output says why.
    let log = fs::read_dir(place.path().join(FOLDER)).expect("it is there");
    let mut logs = log.flatten().map(|it| it.path());
    let log = logs.find(|it| it.to_string_lossy().ends_with("-A.log"));
    let text = fs::read_to_string(log.expect("it has one")).expect("it is text");
    assert!(text.contains("nosuchdatabase"), "{text}");
}

#[test]
fn what_has_no_requests_and_what_cannot_be_an_experiment_is_said() {
    let place = Place::new();
    let ended = place.run(&[
        "compare",
        "--run",
        "sleep 1.5",
        "--run",
        "sleep 1.6",
        "--folder",
        FOLDER,
    ]);
    ended
        .status(2)
        .says("does not count: no requests were counted in it");
    place
        .run(&["compare", "--run", "true"])
        .status(2)
        .says("there is one command only");
    place
        .run(&["compare", "--run", "true", "--run", "true", "a.stall"])
        .status(2)
        .says("cannot be used with");
    fs::create_dir(place.path().join("full")).expect("the folder is ours");
    place.write("full/notes", "mine");
    place
        .run(&[
            "compare", "--run", "true", "--run", "true", "--folder", "full",
        ])
        .status(2)
        .says("full holds other files (notes), and no experiment");
}
