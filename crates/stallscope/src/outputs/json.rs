//! Reports as JSON, a run's and a machine's; their schemas are in `docs/*.schema.json`, which tests keep fresh.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde::Serialize;

/// The report as it is written.
pub(crate) fn text(report: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(report).context("cannot write the report as JSON")?;
    Ok(harmless(&text) + "\n")
}

/// JSON escapes what stands below the space and lets the other control characters be: a terminal
/// would obey those. They stand in strings only.
pub(crate) fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for letter in json.chars() {
        if letter.is_control() && letter != '\n' {
            let _ = write!(text, "\\u{:04x}", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    text
}

/// The word that a value of an enumeration has in JSON.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn control_characters_are_escaped_and_mean_the_same() {
        let names = ["\u{9b}31m csi", "\u{7f}\u{80}", "\x1b[31m\n\t", "é ü %"];
        let json = serde_json::to_string_pretty(&names).expect("strings are JSON");
        let safe = harmless(&json);
        assert!(safe.chars().all(|c| c == '\n' || !c.is_control()), "{safe}");
        let read: Vec<String> = serde_json::from_str(&safe).expect("it is still JSON");
        assert_eq!(read, names);
    }

    fn check(schema: &schemars::Schema, documented: &expect_test::ExpectFile) {
        let schema = serde_json::to_string_pretty(schema).expect("a schema is JSON");
        documented.assert_eq(&format!("{schema}\n"));
    }

    #[test]
    fn the_documented_schemas_are_the_codes_own() {
        check(
            &schemars::schema_for!(model::Report),
            &expect_test::expect_file!["../../../../docs/report.schema.json"],
        );
        check(
            &schemars::schema_for!(model::DoctorReport),
            &expect_test::expect_file!["../../../../docs/doctor.schema.json"],
        );
        check(
            &schemars::schema_for!(model::Comparison),
            &expect_test::expect_file!["../../../../docs/comparison.schema.json"],
        );
        check(
            &schemars::schema_for!(model::ClusterReport),
            &expect_test::expect_file!["../../../../docs/cluster.schema.json"],
        );
        check(
            &schemars::schema_for!(model::Sweep),
            &expect_test::expect_file!["../../../../docs/sweep.schema.json"],
        );
        check(
            &schemars::schema_for!(model::SizingReport),
            &expect_test::expect_file!["../../../../docs/size.schema.json"],
        );
        check(
            &schemars::schema_for!(model::Proof),
            &expect_test::expect_file!["../../../../docs/prove.schema.json"],
        );
        check(
            &schemars::schema_for!(model::Page),
            &expect_test::expect_file!["../../../../docs/page.schema.json"],
        );
    }
}
