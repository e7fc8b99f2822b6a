//! A load generator that connects to nothing.

use crate::place::{JSON, Place};
use crate::postgres;

#[test]
fn a_generator_without_a_connection_is_told_how_to_name_the_server() {
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    place.script("pgbench", "sleep 7");
    let ended = place.run(&["run", "--json", JSON, "--", "./pgbench"]);
    ended
        .status(125)
        .says("pgbench: added -P 1 (--no-adjust leaves it alone)")
        .says("cannot find a server behind pgbench: it made no connection in 5 s. Name it: --target port:")
        .says(&format!("{} postgres", postgres.port()))
        .says("(listening here: ")
        .says("Saved pgbench-1.stall");
    assert_eq!(
        ended.err_text().matches("stallscope: cannot find").count(),
        1,
        "{ended}"
    );
    let recording = place.opened();
    assert!(recording.meta.complete);
    let why = recording.meta.no_target.expect("the recording says why");
    assert!(
        why.to_string()
            .starts_with("cannot find a server behind pgbench"),
        "{why}"
    );
    assert_eq!(place.report().verdict.findings[0].cause, "undetermined");
    assert!(
        place
            .run(&["explain"])
            .status(0)
            .out_text()
            .contains("cannot find a server")
    );
}

#[test]
fn a_generator_that_ends_before_that_is_told_the_same() {
    let place = Place::new();
    place.script("pgbench", "sleep 0.5");
    place
        .run(&["run", "-q", "--", "./pgbench"])
        .status(125)
        .says("cannot find a server behind pgbench: it made no connection in 0.");
}

#[test]
fn a_generator_that_fails_keeps_its_own_status() {
    let place = Place::new();
    place.script("pgbench", "exit 4");
    place
        .run(&["run", "-q", "--", "./pgbench"])
        .status(4)
        .says("pgbench ended with status 4 before a server of it was found");
}
