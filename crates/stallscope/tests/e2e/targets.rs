//! Targets that the user names, with and without a workload.

use model::Role;
use rustix::process::Signal;

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::Running;

#[test]
fn a_named_port_is_the_target_and_its_backends_are_counted() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let named = format!("port:{}", postgres.port());
    let load = ["pgbench", "-c", "3", "-S", "-T", "4", "bench"];
    let options = ["run", "--json", JSON, "--target", &named, "--"];
    let command = postgres.stallscope(&place, &[&options[..], &load].concat());
    Running::start(command).end().status(0).says("postgres");
    let report = place.report();
    let targets: Vec<_> = report
        .subjects
        .iter()
        .filter(|it| it.role == Role::Target)
        .collect();
    assert_eq!(targets.len(), 1);
    assert_eq!(targets[0].entity.name, "postgres");
    assert_eq!(targets[0].found_by, named);
    assert_eq!(targets[0].serving, 3);
}

#[test]
fn record_attaches_to_what_already_runs() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    let mut load = postgres.client("pgbench");
    load.args(["-c", "2", "-S", "-T", "5", "bench"]);
    let load = Running::start(load);
    let named = format!("port:{}", postgres.port());
    let ended = place.run(&["record", "--for", "3s", "--json", JSON, "--target", &named]);
    ended
        .status(0)
        .says("postgres")
        .says("Saved record-1.stall");
    load.end().status(0);
    let report = place.report();
    let target = report.subjects.iter().find(|it| it.role == Role::Target);
    let target = target.expect("there is a target");
    assert_eq!(target.found_by, named);
    assert!(target.cpu_ns > 0, "it served meanwhile");
    // Who asks it was found by the connections.
    let generator = report.subjects.iter().find(|it| it.role == Role::Generator);
    let generator = generator.expect("pgbench asks it");
    assert_eq!(generator.entity.name, "pgbench");
    // Of a load that is none of ours nobody but the kernel tells.
    let kernels = |signal: &model::Signal| signal.provenance == model::Provenance::Kernel;
    assert!(report.signals.iter().all(kernels));
    assert!(place.opened().meta.complete);
}

#[test]
fn each_thread_of_a_named_process_is_shown_awake_and_asleep() {
    if !needs::program("taskset") {
        return;
    }
    let place = Place::new();
    place.script("spin-by-spin", "echo spins > $1; while :; do :; done");
    // Two on one CPU: each waits in the run queue while the other has it.
    let pinned = |name| {
        let running = format!("exec taskset -c 0 ./spin-by-spin {name}");
        let running = Running::start(place.shell(&running));
        place.wait_for(name);
        running
    };
    let (spinner, rival) = (pinned("spinner"), pinned("rival"));
    let sleeper = Running::start(place.shell("exec sleep 30"));
    let calm = format!("pid:{}", sleeper.pid());
    let named = ["--target", "name:^spin-by-spin$", "--target", &calm];
    let options = [&["record", "--for", "3s", "--json", JSON][..], &named].concat();
    place
        .run(&options)
        .status(0)
        .says("Thread by thread  awake");
    for it in [spinner, rival, sleeper] {
        it.signal(Signal::TERM);
        it.end();
    }
    let report = place.report();
    let part = |name: &str, ns: fn(&model::ThreadTimes) -> i64| {
        let found = report.threads.iter().find(|it| it.entity.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} in {:?}", report.threads));
        ns(found) as f64 / found.wall_ns as f64
    };
    let queued = part("spin-by-spin", |it| it.run_queue_ns.unwrap_or(0));
    assert!((0.2..0.9).contains(&queued), "{queued}");
    assert!(
        part("spin-by-spin", |it| it.on_cpu_ns) + queued > 0.9,
        "{:?}",
        report.threads
    );
    assert!(
        part("sleep", |it| it.sleep_ns) > 0.99,
        "{:?}",
        report.threads
    );
}

#[test]
fn a_target_that_is_not_there_is_told_before_the_workload_starts() {
    let place = Place::new();
    let refused = |target: &str, sentence: &str| {
        place
            .run(&["run", "--target", target, "--", "touch", "started"])
            .status(125)
            .says(sentence);
    };
    refused(
        "pid:999999999",
        "no process 999999999 is alive. Name one that is: --target pid:N",
    );
    refused(
        "name:^no-such-server$",
        "no process matches name:^no-such-server$",
    );
    refused("cgroup:/no/such/group", "there is no cgroup /no/such/group");
    refused("unit:no-such", "no unit no-such is running");
    place
        .run(&["run", "--target", "5432", "--", "touch", "started"])
        .status(125)
        .says("did you mean pid:5432 or port:5432?");
    assert!(!place.path().join("started").exists());
    assert!(place.recordings().is_empty());
}

#[test]
fn a_port_without_a_listener_is_told_with_what_listens() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    place
        .run(&["run", "--target", "port:1", "--", "touch", "started"])
        .status(125)
        .says("no process listens on port 1 (listening here: ")
        .says(&format!("{} postgres", postgres.port()))
        .says("Name another: --target port:");
    assert!(!place.path().join("started").exists());
    place
        .run(&["record", "--target", "port:1", "--for", "1s"])
        .status(2)
        .says("no process listens on port 1");
}

#[test]
fn the_workload_itself_cannot_be_confused_with_its_target() {
    let place = Place::new();
    let ended = place.run(&["run", "-q", "--json", JSON, "--", "sleep", "2"]);
    ended.status(0);
    let roles: Vec<Role> = place.report().subjects.iter().map(|it| it.role).collect();
    assert!(
        roles.contains(&Role::Target),
        "a command alone is what is judged: {roles:?}"
    );
    assert!(!roles.contains(&Role::Generator), "{roles:?}");
}
