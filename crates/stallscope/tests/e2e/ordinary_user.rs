//! A user without rights, against a server of somebody else.

use std::fs;
use std::os::unix::fs::chown;

use model::Role;

use crate::needs;
use crate::other_servers::{free_port, started};
use crate::place::{JSON, Place};
use crate::postgres;
use crate::process::Running;

const NOBODY: u32 = 65_534;
const AS_NOBODY: &str =
    "exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs -- ./copy";

/// A folder of that user's, with a copy of the program where it can be read.
fn place() -> Option<Place> {
    if !needs::root() || !needs::program("setpriv") {
        return None;
    }
    let place = Place::new();
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), place.path().join("copy")).expect("it is a file");
    chown(place.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
    Some(place)
}

#[test]
fn a_generator_is_not_the_target_where_its_server_may_not_be_seen() {
    let Some(place) = place() else { return };
    if !needs::program("redis-server") || !needs::program("redis-benchmark") {
        return;
    }
    let _alone = postgres::alone();
    let port = free_port();
    let mut server = std::process::Command::new("redis-server");
    server.args([
        "--port",
        &port.to_string(),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
    ]);
    // Two of root's processes of one name: which of them serves cannot be guessed.
    let (server, other) = (started(server, port), free_port());
    let mut beside = std::process::Command::new("redis-server");
    beside.args([
        "--port",
        &other.to_string(),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
    ]);
    let beside = started(beside, other);
    let load = format!(
        "run --json report.json -- timeout 60 redis-benchmark -p {port} -c 4 -n 200000 -t get -q"
    );
    let ended = Running::start(place.shell(&format!("{AS_NOBODY} {load}"))).end();
    for it in [server, beside] {
        it.signal(rustix::process::Signal::TERM);
        it.end();
    }
    ended
        .status(0)
        .says("redis-benchmark makes the load")
        .says(&format!("name the server: --target port:{port}"));
    let report = place.report();
    assert!(report.subjects.iter().all(|it| it.role != Role::Target));
    assert!(
        report.verdict.generator.is_some(),
        "its threads are accounted for"
    );
    let why = place
        .opened()
        .meta
        .no_target
        .expect("the recording says why");
    assert!(
        why.to_string()
            .starts_with("redis-benchmark makes the load"),
        "{why}"
    );
}

#[test]
fn an_ordinary_user_gets_a_verdict_and_is_told_what_was_not_seen() {
    let Some(place) = place() else { return };
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let load = "run --json report.json -- pgbench -c 3 -S -T 4 bench";
    let mut command = place.shell(&format!("{AS_NOBODY} {load}"));
    postgres.serve(&mut command);
    let ended = Running::start(command).end();
    ended
        .status(0)
        .says("Target: postgres, 3 backends on a unix socket")
        .says("Where the")
        .says("stallscope doctor");
    let report = place.report();
    let target = report.subjects.iter().find(|it| it.role == Role::Target);
    let target = target.expect("there is a target");
    assert_eq!(target.entity.name, "postgres");
    assert!(
        target.found_by.ends_with("by its owner"),
        "{}",
        target.found_by
    );
    assert_eq!(target.serving, 3);
    let not_collected = report.verdict.not_collected.join("; ");
    assert!(
        not_collected.contains("root"),
        "it says who would see more: {not_collected}"
    );
    let gaps = place.opened().meta.gaps;
    let own_word = gaps.iter().find(|gap| gap.what == "wait_event");
    let own_word = own_word.expect("the server's own word may not be read");
    assert!(own_word.reason.to_string().contains("run as root"));
}

#[test]
fn an_ordinary_user_who_cannot_be_told_the_server_can_name_it() {
    let Some(place) = place() else { return };
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let run = |options: &str, seconds: u32| {
        let load = format!("-- pgbench -c 2 -S -T {seconds} bench");
        let mut command = place.shell(&format!("{AS_NOBODY} run {options} {load}"));
        postgres.serve(&mut command);
        Running::start(command).end()
    };
    // A second program of the same owner: the socket's owner tells no longer.
    let mut other = postgres.as_owner("sleep");
    other.arg("60");
    let other = Running::start(other);
    run("", 6)
        .status(125)
        .says("cannot see who serves unix socket")
        .says(&format!("postgres ({})", postgres.pid()))
        .says(&format!("sleep ({})", other.pid()))
        .says("or run as root");
    let named = format!("--json {JSON} --target pid:{}", postgres.pid());
    run(&named, 5).status(0).says("Where the");
    let report = place.report();
    let target = report.subjects.iter().find(|it| it.role == Role::Target);
    assert_eq!(target.map(|it| it.entity.name.as_str()), Some("postgres"));
}

#[test]
fn an_ordinary_user_can_run_a_command_and_explain_it() {
    let Some(place) = place() else { return };
    let run = format!("{AS_NOBODY} run --json {JSON} -- sleep 2");
    Running::start(place.shell(&run))
        .end()
        .status(0)
        .says("Saved sleep-1.stall");
    let explained = Running::start(place.shell(&format!("{AS_NOBODY} explain"))).end();
    explained.status(0);
    let cost = place.report().cost;
    assert!(!cost.priority.is_empty(), "{cost:?}");
}
