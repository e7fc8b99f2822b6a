//! A file that an option names for an output: `--json FILE`, `-` for standard output.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use recording::Blocked;
use serde::Serialize;

use super::json_text;

/// Where an output goes that an option names. It is opened before anything else happens: what cannot be written ends
/// the program then, and nobody puts another file in its place while a workload runs.
pub(crate) enum OutputFile {
    /// `-`.
    Stdout,
    /// A file, a pipe or a device that the user named.
    Named(File, PathBuf),
}

impl OutputFile {
    /// Whether this name stands for standard output.
    pub(crate) fn means_stdout(file: &Path) -> bool {
        file == Path::new("-")
    }

    /// Opens the file that was given to `option`, or stands for standard output for `-`. What is in the file stays for
    /// now.
    ///
    /// # Errors
    /// One sentence with the way round.
    pub(crate) fn open(file: &Path, option: &str) -> Result<Self> {
        if Self::means_stdout(file) {
            return Ok(Self::Stdout);
        }
        let shown = file.display();
        match recording::open_named(file) {
            Ok(opened) => Ok(Self::Named(opened, file.to_owned())),
            Err(Blocked::Exposed(exposed)) => bail!(
                "cannot write the report to {shown} as root: {exposed}. Choose a place where only root may write, or a sticky one as /var/tmp: {option} {}",
                recording::elsewhere(file).display()
            ),
            Err(Blocked::Io(error)) => {
                bail!("cannot write the report to {shown} (another file: {option} FILE): {error}")
            }
        }
    }

    /// Whether standard output is the report's.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes a report as JSON, in the place of what the file held.
    pub(crate) fn write(self, report: &impl Serialize) -> Result<()> {
        self.write_text(&json_text(report)?)
    }

    /// Writes a text, in the place of what the file held.
    pub(crate) fn write_text(self, text: &str) -> Result<()> {
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
