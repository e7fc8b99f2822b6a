//! Each cause has a page in `docs/causes`, made from the code; `UPDATE_EXPECT=1` writes them.

use std::path::PathBuf;

use analysis::{Cause, CauseKind};
use expect_test::expect_file;

const THRESHOLDS: &str = include_str!("../thresholds.toml");

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/causes")
}

/// The lines of a section of the thresholds file: (name, value, what it means).
fn thresholds(cause: &str) -> Vec<(&'static str, &'static str, String)> {
    let heading = format!("[{}]", cause.replacen('.', "_", 1));
    let lines = THRESHOLDS.lines().skip_while(|line| *line != heading);
    let section = lines.skip(1).take_while(|line| !line.starts_with('['));
    let mut found = Vec::new();
    let mut meaning = Vec::new();
    for line in section {
        if let Some(comment) = line.strip_prefix('#') {
            meaning.push(comment.trim());
        } else if let Some((name, value)) = line.split_once(" = ") {
            found.push((name, value, meaning.join(" ")));
            meaning.clear();
        }
    }
    found
}

fn standing(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::State => "summary of all findings; comes first",
        CauseKind::Failure => "failure; comes before every limit, whatever its share",
        CauseKind::Limit => "limit of the target; ranked by its share of the response time",
        CauseKind::Part => "adds to a limit; listed after it",
        CauseKind::Intent => "the load asks for no more; `healthy` comes first",
    }
}

fn page(cause: &Cause) -> String {
    let mut text = format!("# {}\n\n{}\n\n", cause.name, cause.help);
    text += &format!("- Entity of a finding: {}.\n", cause.about);
    text += &format!("- Kind: {}.\n\n", standing(cause.kind));
    text += &format!("## How it is recognised\n\n{}\n\n", cause.told_by);
    let thresholds = thresholds(cause.name);
    if !thresholds.is_empty() {
        text.push_str("## Thresholds\n\n| threshold | value | meaning |\n|---|---|---|\n");
        for (name, value, meaning) in thresholds {
            text += &format!("| `{name}` | {value} | {meaning} |\n");
        }
        text.push('\n');
    }
    text.push_str("Generated from `crates/analysis/src/causes`.\n");
    text
}

#[test]
fn every_cause_has_its_page() {
    let mut index = "# The causes\n\nEvery verdict answers each cause: present, absent, or cannot tell. They are judged in this order, and each takes into account what was found before it, so that a symptom is not reported as a cause.\n\n| cause | meaning |\n|---|---|\n".to_owned();
    for cause in analysis::causes() {
        expect_file![folder().join(format!("{}.md", cause.name))].assert_eq(&page(cause));
        index += &format!("| [{0}]({0}.md) | {1} |\n", cause.name, cause.help);
    }
    expect_file![folder().join("README.md")].assert_eq(&index);
}

#[test]
fn no_page_is_left_of_a_cause_that_is_gone() {
    for entry in std::fs::read_dir(folder()).expect("the pages are there") {
        let name = entry.expect("a file").file_name();
        let name = name.to_string_lossy();
        let cause = name.strip_suffix(".md").unwrap_or(&name);
        let known = analysis::causes().iter().any(|known| known.name == cause);
        assert!(known || cause == "README", "{name} is no cause's page");
    }
}
