//! An experiment on a real server: what limits it is proved, and everything is as it was.

use std::fs;
use std::process::Stdio;

use capacity::{Controller, Group, Held, Kind, Limit};
use rustix::process::Signal;

use crate::needs;
use crate::place::Place;
use crate::postgres::{self, Postgres};
use crate::process::{Running, one_line};

#[test]
fn without_a_word_of_consent_nothing_is_changed() {
    let place = Place::new();
    place
        .run(&["prove", "--target", "port:1", "--capacity", "cpu"])
        .status(2)
        .says("Nothing was changed: add --yes to begin.");
    assert!(place.recordings().is_empty());
    place
        .run(&[
            "prove",
            "--target",
            "port:1",
            "--capacity",
            "clients",
            "--yes",
        ])
        .status(2)
        .says("--capacity clients needs the processes of the load");
}

/// A group of its own around a server.
pub fn grouped(postgres: &Postgres) -> Option<(Group, Held)> {
    let group = match Group::create("prove-test") {
        Ok(group) => group,
        Err(error) => {
            needs::skip(&error.to_string());
            return None;
        }
    };
    for pid in postgres.backends().into_iter().chain([postgres.pid()]) {
        for folder in group.folders() {
            // A backend may have ended.
            let _ = fs::write(folder.join("cgroup.procs"), pid.to_string());
        }
    }
    let held = Held::of(postgres.pid()).expect("it runs");
    if held.group(Controller::Cpu).is_err() {
        needs::skip("no hierarchy of this machine has the controller cpu");
        return None;
    }
    Some((group, held))
}

#[test]
fn a_quota_is_proved_and_is_what_it_was_afterwards() {
    if !needs::root() {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let Some((group, held)) = grouped(postgres) else {
        return;
    };
    let quota = Limit::parse(Kind::Quota, "0.3").expect("a quota");
    group.set(&quota).expect("it is ours");
    let load = Running::start({
        let mut pgbench = postgres.client("pgbench");
        pgbench.args(["-n", "-S", "-c", "4", "-T", "300", "bench"]);
        pgbench.stdout(Stdio::null());
        pgbench
    });
    let place = Place::new();
    let target = format!("pid:{}", postgres.pid());
    let words = "prove --yes --capacity cpu --at-most 4x --for 90s -o p.stall --json proof.json";
    let words = words.split(' ').chain(["--target", &target]);
    let ended = place.run(&words.collect::<Vec<_>>());
    load.signal(Signal::TERM);
    load.end();
    ended.status(0);
    assert_eq!(held.quota().expect("a group"), Some(0.3));
    let proof: model::Proof = serde_json::from_str(&place.read("proof.json")).expect("a proof");
    let cpu = &proof.capacities[0];
    assert_eq!(cpu.outcome, model::ProofOutcome::Proved, "{}", cpu.sentence);
    assert_eq!(proof.cause, "cpu.quota", "{:?}", proof.answers);
    let said = one_line(&ended.out_text());
    assert!(said.contains("cpu.quota is proved."), "{ended}");
    let explained = place.run(&["explain", "p.stall"]);
    let said = one_line(&explained.status(0).out_text());
    assert!(said.contains("; proved"), "{explained}");
    assert!(
        said.contains("Experiment cpu.quota is proved."),
        "{explained}"
    );
}
