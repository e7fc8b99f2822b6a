//! Recordings side by side: kept ones of the lab, and what cannot be compared.

use std::fs::{self, File};
use std::path::Path;

use model::Comparison;

use crate::place::{JSON, Place};

/// Puts a kept recording of the lab there, under another name.
fn keep(place: &Place, kept: &str, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/recordings");
    let file = File::open(folder.join(format!("{kept}.tar.zst"))).expect("it is kept");
    let unpacked = zstd::Decoder::new(file).expect("a zstd stream");
    tar::Archive::new(unpacked)
        .unpack(place.path())
        .expect("an archive");
    let made = place.path().join(format!("{kept}.stall"));
    fs::rename(made, place.path().join(name)).expect("the folder is ours");
}

#[test]
fn two_recordings_are_compared_for_people_and_programs() {
    let place = Place::new();
    keep(&place, "cpu-saturated", "fast.stall");
    keep(&place, "cpu-quota", "held.stall");
    let files = ["--json", JSON, "--export-markdown", "c.md", "-o", "c.html"];
    let ended = place.run(&[&["compare", "fast.stall", "held.stall"], &files[..]].concat());
    ended.status(0);
    let said = ended.out_text();
    assert!(said.starts_with("held does "), "{said}");
    assert!(said.contains(" less than fast: "), "{said}");
    assert!(said.contains("is cpu.saturated (postgres, "), "{said}");
    assert!(said.contains("of held cpu.quota"), "{said}");
    let json = fs::read(place.path().join(JSON)).expect("it was written");
    let comparison: Comparison = serde_json::from_slice(&json).expect("it is a comparison");
    let throughput = comparison.figure("throughput").expect("both have it");
    assert!(throughput.differences[0].expect("both have it").is_shown());
    let text = |file: &str| fs::read_to_string(place.path().join(file)).expect("it was written");
    assert!(text("c.md").starts_with("### Stallscope: fast, held\n"));
    assert!(text("c.html").starts_with("<!doctype html>"));
}

#[test]
fn a_condition_holds_where_the_whole_interval_is_beyond_it() {
    let place = Place::new();
    keep(&place, "cpu-saturated", "fast.stall");
    keep(&place, "cpu-quota", "held.stall");
    let judge = |condition: &str| {
        place.run(&[
            "compare",
            "fast.stall",
            "held.stall",
            "--fail-if",
            condition,
        ])
    };
    let ended = judge("throughput < -5%");
    ended
        .status(1)
        .says("--fail-if 'throughput < -5%' holds: throughput of held is -");
    judge("throughput < -99%").status(0);
    judge("throughput > 0%").status(0);
    judge("latency.p42 > 1%")
        .status(2)
        .says("these recordings have no figure `latency.p42`. They have throughput, ");
    judge("load1 > 1%")
        .status(0)
        .says("load average, 1 min of held has no interval");
    let same = place.run(&[
        "compare",
        "fast.stall",
        "fast.stall",
        "--fail-if",
        "throughput < -1%",
    ]);
    same.status(0);
    assert!(same.out_text().contains(" does as much as "), "{same}");
}

#[test]
fn patterns_and_folders_are_groups() {
    let place = Place::new();
    for number in 1..=3 {
        keep(&place, "cpu-saturated", &format!("fast-{number}.stall"));
    }
    fs::create_dir(place.path().join("base")).expect("the folder is ours");
    for number in 1..=2 {
        keep(&place, "cpu-quota", &format!("base/run-{number}.stall"));
    }
    let ended = place.run(&["compare", "base", "fast-*.stall", "--json", JSON]);
    ended.status(0);
    assert!(ended.out_text().starts_with("fast does "), "{ended}");
    let json = fs::read(place.path().join(JSON)).expect("it was written");
    let comparison: Comparison = serde_json::from_slice(&json).expect("it is a comparison");
    let groups = comparison.groups.iter();
    let groups: Vec<(&str, usize)> = groups.map(|it| (it.name.as_str(), it.runs.len())).collect();
    assert_eq!(groups, [("base", 2), ("fast", 3)]);
}

#[test]
fn what_cannot_be_compared_is_said_with_what_can() {
    let place = Place::new();
    keep(&place, "cpu-saturated", "fast.stall");
    place
        .run(&["compare", "fast.stall"])
        .status(2)
        .says("nothing to compare it with. Name two recordings");
    place
        .run(&["compare", "fast.stall", "slow-*.stall"])
        .status(2)
        .says("there is no recording slow-*.stall. Name a recording, a folder of recordings, or a pattern");
    fs::create_dir(place.path().join("empty")).expect("the folder is ours");
    place
        .run(&["compare", "fast.stall", "empty"])
        .status(2)
        .says("empty is no recording, and holds none");
    place
        .run(&["compare", "fast.stall", "a[.stall"])
        .status(2)
        .says("`a[.stall` is no pattern");
}

#[test]
fn of_several_recordings_the_damaged_one_is_named() {
    let place = Place::new();
    keep(&place, "cpu-saturated", "fast.stall");
    keep(&place, "cpu-quota", "held.stall");
    fs::write(place.path().join("held.stall/meta.json"), "{").expect("the folder is ours");
    place
        .run(&["compare", "fast.stall", "held.stall"])
        .status(0)
        .says("meta.json: it cannot be understood")
        .says("that is about held.stall");
}
