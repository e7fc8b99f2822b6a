//! The steal experiment from end to end, for moments: that it runs, adds up and can be read. What
//! comes out of it is judged by itself, on a quiet machine (`scripts/bench.sh steal`).
#![allow(clippy::unwrap_used)]
#![allow(
    clippy::print_stdout,
    reason = "SKIPPED lines are read by scripts/test.sh"
)]

use std::process::{Command, Output};

/// What must hold of any table, ms per second: the classes are rounded to a tenth.
const ROUNDED: f64 = 0.3;

fn skip(why: &str) {
    let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|value| value == "all");
    assert!(!required, "STALLSCOPE_REQUIRE=all, and {why}");
    println!("SKIPPED: {why}");
}

fn lack() -> Option<&'static str> {
    let perf = Command::new("perf").arg("--version").output();
    if !perf.is_ok_and(|output| output.status.success()) {
        return Some("there is no perf");
    }
    if !rustix::process::geteuid().is_root() {
        return Some("perf sees all of the machine only as root");
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    (cpus < 2).then_some("the experiment needs two CPUs")
}

fn experiment(markdown: &std::path::Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stealmeter-experiment"))
        .args(["--seconds", "0.5", "--attempts", "1"])
        .args(["--backend", "io_uring"])
        // The view from outside is tested where the program is.
        .args(["--stallscope", "/nowhere", "--markdown"])
        .arg(markdown)
        .output()
        .unwrap()
}

#[test]
fn it_runs_adds_up_and_can_be_read() {
    if let Some(why) = lack() {
        return skip(why);
    }
    let room = tempfile::tempdir().unwrap();
    let document = room.path().join("steal.md");
    let frame =
        "a\n<!-- stealmeter-experiment -->\nold\n<!-- end of stealmeter-experiment -->\nb\n";
    std::fs::write(&document, frame).unwrap();
    let output = experiment(&document);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| io_uring "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    // Alone and with two places for a hog, two loops.
    assert_eq!(rows.len(), 6, "{text}{errors}");
    for row in &rows {
        let rate = |column: usize| -> f64 { row[column].parse().unwrap() };
        let truth: f64 = (3..6).map(rate).sum();
        let ours: f64 = (9..14).map(rate).sum();
        assert!((truth - 1e3).abs() < ROUNDED, "{row:?}");
        assert!((ours - 1e3).abs() < ROUNDED, "{row:?}");
        assert!((3..6).chain(9..14).all(|column| rate(column) >= 0.0));
    }
    let sound = "with a counter that fell, 0 whose classes do not add up to the wall time";
    let holds = |line: &str| line.starts_with("- holds: all: ") && line.ends_with(sound);
    assert!(text.lines().any(holds), "{text}");
    let whole = std::fs::read_to_string(&document).unwrap();
    assert_eq!(whole, frame.replace("old\n", &text));
}
