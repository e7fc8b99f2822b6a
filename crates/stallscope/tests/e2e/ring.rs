//! Recordings that are written as segments, and what `--trigger` keeps of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use recording::Reader;
use rustix::process::Signal;

use crate::needs;
use crate::place::Place;
use crate::process::{Running, wait_until};

/// The folders in another, by name.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[test]
fn a_recording_in_segments_keeps_the_newest_and_answers_about_its_end() {
    let place = Place::new();
    let own = format!("pid:{}", std::process::id());
    let words = [
        "record",
        "-q",
        "--target",
        &own,
        "--segment",
        "2s",
        "--keep",
        "4s",
        "--for",
        "11s",
        "-o",
        "a.stall",
    ];
    place.run(&words).status(0).says("Saved a.stall");
    let folder = place.path().join("a.stall");
    assert!(!folder.join("000001.stall").exists(), "it is too old");
    assert!(folder.join("report.html").exists());
    let whole = Reader::open(&folder).expect("a recording");
    assert_eq!(whole.damage, []);
    assert!(whole.meta.complete && whole.meta.segment.is_none());
    let seconds = whole.timeline.window.seconds();
    assert!((4.0..11.0).contains(&seconds), "{seconds} s are kept");
    let explained = place.run(&["explain", "a.stall", "--last", "1s"]);
    explained.status(0).says("stallscope: read ");
    // A segment is a recording, and so is what is cut out of several.
    let newest = inside(&folder).into_iter().rfind(|it| it.is_dir());
    let newest = newest.expect("a segment");
    place
        .run(&["explain", newest.to_str().expect("text")])
        .status(0);
    place
        .run(&["export", "a.stall", "--from", "1s", "-o", "cut.stall"])
        .status(0);
    let cut = Reader::open(&place.path().join("cut.stall")).expect("a recording");
    assert_eq!(cut.damage, []);
    place
        .run(&[
            "explain",
            "a.stall",
            "--from",
            "2001-01-01T00:00Z",
            "--to",
            "2001-01-02T00:00Z",
        ])
        .status(2)
        .says("the recording holds nothing there");
}

#[test]
fn segments_of_a_recorder_that_was_killed_are_readable_and_marked() {
    let place = Place::new();
    let words = ["record", "-q", "--segment", "2s", "-o", "a.stall"];
    let running = Running::start(place.stallscope(&words));
    let folder = place.path().join("a.stall");
    wait_until("there is no third segment", || {
        folder.join("000003.stall/cpu.arrow").exists()
    });
    place.run(&["mark", "here", "a.stall"]).status(0);
    running.signal(Signal::KILL);
    running.end();
    let read = Reader::open(&folder).expect("a recording");
    assert_eq!(read.damage, []);
    assert!(!read.meta.complete);
    assert_eq!(read.timeline.marks.len(), 1);
    assert!(
        !folder.join("marks.jsonl").exists(),
        "a mark goes with its segment"
    );
    let cpu = read
        .timeline
        .entities
        .of_kind(model::EntityKind::Cpu)
        .next();
    let cpu = cpu.expect("a CPU").id;
    let counters = read
        .timeline
        .series("cpu", cpu, "idle_ns")
        .expect("it is read");
    let values: Vec<i64> = counters.values().map(|(_, value)| value).collect();
    assert!(values.is_sorted(), "{values:?}");
    place.run(&["explain", "a.stall"]).status(0);
}

/// Programs that keep all CPUs busy, and others waiting for one, for some seconds.
fn hogs() -> Vec<Running> {
    let count = 3 * std::thread::available_parallelism().map_or(2, usize::from);
    let hog = || {
        let mut command = Command::new("timeout");
        command.args(["8", "sh", "-c", "while :; do :; done"]);
        Running::start(command)
    };
    (0..count).map(|_| hog()).collect()
}

/// Whether a saving has 4 s before its firing and 3 s after it, and says so.
fn assert_has_the_firing(saved: &Path) {
    let recording = Reader::open(saved).expect("a recording");
    assert_eq!(recording.damage, []);
    let [firing] = &recording.meta.firings[..] else {
        panic!("one firing: {:?}", recording.meta.firings);
    };
    assert_eq!(firing.trigger, "pressure.cpu.some>70% for 4s");
    let window = recording.timeline.window;
    assert!(
        firing.at.seconds_since(window.start) >= 4.0,
        "{firing:?} in {window:?}"
    );
    assert!(
        window.end.seconds_since(firing.at) >= 3.0,
        "{firing:?} in {window:?}"
    );
    assert_eq!(recording.timeline.marks.len(), 1);
    assert_eq!(recording.timeline.marks[0].at, firing.at);
}

#[test]
fn a_trigger_keeps_what_lies_around_a_moment_and_nothing_else() {
    if !needs::pressure() {
        return;
    }
    let place = Place::new();
    let words = [
        "record",
        "-q",
        "--segment",
        "2s",
        "--trigger",
        "pressure.cpu.some>70% for 4s",
        "--before",
        "4s",
        "--after",
        "3s",
        "--at-most",
        "1/1h",
        "-o",
        "kept",
    ];
    let running = Running::start(place.stallscope(&words));
    let kept = place.path().join("kept");
    wait_until("the ring has no segments", || {
        kept.join("ring/000004.stall/cpu.arrow").exists()
    });
    let hogs = hogs();
    let saved = || {
        let folders = inside(&kept).into_iter();
        folders
            .filter(|it| it.extension().is_some())
            .collect::<Vec<_>>()
    };
    wait_until("nothing was saved", || {
        saved().iter().any(|it| inside(it).len() > 2)
    });
    for hog in hogs {
        hog.end();
    }
    running.signal(Signal::INT);
    let ended = running.end();
    ended.status(0).says("saving 4 s before and 3 s after");
    ended.says("Saved 1 recording");
    assert_eq!(inside(&kept), saved(), "the ring is gone");
    assert_has_the_firing(&saved()[0]);
    let path = saved()[0].to_string_lossy().into_owned();
    place.run(&["explain", &path]).status(0);
}

#[test]
fn what_no_trigger_can_be_is_refused_before_anything_is_made() {
    let place = Place::new();
    for (expression, said) in [
        ("latency.p99>100", "latency is compared with a time: 100ms"),
        ("pressure.gpu.some>1%", "there is no pressure `gpu.some`"),
        (
            "pressure.cpu.some>1% for 100ms",
            "its time is from 2s to 60s",
        ),
    ] {
        place
            .run(&["record", "--trigger", expression])
            .status(2)
            .says(said);
    }
    let ended = place.run(&["record", "--trigger", "spike", "--json", "report.json"]);
    ended
        .status(2)
        .says("stallscope explain RECORDING --json FILE");
    for wrong in [
        ["--segment", "1s"],
        ["--keep", "10s"],
        ["--max-size", "5"],
        ["--before", "5s"],
        ["--at-most", "1/5m"],
    ] {
        place.run(&["record", wrong[0], wrong[1]]).status(2);
    }
    assert_eq!(inside(place.path()), Vec::<PathBuf>::new());
}
