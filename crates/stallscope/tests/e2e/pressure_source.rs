//! Where pressure and the processes' times come from: the kernel's own where a program may read them, else
//! files.

use std::fs;
use std::os::unix::fs::chown;

use model::{EntityKind, MISSING};

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

/// CPU times of processes, and how many of them are no whole ticks.
fn process_times(place: &Place) -> (usize, usize) {
    const TICK_NS: i64 = 10_000_000;
    let timeline = place.opened().timeline;
    let table = timeline.table("process").expect("it was recorded");
    let user = table.table.position("user_ns").expect("it has that column");
    let times = (0..table.len()).filter_map(|index| table.row(index).nth(user));
    let times: Vec<i64> = times.filter(|ns| *ns != MISSING).collect();
    let finer = times.iter().filter(|ns| *ns % TICK_NS != 0).count();
    (times.len(), finer)
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
    if let Some(why) = &report.cost.programs["pressure"] {
        return needs::skip(&format!("programs in the kernel: {why}"));
    }
    assert!(
        rows(&place, "stall", "nonidle_ns") > 30,
        "one at every tick"
    );
    let folds = rows(&place, "pressure", "cpu_some_ns");
    assert!((2..6).contains(&folds), "one every 2 s: {folds}");
    assert!(!report.pressure.is_empty());
    if let Some(why) = &report.cost.programs["tasks"] {
        return needs::skip(&format!("programs in the kernel: {why}"));
    }
    let (times, finer) = process_times(&place);
    assert!(finer > times / 4, "{finer} of {times}");
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
    let why = report.cost.programs["pressure"].clone().unwrap_or_default();
    assert!(why.to_string().starts_with("only root"), "{why}");
    assert_eq!(rows(&place, "stall", "nonidle_ns"), 0);
    assert!(!report.pressure.is_empty());
    let why = &report.cost.programs["tasks"];
    assert!(why.is_some(), "nobody may walk");
    let (times, finer) = process_times(&place);
    assert!(times > 10 && finer == 0, "{finer} of {times}");
    assert!(report.cost.programs["flow"].is_some() && report.connections.is_empty());
    let missing = &report.verdict.not_collected;
    assert!(
        missing.iter().any(|it| it.starts_with("who talks to whom")),
        "{missing:?}"
    );
}
