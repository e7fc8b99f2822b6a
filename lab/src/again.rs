//! A recording diagnosed again, by the program under test as it is now.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::binary;
use crate::outcome::{Answer, Files};

/// The program that answers, and what it may look at.
pub struct Judge {
    stallscope: PathBuf,
    without: Vec<String>,
}

impl Judge {
    /// The named program, or the one that `binary` finds; `without` are tables that it must do without.
    pub fn new(stallscope: Option<&Path>, without: &[String]) -> Result<Self> {
        Ok(Self {
            stallscope: binary::find(stallscope)?,
            without: without.to_vec(),
        })
    }

    /// What it says about a recording; its report is written into `room`, as `files` names it there.
    pub fn answer(&self, recording: &Path, files: &Files) -> Result<Answer> {
        let mut command = Command::new(&self.stallscope);
        command.args(["explain", "--json"]).arg(files.report());
        if !self.without.is_empty() {
            command.arg("--without").arg(self.without.join(","));
        }
        let output = command
            .arg(recording)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.stallscope.display()))?;
        match files.load_report()? {
            Some(answer) if output.status.success() => Ok(answer),
            _ => bail!(
                "stallscope explain gave no report on {}: {}",
                recording.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        }
    }
}
