//! Texts of a recording cannot leave their element, whatever they hold.

use model::Report;
use proptest::prelude::*;

use super::decode::{elements, found};
use super::made::{HOSTILE, with_names};
use super::{data_of, html};

#[test]
fn the_program_has_one_place_for_data_and_a_policy() {
    assert_eq!(html::PROGRAM.matches(html::MARKER).count(), 1);
    assert!(html::PROGRAM.contains("Content-Security-Policy"));
}

/// What is left of a report's fractions in JSON.
fn as_json(report: &Report) -> Report {
    let text = serde_json::to_string(report).expect("a report is JSON");
    serde_json::from_str(&text).expect("it is read again")
}

#[test]
fn hostile_names_come_back_as_they_were() {
    let recording = with_names(&HOSTILE);
    let (report, text) = data_of(&recording);
    let found = found(&text);
    assert_eq!(found.page.report, as_json(&report));
    let names = found
        .page
        .entities
        .iter()
        .map(|entity| entity.name.as_str());
    let names: Vec<&str> = names.collect();
    let recorded = recording.timeline.entities.iter();
    for record in recorded {
        assert!(names.contains(&record.entity.name.as_str()), "{record:?}");
    }
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn the_same_recording_gives_the_same_bytes() {
    let recording = with_names(&HOSTILE);
    assert!(data_of(&recording).1 == data_of(&recording).1);
}

#[test]
fn a_huge_text_is_no_trouble() {
    let huge = "</script>".repeat(4_000);
    let (_, text) = data_of(&with_names(&[&huge]));
    assert!(elements(&text)["page"].len() > huge.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_text_leaves_its_element(
        texts in proptest::collection::vec(
            prop_oneof![".{0,40}", "(<|/|script|>|!|-|&|\"|\\\\|\u{2028}|\u{0}|\n){0,30}"], 1..6)
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (report, text) = data_of(&with_names(&texts));
        prop_assert_eq!(found(&text).page.report, as_json(&report));
    }
}
