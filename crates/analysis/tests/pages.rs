//! Each cause has a page in `docs/causes`, made from the code; `UPDATE_EXPECT=1` writes them.

use std::path::PathBuf;

use analysis::{Cause, CauseKind, Threshold, Upstream};
use expect_test::expect_file;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/causes")
}

/// A line of the table of thresholds. A share has at least two digits after the point.
fn line(threshold: &Threshold) -> String {
    let Threshold {
        name,
        unit,
        meaning,
        origin,
        ..
    } = threshold;
    let value = threshold.value();
    let value = match unit.starts_with("share") {
        true => format!("{value:.2}"),
        false => format!("{value:?}"),
    };
    format!("| `{name}` | {value} | {meaning} ({unit}; {origin}). |\n")
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

/// The causes that explain it away.
fn explained_by(cause: &Cause) -> String {
    let names = cause.upstream.iter().map(|upstream| match upstream {
        Upstream::All(name) | Upstream::Worded(name, _) => format!("`{name}`"),
        Upstream::Unless(name, _) => format!("`{name}` (unless it is known to be something else)"),
        Upstream::Most(name) => format!("`{name}` (where that is most of it)"),
    });
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            "- Absent where found, since it explains the same time: {}.\n",
            names.join(", ")
        ),
    }
}

fn page(cause: &Cause) -> String {
    let mut text = format!("# {}\n\n{}\n\n", cause.name, cause.help);
    text += &format!("- Entity of a finding: {}.\n", cause.about);
    text += &format!("- Kind: {}.\n", standing(cause.kind));
    text += &explained_by(cause);
    text.push('\n');
    text += &format!("## How it is recognised\n\n{}\n\n", cause.told_by);
    if !cause.thresholds.is_empty() {
        text.push_str("## Thresholds\n\n| threshold | value | meaning |\n|---|---|---|\n");
        cause.thresholds.iter().for_each(|it| text += &line(it));
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
