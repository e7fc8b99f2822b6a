//! Where pressure comes from: the kernel's per-CPU times where a program may read them, else files.

use std::fs;
use std::os::unix::fs::chown;

use model::EntityKind;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::Running;

/// Rows of a column of a table about the machine.
fn rows(place: &Place, table: &str, column: &str) -> usize {
    let timeline = place.opened().timeline;
    let machine = timeline.entities.of_kind(EntityKind::Machine).next();
    let machine = machine.expect("there is a machine").id;
    let series = timeline.series(table, machine, column);
    series.map_or(0, |series| series.values().count())
}

#[test]
fn as_root_pressure_is_read_at_its_source_and_finer_than_files_allow() {
    if !needs::root() || !needs::pressure() {
        return;
    }
    let place = Place::new();
    let ended = place.run(&[
        "record", "-q", "--for", "5s", "--json", JSON, "--target", "name:.",
    ]);
    ended.status(0);
    let report = place.report();
    if let Some(why) = report.cost.programs["pressure"].as_deref() {
        return needs::skip(&format!("programs in the kernel: {why}"));
    }
    assert!(
        rows(&place, "stall", "nonidle_ns") > 30,
        "one at every tick"
    );
    let folds = rows(&place, "pressure", "cpu_some_ns");
    assert!((2..6).contains(&folds), "one every 2 s: {folds}");
    assert!(!report.pressure.is_empty());
}

#[test]
fn without_rights_files_are_read_and_the_recording_says_why() {
    if !needs::root() || !needs::pressure() || !needs::program("setpriv") {
        return;
    }
    let place = Place::new();
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), place.path().join("copy")).expect("it is a file");
    chown(place.path(), Some(65_534), Some(65_534)).expect("root may");
    let as_nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs -- ./copy \
        run -q --json report.json -- sleep 5";
    Running::start(place.shell(as_nobody)).end().status(0);
    let report = place.report();
    let why = report.cost.programs["pressure"]
        .as_deref()
        .unwrap_or_default();
    assert!(
        why.contains("ermission") || why.contains("ermitted"),
        "{why}"
    );
    assert_eq!(rows(&place, "stall", "nonidle_ns"), 0);
    assert!(!report.pressure.is_empty());
}
