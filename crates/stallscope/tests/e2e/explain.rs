//! The answer again from disk, from whole recordings and from damaged ones.

use std::fs::{self, OpenOptions};

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::Running;

/// The verdict in what `run` wrote: from its first line to before `Saved`.
fn verdict(said: &str) -> &str {
    let end = said.find("\nSaved").expect("run ends with Saved");
    &said[..=end]
}

#[test]
fn explain_says_what_run_said() {
    let place = Place::new();
    let ran = place.run(&["run", "-qv", "--", "sleep", "3"]);
    let explained = place.run(&["explain"]);
    explained.status(0);
    assert_eq!(explained.out_text(), verdict(&ran.err_text()));
    assert!(explained.err.is_empty(), "{explained}");
}

#[test]
fn a_part_of_the_run_can_be_judged() {
    let place = Place::new();
    place.run(&["run", "-q", "--", "sleep", "4"]).status(0);
    place
        .run(&["explain", "--from", "1s", "--to", "3s", "--json", JSON])
        .status(0);
    let report = place.report();
    let seconds = |time: model::Timestamp| time.seconds_since(report.origin);
    assert!((seconds(report.window.start) - 1.0).abs() < 1e-6);
    assert!((seconds(report.window.end) - 3.0).abs() < 1e-6);
    let ended = place.run(&["explain", "--from", "2s"]);
    assert!(ended.out_text().contains("Window      2 s to"), "{ended}");
}

#[test]
fn a_part_that_is_not_there_is_told_with_what_is() {
    let place = Place::new();
    place.run(&["run", "-q", "--", "true"]).status(0);
    for part in [["--from", "100s"], ["--to", "0s"]] {
        let ended = place.run(&["explain", part[0], part[1]]);
        ended
            .status(2)
            .says("the recording holds nothing there: it covers");
        assert!(ended.out.is_empty(), "{ended}");
    }
}

#[test]
fn without_a_recording_explain_says_how_to_make_one() {
    let place = Place::new();
    place
        .run(&["explain"])
        .status(2)
        .says("no recording in .: record one with: stallscope run -- COMMAND");
    place
        .run(&["explain", "nothing.stall"])
        .status(2)
        .says("there is no recording nothing.stall");
    place.write("file.stall", "");
    place
        .run(&["explain", "file.stall"])
        .status(2)
        .says("is a file");
    fs::create_dir(place.path().join("empty.stall")).expect("the folder is ours");
    place
        .run(&["explain", "empty.stall"])
        .status(2)
        .says("is not a recording: it has no meta.json");
}

#[test]
fn a_damaged_table_gives_an_answer_with_a_note() {
    let place = Place::new();
    place.run(&["run", "-q", "--", "sleep", "3"]).status(0);
    let table = place.recording().join("thread.arrow");
    let file = OpenOptions::new()
        .write(true)
        .open(&table)
        .expect("it is there");
    let length = file.metadata().expect("it has a length").len();
    file.set_len(length - 100).expect("it is ours");
    let ended = place.run(&["explain", "--json", JSON]);
    ended.status(0).says("thread.arrow was read up to byte ");
    let report = place.report();
    let told = report.gaps.iter().any(|gap| gap.table == "thread");
    assert!(told, "the report lists the damage: {:?}", report.gaps);
}

#[test]
fn tables_that_are_not_there_or_hold_nonsense_give_an_answer() {
    let place = Place::new();
    place.run(&["run", "-q", "--", "sleep", "2"]).status(0);
    let folder = place.recording();
    fs::remove_file(folder.join("cpu.arrow")).expect("it is there");
    fs::write(folder.join("process.arrow"), [0xff; 500]).expect("it is ours");
    fs::write(folder.join("entities.arrow"), "").expect("it is ours");
    place
        .run(&["explain"])
        .status(0)
        .says("process.arrow was read up to byte 0: ")
        .says("entities.arrow was read up to byte 0: it is empty");
    fs::write(folder.join("meta.json"), "{}").expect("it is ours");
    place
        .run(&["explain"])
        .status(0)
        .says("meta.json: it cannot be understood: ")
        .says("The tables tell who was measured");
}

#[test]
fn a_recording_is_never_overwritten() {
    let place = Place::new();
    place
        .run(&["run", "-q", "-o", "mine.stall", "--", "true"])
        .status(0);
    let before = place.read("mine.stall/meta.json");
    let ended = place.run(&["run", "-o", "mine.stall", "--", "touch", "started"]);
    ended.status(125);
    assert_eq!(
        ended.err_text(),
        "stallscope: cannot write the recording: folder mine.stall exists. Choose another with -o FOLDER\n"
    );
    assert!(
        !place.path().join("started").exists(),
        "the workload was not started"
    );
    assert_eq!(place.read("mine.stall/meta.json"), before);
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_the_workload_starts() {
    let place = Place::new();
    place
        .run(&["run", "-o", "no/such.stall", "--", "touch", "started"])
        .status(125)
        .says("cannot write the recording no/such.stall: there is no folder no");
    place
        .run(&["run", "--json", "no/report.json", "--", "touch", "started"])
        .status(125)
        .says("cannot write the report to no/report.json");
    assert!(!place.path().join("started").exists());
    assert!(place.recordings().is_empty(), "{:?}", place.recordings());
    if !needs::root() || !needs::program("setpriv") {
        return;
    }
    let text =
        "exec setpriv --reuid=65534 --regid=65534 --clear-groups -- ./copy run -- touch started";
    fs::copy(env!("CARGO_BIN_EXE_stallscope"), place.path().join("copy")).expect("it is a file");
    Running::start(place.shell(text))
        .end()
        .status(125)
        .says("this user may not write in");
    assert!(!place.path().join("started").exists());
}
