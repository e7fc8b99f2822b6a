//! Links that another user put where root writes, and recordings that lead out of themselves.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use crate::needs;
use crate::place::{JSON, Place};

const NOBODY: u32 = 65_534;

/// A folder of somebody else's files, which must stay as they are.
struct Victim(PathBuf);

impl Victim {
    fn new(place: &Place) -> Self {
        let folder = place.path().join("victim");
        fs::create_dir(&folder).expect("the folder is ours");
        for name in ["file", "meta.json", "meta.json.new", "journal"] {
            fs::write(folder.join(name), "theirs").expect("the folder is ours");
        }
        Self(folder)
    }

    #[track_caller]
    fn assert_untouched(&self) {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0).expect("it is there").flatten() {
            assert_eq!(fs::read(entry.path()).expect("a file"), b"theirs");
            names.push(entry.file_name().into_string().expect("a name"));
        }
        names.sort();
        assert_eq!(names, ["file", "journal", "meta.json", "meta.json.new"]);
    }
}

fn mode(path: &Path) -> u32 {
    let about = fs::symlink_metadata(path).expect("it is there");
    about.permissions().mode() & 0o7777
}

/// A folder in a place, of that owner and mode.
fn folder(place: &Place, name: &str, owner: u32, mode: u32) -> PathBuf {
    let path = place.path().join(name);
    fs::create_dir(&path).expect("the folder is ours");
    chown(&path, Some(owner), Some(owner)).expect("root may");
    place.open_to(name, mode);
    path
}

#[test]
fn root_records_only_where_no_other_user_may_write() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    folder(&place, "theirs", NOBODY, 0o755);
    folder(&place, "everyones", 0, 0o777);
    fs::create_dir(place.path().join("theirs/own")).expect("root may");
    for (folder, who) in [
        ("theirs", "user 65534 may write in"),
        ("theirs/own", "user 65534 may write in"),
        ("everyones", "every user may write in"),
    ] {
        let mut command = place.stallscope(&["run", "--", "touch", "ran"]);
        command.current_dir(place.path().join(folder));
        let ended = crate::process::Running::start(command).end();
        ended
            .status(125)
            .says("cannot write touch-1.stall as root: ")
            .says(who)
            .says("a sticky one as /var/tmp: -o /var/tmp/touch-1.stall");
        let output = format!("{folder}/a.stall");
        let record = ["record", "--for", "1s", "--target", "name:.", "-o", &output];
        place.run(&record).status(2).says(who);
        let left = fs::read_dir(place.path().join(folder)).expect("it is there");
        let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
        assert!(left.iter().all(|name| name == "own"), "{left:?}");
    }
}

#[test]
fn root_records_in_a_sticky_folder_and_nobody_else_may_look() {
    if !needs::root() {
        return;
    }
    let place = Place::new();
    let sticky = folder(&place, "sticky", 0, 0o1777);
    let json = "sticky/report.json";
    let words = ["run", "-q", "-o", "sticky/a.stall", "--json", json];
    place
        .run(&[&words[..], &["--", "sleep", "1"]].concat())
        .status(0);
    assert_eq!(mode(&sticky.join("a.stall")), 0o700);
    assert_eq!(mode(&sticky.join("report.json")), 0o600);
    let mut names = Vec::new();
    for entry in fs::read_dir(sticky.join("a.stall")).expect("root may") {
        let path = entry.expect("root may").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path);
    }
    assert!(names.contains(&sticky.join("a.stall/report.html")));
    for (format, made) in [("csv", "sticky/csv"), ("bundle", "sticky/b.stallbundle")] {
        let words = ["export", "sticky/a.stall", "--format", format, "-o", made];
        place.run(&words).status(0);
        let wanted = if format == "csv" { 0o700 } else { 0o600 };
        assert_eq!(mode(&place.path().join(made)), wanted);
    }
    // What another user made there is not root's to write to, whatever it leads to.
    let victim = Victim::new(&place);
    let planted = sticky.join("planted.json");
    symlink(victim.0.join("file"), &planted).expect("root may");
    lchown(&planted, Some(NOBODY), Some(NOBODY)).expect("root may");
    let json = ["--json", "sticky/planted.json", "-o", "b.stall"];
    place
        .run(&[&["run", "-q"], &json[..], &["--", "touch", "ran"]].concat())
        .status(125)
        .says("cannot write the report to sticky/planted.json as root: user 65534 may write in")
        .says("--json /var/tmp/planted.json");
    assert!(!place.path().join("ran").exists(), "nothing was started");
    assert!(!place.path().join("b.stall").exists());
    victim.assert_untouched();
}

