//! When the cause was named, and stayed.

use crate::drawing::{drawn, headline};
use crate::neighbour::NEIGHBOUR;

/// How long the load had run then, s, with the cause.
fn named(text: &str) -> (String, Option<f64>) {
    let drawn = drawn(text);
    let (mut timeline, mut meta) = (drawn.timeline, drawn.meta);
    let report = analysis::conclude(&mut timeline, &mut meta, None, 5);
    let after = report.named_after_ns.map(|ns| ns as f64 / 1e9);
    (headline(&report).cause.clone(), after)
}

#[test]
fn what_lasts_all_the_time_is_named_within_the_first_seconds() {
    let (cause, after) = named(NEIGHBOUR);
    assert_eq!(cause, "cpu.neighbour");
    let after = after.expect("it was named");
    assert!((1.0..=3.0).contains(&after), "{after}");
}

#[test]
fn what_comes_later_is_named_later() {
    // The neighbour has most of the CPU time of the whole only when it has been there for a while.
    let text = NEIGHBOUR
        .replace(
            "####################  /batch",
            "0000000#############  /batch",
        )
        .replace(
            "55555555555555555555  /batch",
            "00000005555555555555  /batch",
        )
        .replace(
            "wait      66666666666666666666",
            "wait      00000006666666666666",
        );
    let (cause, after) = named(&text);
    assert_eq!(cause, "cpu.neighbour");
    let after = after.expect("it was named");
    assert!((8.0..=20.0).contains(&after), "{after}");
}

#[test]
fn nothing_is_named_where_no_cause_is() {
    let text = NEIGHBOUR
        .replace(
            "rest      ####################  /batch",
            "rest      00000000000000000000",
        )
        .replace(
            "rest      55555555555555555555  /batch",
            "rest      11111111111111111111",
        );
    assert_eq!(named(&text), ("undetermined".to_owned(), None));
}
