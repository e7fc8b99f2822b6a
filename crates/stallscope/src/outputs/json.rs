//! Reports as JSON, a run's and a machine's; their schemas are in `docs/*.schema.json`, which tests keep fresh.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

/// Writes a report to a file, or to standard output for `-`.
pub(crate) fn write(report: &impl Serialize, file: &Path) -> Result<()> {
    let mut text =
        serde_json::to_string_pretty(report).context("cannot write the report as JSON")?;
    text.push('\n');
    if file == Path::new("-") {
        return std::io::stdout()
            .write_all(text.as_bytes())
            .context("cannot write the report to standard output");
    }
    std::fs::write(file, text)
        .with_context(|| format!("cannot write the report to {}", file.display()))
}

#[cfg(test)]
mod tests {
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
            &schemars::schema_for!(model::Survey),
            &expect_test::expect_file!["../../../../docs/doctor.schema.json"],
        );
    }
}
