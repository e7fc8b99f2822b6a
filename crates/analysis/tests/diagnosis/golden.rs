//! The whole report as JSON: a change of its schema, or of any number, is seen here first.

use expect_test::expect_file;

use crate::drawing::drawn;
use crate::saturated::SATURATED;

#[test]
fn the_report_of_a_saturated_run() {
    let report = drawn(SATURATED).diagnose();
    let json = serde_json::to_string_pretty(&report).expect("a report is JSON");
    expect_file!["golden/saturated.json"].assert_eq(&(json.clone() + "\n"));
    let back: model::Report = serde_json::from_str(&json).expect("it can be read back");
    assert_eq!(
        back.verdict.findings[0].sentence,
        report.verdict.findings[0].sentence
    );
}
