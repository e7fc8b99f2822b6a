//! Reports as JSON, a run's and a machine's; their schemas are in `docs/*.schema.json`, which tests keep fresh.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use recording::Blocked;
use serde::Serialize;

/// Where a report goes as JSON. It is opened before anything else happens: what cannot be written ends
/// the program then, and nobody puts another file in its place while a workload runs.
pub(crate) enum JsonFile {
    /// `-`.
    Stdout,
    /// A file, a pipe or a device that the user named.
    Named(File, PathBuf),
}

impl JsonFile {
    /// Whether this name stands for standard output.
    pub(crate) fn means_stdout(file: &Path) -> bool {
        file == Path::new("-")
    }

    /// Opens the file, or stands for standard output for `-`. What is in the file stays for now.
    ///
    /// # Errors
    /// One sentence with the way round.
    pub(crate) fn open(file: &Path) -> Result<Self> {
        if Self::means_stdout(file) {
            return Ok(Self::Stdout);
        }
        let shown = file.display();
        match recording::open_named(file) {
            Ok(opened) => Ok(Self::Named(opened, file.to_owned())),
            Err(Blocked::Exposed(exposed)) => bail!(
                "cannot write the report to {shown} as root: {exposed}. Choose a place where only root may write, or a sticky one as /var/tmp: --json {}",
                recording::elsewhere(file).display()
            ),
            Err(Blocked::Io(error)) => {
                bail!("cannot write the report to {shown} (another file: --json FILE): {error}")
            }
        }
    }

    /// Whether standard output is the report's.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes a report, in the place of what the file held.
    pub(crate) fn write(self, report: &impl Serialize) -> Result<()> {
        let text = text(report)?;
        match self {
            Self::Stdout => std::io::stdout()
                .write_all(text.as_bytes())
                .context("cannot write the report to standard output"),
            Self::Named(mut file, path) => {
                let mut write = || -> std::io::Result<()> {
                    if file.metadata()?.is_file() {
                        file.set_len(0)?;
                    }
                    file.write_all(text.as_bytes())
                };
                write().with_context(|| format!("cannot write the report to {}", path.display()))
            }
        }
    }
}

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
            &schemars::schema_for!(model::Page),
            &expect_test::expect_file!["../../../../docs/page.schema.json"],
        );
    }
}
