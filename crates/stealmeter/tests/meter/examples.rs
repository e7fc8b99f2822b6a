//! The example loops, run for two seconds as their reader would.
//!
//! As `cargo test` built them, unless it was told to build this test alone. `cargo run --example` would resolve the
//! features of one package instead of the workspace's, and compile twenty dependencies a second time.

use std::path::Path;
use std::process::Command;

use crate::needs::skip;

#[track_caller]
fn lines_of(example: &str) -> Option<String> {
    let own = std::env::current_exe().expect("this is a program");
    // It is in `deps`, beside `examples`.
    let built = own.parent().and_then(Path::parent);
    let program = built.expect("a folder").join("examples").join(example);
    let ran = Command::new(&program).arg("2").output();
    let ran = ran.unwrap_or_else(|error| {
        let program = program.display();
        panic!("{program}: {error}; cargo build --package stealmeter --examples makes it")
    });
    let errors = String::from_utf8_lossy(&ran.stderr);
    if example == "io_uring" && errors.contains("Operation not permitted") {
        return None;
    }
    assert!(ran.status.success(), "{example}: {errors}");
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[track_caller]
fn prints_its_counters(example: &str) {
    let Some(said) = lines_of(example) else {
        return skip("io_uring is not allowed here (kernel.io_uring_disabled, seccomp)");
    };
    let line = said.lines().next().unwrap_or_default();
    let names: Vec<&str> = line.split_ascii_whitespace().step_by(2).collect();
    let classes = [
        "cpu",
        "run_queue",
        "sleep",
        "blocked",
        "hidden",
        "wall",
        "ms",
    ];
    assert_eq!(names, classes, "{example}: {said}");
}

#[test]
fn a_loop_on_epoll_prints_its_counters() {
    prints_its_counters("epoll");
}

#[test]
fn a_loop_on_io_uring_prints_its_counters() {
    prints_its_counters("io_uring");
}

#[test]
fn a_loop_that_never_sleeps_prints_its_counters() {
    prints_its_counters("busy");
}

#[test]
fn the_text_for_prometheus_is_printed() {
    let said = lines_of("tokio").unwrap_or_default();
    let series = "stealmeter_seconds_total{runtime=\"main\",thread=\"1\",class=\"run_queue\"} ";
    assert!(said.contains(series), "{said}");
}
