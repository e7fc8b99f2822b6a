//! The quota of the recording's folder is used up: before, for a while, to the end, and for longer than
//! memory lasts.

use model::{EntityId, GapReason, Rows, Timestamp};

use crate::allotment;
use crate::fuse::Mounted;
use crate::place::{Place, until_said};
use crate::postgres;

/// Enough for the recordings of these tests.
const ALLOTMENT: usize = 5 << 18;

fn recording(home: &Mounted) -> String {
    format!("{}/a.stall", home.path().display())
}

/// A shell command that uses up the quota.
fn fill(home: &Mounted) -> String {
    let ballast = home.path().join("ballast");
    format!("dd if=/dev/zero of={} bs=4k 2> dd.txt", ballast.display())
}

/// A thousand rows.
fn append(writer: &mut recording::Writer, from: Timestamp) {
    let table = &sensors::FILESYSTEM;
    let mut rows = Rows::with_capacity(table.columns.len(), 1_000);
    for row in 0..1_000 {
        rows.push(from + row, EntityId(0), &vec![row; table.columns.len()]);
    }
    writer.append(table, &rows).expect("it fits the table");
}

/// What the gaps of the disk say.
fn unwritten(meta: &model::Meta) -> Vec<String> {
    let said = meta.gaps.iter().filter_map(|gap| match &gap.reason {
        GapReason::Unwritten(detail) => Some(detail.to_string()),
        _ => None,
    });
    said.collect()
}

#[test]
fn used_up_before_the_start() {
    let Some(home) = allotment::mount(ALLOTMENT) else {
        return;
    };
    let place = Place::new();
    let status = place.shell(&fill(&home)).status();
    assert!(
        status.is_ok_and(|status| !status.success()),
        "it is refused"
    );
    assert!(place.read("dd.txt").contains("Disk quota exceeded"));
    place.script("load", "touch ran");
    let path = home.path().display();
    place
        .run(&["run", "-o", &recording(&home), "--", "./load"])
        .status(125)
        .says(&format!(
            "cannot write the recording {path}/a.stall: the quota for {path} is used up. Remove something there (quota -s shows the limit), or choose another place with -o FOLDER"
        ));
    assert!(!place.path().join("ran").exists(), "nothing was started");
    assert!(!home.path().join("a.stall").exists());
}

#[test]
fn too_little_left_for_the_beginning() {
    // The folder finds room, what belongs in it does not.
    let Some(home) = allotment::mount(32 << 10) else {
        return;
    };
    let place = Place::new();
    place.script("load", "touch ran");
    place
        .run(&["run", "-o", &recording(&home), "--", "./load"])
        .status(125)
        .says("the quota for");
    assert!(!place.path().join("ran").exists(), "nothing was started");
    assert!(!home.path().join("a.stall").exists());
}

#[test]
fn used_up_for_a_while_the_workload_goes_on_and_so_does_the_recording() {
    let _alone = postgres::alone();
    let Some(home) = allotment::mount(ALLOTMENT) else {
        return;
    };
    let place = Place::new();
    let (fill, path) = (fill(&home), home.path().display());
    let refused = until_said("The workload goes on");
    let taken = until_said("the recording is written again");
    place.script(
        "load",
        &format!("sleep 1.5; {fill}; {refused}; sleep 1; rm {path}/ballast; {taken}; sleep 1; echo done; exit 7"),
    );
    let ended = place.run_overheard(&["run", "-o", &recording(&home), "--", "./load"]);
    ended
        .status(7)
        .says("Disk quota exceeded")
        .says("quota -s shows the limit")
        .says("The workload goes on")
        .says("the recording is written again")
        .does_not_say("No space left")
        .does_not_say("rows are lacking");
    assert_eq!(ended.out_text(), "done\n");
    let recording = recording::Reader::open(recording(&home).as_ref()).expect("it can be read");
    assert_eq!(recording.damage, []);
    assert!(recording.meta.complete);
    let ticks = recording
        .timeline
        .table("recorder")
        .expect("it was recorded");
    assert!(ticks.len() > 10, "{}", ticks.len());
}

