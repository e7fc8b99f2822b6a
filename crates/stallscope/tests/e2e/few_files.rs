//! Fewer files may be open than this machine would take: some hundred groups and processes.

use std::path::{Path, PathBuf};

use model::GapReason;

use crate::needs;
use crate::place::Place;
use crate::postgres;
use crate::process::Running;

/// Empty v2 groups in one of their own; gone when dropped.
struct Groups(PathBuf);

impl Groups {
    fn make(count: usize) -> Option<Self> {
        if !needs::root() {
            return None;
        }
        let Some(mount) = kernel::environment(Path::new("/")).hierarchies.v2 else {
            needs::skip("no cgroup v2 hierarchy is mounted");
            return None;
        };
        let home = mount
            .point
            .join(format!("stallscope-files-{}", std::process::id()));
        if let Err(error) = std::fs::create_dir(&home) {
            needs::skip(&format!("no cgroup can be made here: {error}"));
            return None;
        }
        let groups = Self(home);
        for number in 0..count {
            std::fs::create_dir(groups.0.join(number.to_string())).expect("the group is ours");
        }
        Some(groups)
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.path().is_dir()) {
            let _ = std::fs::remove_dir(entry.path());
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The program with a hard limit of open files.
fn limited(place: &Place, files: u32) -> Running {
    place.script(
        "load",
        "ulimit -n > limit\nfor i in $(seq 200); do sleep 4 & done\nsleep 3\necho done\nexit 7",
    );
    let run = format!("ulimit -n {files}; exec \"$0\" run -o a.stall -- ./load");
    Running::start(place.shell(&run))
}

#[test]
fn what_there_is_no_descriptor_for_is_named_and_the_rest_is_recorded() {
    let _alone = postgres::alone();
    let Some(_groups) = Groups::make(300) else {
        return;
    };
    for files in [64, 24] {
        let place = Place::new();
        let ended = limited(&place, files).end();
        ended
            .status(7)
            .says("too many open files: allow this shell more with: sudo prlimit --pid $$ --nofile=65536")
            .does_not_say("cannot write");
        assert_eq!(ended.out_text(), "done\n");
        assert_eq!(place.read("limit").trim(), files.to_string());
        let recording = place.opened();
        assert_eq!(recording.damage, []);
        assert!(recording.meta.complete);
        let gaps = recording.meta.gaps.iter();
        let lacking: Vec<&str> = gaps
            .filter(|gap| matches!(&gap.reason, GapReason::Denied(why) if why.to_string().contains("prlimit")))
            .map(|gap| gap.table.as_str())
            .collect();
        assert!(lacking.contains(&"process"), "{lacking:?}");
        assert!(
            lacking.iter().any(|table| table.starts_with("cgroup_")),
            "{lacking:?}"
        );
        let ticks = recording
            .timeline
            .table("recorder")
            .expect("it was recorded");
        assert!(ticks.len() > 10, "{}", ticks.len());
    }
}

#[test]
fn a_server_whose_processes_find_no_descriptor_is_not_said_to_be_elsewhere_only() {
    if !needs::program("setpriv") {
        return;
    }
    let Some((postgres, _alone)) = postgres::running() else {
        return;
    };
    let place = Place::new();
    // A program in the kernel sees them without any.
    let text = format!(
        "for i in $(seq 100); do sleep 9 >/dev/null 2>&1 & done
        ulimit -n 64; exec setpriv --bounding-set=-bpf,-perfmon,-sys_admin \"$0\" record --postgres dbname=bench --target port:{} --for 3s",
        postgres.port()
    );
    let mut command = place.shell(&text);
    postgres.serve(&mut command);
    Running::start(command)
        .end()
        .status(0)
        .says("or too few files may be open for all that is here (ulimit -n)");
}

#[test]
fn where_there_are_too_few_for_any_recording_it_says_so_before_anything_begins() {
    for files in 4..=20 {
        let place = Place::new();
        let said = format!(
            "stallscope: cannot record: this process may open no more files than {files} (ulimit -n); allow this shell more with: sudo prlimit --pid $$ --nofile=65536"
        );
        limited(&place, files).end().status(125).says(&said);
        assert!(!place.path().join("limit").exists(), "nothing was started");
        let record = format!("ulimit -n {files}; exec \"$0\" record --target name:nobody");
        let recorded = Running::start(place.shell(&record)).end();
        recorded.status(2).says(&said);
        assert_eq!(place.recordings(), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_recording_is_read_with_few_and_says_so_where_there_are_too_few() {
    let place = Place::new();
    place.run(&["run", "-q", "-o", "a.stall", "--", "true"]);
    let explained = |files: u32| {
        let explain = format!("ulimit -n {files}; exec \"$0\" explain a.stall");
        Running::start(place.shell(&explain)).end()
    };
    explained(5)
        .status(2)
        .says("this process may open no more files than 5 (ulimit -n); allow this shell more with")
        .does_not_say("Check that this user may read it");
    let whole = explained(1_024);
    assert_eq!(explained(8).out_text(), whole.out_text(), "{whole}");
}
