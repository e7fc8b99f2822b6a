//! The report as JSON; its schema is in `docs/report.schema.json`, which a test keeps fresh.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use model::Report;

/// Writes the report to a file, or to standard output for `-`.
pub(crate) fn write(report: &Report, file: &Path) -> Result<()> {
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
    #[test]
    fn the_documented_schema_is_the_codes_own() {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(model::Report))
            .expect("a schema is JSON");
        expect_test::expect_file!["../../../../docs/report.schema.json"]
            .assert_eq(&format!("{schema}\n"));
    }
}