#[test]
fn a_folder_that_is_swapped_for_a_link_is_still_the_one_that_is_written() {
    let place = Place::new();
    let victim = Victim::new(&place);
    // Wherever it is in the second: all that comes once a second comes after the swap as well.
    place.script(
        "load",
        "sleep 1.5; mv a.stall moved; ln -s victim a.stall; sleep 2.5",
    );
    let ended = place.run(&["run", "-q", "-o", "a.stall", "--", "./load"]);
    victim.assert_untouched();
    ended
        .status(0)
        .says("a.stall was moved while it was recorded. It is in")
        .says("moved");
    let moved = place.path().join("moved");
    let recording = recording::Reader::open(&moved).expect("it can be read");
    assert!(recording.meta.complete);
    assert_eq!(recording.damage, []);
    assert!(moved.join("report.html").exists());
    assert!(!moved.join("journal").exists(), "it was closed");
}

#[test]
fn links_that_are_planted_in_a_recording_lead_nowhere() {
    for name in ["meta.json.new", "journal", "meta.json", "report.html"] {
        let place = Place::new();
        let victim = Victim::new(&place);
        let plant = format!("ln -sfn ../victim/meta.json a.stall/{name}");
        place.script("load", &format!("sleep 1.2; {plant}; sleep 1.5"));
        let ended = place.run(&["run", "-q", "-o", "a.stall", "--", "./load"]);
        victim.assert_untouched();
        // One that is opened again is trouble, and is said; one that is replaced is none.
        if name == "meta.json.new" {
            ended
                .status(125)
                .says("cannot write a.stall/meta.json.new: Too many levels of symbolic links");
            continue;
        }
        ended.status(0);
        for replaced in ["meta.json", "report.html"] {
            let kept = place.path().join("a.stall").join(replaced);
            assert!(kept.is_file() && !kept.is_symlink(), "{name}: {ended}");
        }
    }
}

#[test]
fn the_report_goes_to_the_file_that_was_opened_at_the_start() {
    let place = Place::new();
    let victim = Victim::new(&place);
    place.write(JSON, "an older and longer report".repeat(10_000));
    place.script(
        "load",
        &format!("mv {JSON} opened; ln -s victim/file {JSON}"),
    );
    let words = ["run", "-q", "--json", JSON, "--", "./load"];
    let ended = place.run(&words);
    victim.assert_untouched();
    let report: model::Report = serde_json::from_str(&place.read("opened"))
        .unwrap_or_else(|error| panic!("{error}: {ended}"));
    assert_eq!(report.schema, model::REPORT_SCHEMA);
}

#[test]
fn a_page_of_a_recording_from_elsewhere_stays_in_it() {
    let place = Place::new();
    let words = [
        "run",
        "-q",
        "--no-report",
        "-o",
        "a.stall",
        "--",
        "sleep",
        "1",
    ];
    place.run(&words).status(0);
    let bundle = [
        "export",
        "a.stall",
        "--format",
        "bundle",
        "-o",
        "b.stallbundle",
    ];
    place.run(&bundle).status(0);
    let victim = Victim::new(&place);
    for (recording, page) in [
        ("a.stall", "a.stall/report.html"),
        ("b.stallbundle", "b.html"),
    ] {
        for target in ["victim/file", "victim/new", "victim"] {
            let link = place.path().join(page);
            let _ = fs::remove_file(&link);
            symlink(place.path().join(target), &link).expect("the folder is ours");
            place.run(&["report", recording]).status(0);
            victim.assert_untouched();
            assert!(!link.is_symlink() && link.is_file(), "{target}");
            assert!(place.read(page).contains("id=\"page\""));
        }
    }
    let entries = fs::read_dir(place.path().join("a.stall")).expect("it is there");
    let hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    assert_eq!(entries.flatten().filter(hidden).count(), 0);
}

#[test]
fn what_a_recording_from_elsewhere_links_to_is_not_read() {
    let place = Place::new();
    let words = [
        "run",
        "-q",
        "--no-report",
        "-o",
        "a.stall",
        "--",
        "sleep",
        "1",
    ];
    place.run(&words).status(0);
    let folder = place.path().join("a.stall");
    for name in ["cpu.arrow", "meta.json"] {
        // What it leads to would do.
        fs::rename(folder.join(name), place.path().join(name)).expect("it is ours");
        symlink(Path::new("..").join(name), folder.join(name)).expect("it is ours");
        place
            .run(&["explain", "a.stall"])
            .status(0)
            .says(name)
            .says("it is a symbolic link, and none is followed out of a recording");
    }
}
