//! The recording's disk is full: before, for a while, and to the end.

use std::path::Path;
use std::process::Command;

use model::GapReason;

use crate::needs;
use crate::place::{Place, until_said};
use crate::postgres;

/// A file system of 1 MB in a folder of its own; unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        if !needs::root() {
            return None;
        }
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "stallscope-test"]);
        let mounted = mount.arg(home.path()).status();
        if !mounted.is_ok_and(|status| status.success()) {
            needs::skip("a small file system cannot be mounted");
            return None;
        }
        Some(Self(home))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn recording(&self) -> String {
        format!("{}/a.stall", self.path().display())
    }

    /// A shell command that takes all room.
    fn fill(&self) -> String {
        format!(
            "dd if=/dev/zero of={}/ballast bs=4k 2> dd.txt",
            self.path().display()
        )
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[test]
fn full_before_the_start() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let place = Place::new();
    place.script("fill", &disk.fill());
    let _ = Command::new("./fill").current_dir(place.path()).status();
    place.script("load", "touch ran");
    place
        .run(&["run", "-o", &disk.recording(), "--", "./load"])
        .status(125)
        .says("no space is left in");
    assert!(!place.path().join("ran").exists(), "nothing was started");
    assert!(!Path::new(&disk.recording()).exists());
}

#[test]
fn full_for_a_while_the_workload_goes_on_and_so_does_the_recording() {
    let _alone = postgres::alone();
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let place = Place::new();
    let (fill, path) = (disk.fill(), disk.path().display());
    let refused = until_said("The workload goes on");
    let taken = until_said("the recording is written again");
    place.script(
        "load",
        &format!("sleep 1.5; {fill}; {refused}; sleep 2.5; rm {path}/ballast; {taken}; sleep 1; echo done"),
    );
    let ended = place.run_overheard(&["run", "-o", &disk.recording(), "--", "./load"]);
    ended
        .status(0)
        .says("No space left on device")
        .says("The workload goes on")
        .says("the recording is written again")
        .does_not_say("rows are lacking");
    assert_eq!(ended.out_text(), "done\n");
    let recording = recording::Reader::open(disk.recording().as_ref()).expect("it can be read");
    assert_eq!(recording.damage, []);
    assert!(recording.meta.complete);
    let ticks = recording
        .timeline
        .table("recorder")
        .expect("it was recorded");
    let times: Vec<_> = (0..ticks.len()).map(|row| ticks.key(row).0).collect();
    let widest = times.windows(2).map(|pair| pair[1].ns_since(pair[0])).max();
    assert!(times.len() > 10, "{}", times.len());
    // What waited in memory was written later: a starved machine may be late, not by 2.5 s.
    assert!(widest.is_some_and(|ns| ns < 2_400_000_000), "{widest:?}");
}

#[test]
fn full_to_the_end_the_report_says_what_is_lacking() {
    let _alone = postgres::alone();
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let place = Place::new();
    let fill = disk.fill();
    let refused = until_said("The workload goes on");
    let load = format!("sleep 3.5; {fill}; {refused}; sleep 1; echo done");
    place.script("load", &load);
    let ended = place.run_overheard(&["run", "-o", &disk.recording(), "--", "./load"]);
    ended
        .says("The workload goes on")
        .says("the disk did not take")
        .says("What was written before stays readable");
    assert_eq!(ended.out_text(), "done\n");
    let recording = recording::Reader::open(disk.recording().as_ref()).expect("it can be read");
    assert_eq!(recording.damage, []);
    assert!(!recording.meta.complete);
    let of_disk = |gap: &&model::Gap| matches!(gap.reason, GapReason::Unwritten(_));
    assert_eq!(recording.meta.gaps.iter().filter(of_disk).count(), 1);
    let ticks = recording
        .timeline
        .table("recorder")
        .expect("it was recorded");
    assert!(ticks.len() > 10, "what was written before is there");
}