#[test]
fn used_up_to_the_end_the_gap_names_the_quota() {
    let _alone = postgres::alone();
    let Some(home) = allotment::mount(ALLOTMENT) else {
        return;
    };
    let place = Place::new();
    // What the recording itself gives back is taken as well.
    let fill = format!("{} oflag=append conv=notrunc", fill(&home));
    let filler = format!("while {{ {fill}; sleep 0.02; }}; do :; done & filler=$!");
    let refused = until_said("The workload goes on");
    place.script(
        "load",
        &format!("sleep 2.5; {filler}; {refused}; sleep 1; kill $filler; echo done"),
    );
    let ended = place.run_overheard(&["run", "-o", &recording(&home), "--", "./load"]);
    ended
        .says("The workload goes on")
        .says("the disk did not take")
        .says("(Disk quota exceeded")
        .does_not_say("No space left");
    assert_eq!(ended.out_text(), "done\n");
    let recording = recording::Reader::open(recording(&home).as_ref()).expect("it can be read");
    assert_eq!(recording.damage, []);
    assert!(!recording.meta.complete);
    let [said] = &unwritten(&recording.meta)[..] else {
        panic!("one gap: {:?}", recording.meta.gaps);
    };
    assert!(said.starts_with("Disk quota exceeded"), "{said}");
    let ticks = recording
        .timeline
        .table("recorder")
        .expect("it was recorded");
    assert!(ticks.len() > 10, "what was written before is there");
}

#[test]
fn what_finds_no_room_in_memory_is_a_gap_that_names_the_quota() {
    let Some(home) = allotment::mount(ALLOTMENT) else {
        return;
    };
    let place = Place::new();
    place.script("load", "sleep 1");
    // Not within the quota: how much a recording takes depends on what else this machine does, and all
    // that waits below must find room.
    place.run(&["run", "--no-report", "-o", "a.stall", "--", "./load"]);
    let mut meta = place.opened().meta;
    let start = meta.window.start;
    let folder = home.path().join("b.stall");
    let mut writer = recording::Writer::create(&folder, &meta).expect("there is room");
    let _ = place.shell(&fill(&home)).status();
    // 4 MiB wait in memory.
    for second in 0..200 {
        append(&mut writer, start + second * 1_000_000_000);
        assert!(writer.flush().is_err(), "the quota is used up");
    }
    std::fs::remove_file(home.path().join("ballast")).expect("it is there");
    writer.flush().expect("there is room again");
    meta.complete = true;
    writer.close(&meta).expect("there is room again");
    let after = recording::Reader::open(&folder).expect("it can be read");
    assert_eq!(after.damage, []);
    assert!(after.meta.complete);
    let [said] = &unwritten(&after.meta)[..] else {
        panic!("one gap: {:?}", after.meta.gaps);
    };
    assert!(
        said.starts_with("Disk quota exceeded (os error 122): "),
        "{said}"
    );
}

#[test]
fn a_description_that_grows_keeps_room_for_the_next() {
    let Some(home) = allotment::mount(ALLOTMENT) else {
        return;
    };
    let place = Place::new();
    place.run(&["run", "--no-report", "-o", "a.stall", "--", "true"]);
    let mut meta = place.opened().meta;
    let folder = home.path().join("b.stall");
    let mut writer = recording::Writer::create(&folder, &meta).expect("there is room");
    let _ = place.shell(&fill(&home)).status();
    for number in 1..20 {
        meta.gaps.push(model::Gap {
            table: "*".to_owned(),
            what: "something".repeat(100).into(),
            window: None,
            reason: GapReason::Overrun,
        });
        writer.meta(&meta).expect("its room was kept");
        // What is left is not given to the rows.
        append(&mut writer, meta.window.start + number * 1_000_000_000);
        assert!(writer.flush().is_err(), "the quota is used up");
    }
}
