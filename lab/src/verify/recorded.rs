//! A load that ran under `stallscope run`: what was printed, the report, and a table of the recording.
//!
//! Each load runs below `sh -c`, so that no adapter reads what it prints: the kernel's counts are all that
//! `stallscope` has.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use model::{Phase, PhaseKind, Report, Signal, Timestamp, Window};

use super::{VerifyArguments, remove};
use crate::stage::Stage;
use crate::{binary, interrupt, outcome};

/// One such run.
pub struct Recorded {
    /// What the load printed.
    pub printed: String,
    /// What `stallscope` printed, its last line without the folder.
    pub cost: String,
    /// The report.
    pub report: Report,
    stallscope: PathBuf,
    recording: PathBuf,
}

impl Recorded {
    /// Runs a shell's line under `stallscope run` with these options.
    ///
    /// # Errors
    /// When the line or `stallscope` does not end well.
    pub fn run(
        arguments: &VerifyArguments,
        stage: &Stage,
        options: &[&str],
        line: &str,
    ) -> Result<Self> {
        Self::beside(arguments, stage, options, line, || Ok(())).map(|it| it.0)
    }

    /// The same while something else is done, whose result is the second.
    ///
    /// # Errors
    /// Those, and what else was done.
    pub fn beside<T>(
        arguments: &VerifyArguments,
        stage: &Stage,
        options: &[&str],
        line: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<(Self, T)> {
        let stallscope = binary::find(arguments.stallscope.as_deref())?;
        let out = &arguments.out;
        fs::create_dir_all(out)
            .with_context(|| format!("cannot make the folder {}", out.display()))?;
        let out = fs::canonicalize(out).context("cannot tell where the folder is")?;
        let [recording, json] = ["verify.stall", "verify.json"].map(|name| out.join(name));
        remove(&[&recording, &json])?;
        let mut command = Command::new(&stallscope);
        command
            .args(["run", "-q", "--no-report", "-o"])
            .arg(&recording);
        command.arg("--json").arg(&json);
        command.args(options);
        command.args(["--", "sh", "-c", line]);
        stage.serve_command(&mut command);
        let child = command
            .current_dir(stage.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", stallscope.display()))?;
        let result = work();
        let output = child.wait_with_output().context("it has ended")?;
        interrupt::check()?;
        let [printed, said] =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        if !output.status.success() {
            bail!("{line}: {}\n{printed}{said}", output.status);
        }
        let report = outcome::read_json::<Report>(&json)?;
        let recorded = Self {
            cost: own_cost(&said).to_owned(),
            // A tool's summary may be on its standard error.
            printed: printed + &said,
            report: report.with_context(|| format!("no report in {}", json.display()))?,
            stallscope,
            recording,
        };
        Ok((recorded, result?))
    }

    /// The report over another window.
    ///
    /// # Errors
    /// When `stallscope explain` does not write it.
    pub fn explained(&self, window: Window) -> Result<Report> {
        let json = self.recording.with_extension("window.json");
        remove(&[&json])?;
        let since = |at: Timestamp| format!("{:.3}s", at.ns_since(self.report.origin) as f64 / 1e9);
        let mut explain = Command::new(&self.stallscope);
        explain.arg("explain").arg(&self.recording);
        explain.args(["--from", &since(window.start), "--to", &since(window.end)]);
        let output = explain.arg("--json").arg(&json).output();
        let output = output.context("cannot start stallscope explain")?;
        let report = outcome::read_json::<Report>(&json)?;
        report.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// One of the report's signals.
    pub fn signal(&self, name: &str) -> Option<&Signal> {
        self.report.signals.iter().find(|it| it.name == name)
    }

    /// Phases of the load between its beginning and its end.
    pub fn phases(&self) -> impl Iterator<Item = &Phase> {
        let phases = self.report.phases.iter();
        phases.filter(|it| !matches!(it.kind, PhaseKind::WarmUp | PhaseKind::End))
    }

    /// The first finding: its cause and how sure it is.
    pub fn verdict(&self) -> String {
        let first = self.report.verdict.findings.first();
        first.map_or("no finding".to_owned(), |it| {
            format!("{} ({:?})", it.cause, it.confidence).to_lowercase()
        })
    }

    /// A table of the recording as CSV, with its header.
    ///
    /// # Errors
    /// When `stallscope export` does not write it.
    pub fn table(&self, name: &str) -> Result<String> {
        let folder = self.recording.with_extension("csv");
        remove(&[&folder])?;
        let mut export = Command::new(&self.stallscope);
        export.arg("export").arg(&self.recording);
        export
            .args(["--format", "csv", "--table", name, "-o"])
            .arg(&folder);
        let output = export.output().context("cannot start stallscope export")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let path = folder.join(format!("{name}.csv"));
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// `0.9 % of a CPU` of `Saved x.stall (0.4 MB), own cost 0.9 % of a CPU. Next: ...`.
fn own_cost(said: &str) -> &str {
    let cost = said.rsplit_once("own cost ").map_or("", |(_, rest)| rest);
    cost.split(". ").next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_read_from_the_last_line() {
        let said = "Load\nSaved a.b.stall (0.4 MB), own cost 0.9 % of a CPU. Next: explain\n";
        assert_eq!(own_cost(said), "0.9 % of a CPU");
        assert_eq!(own_cost("nothing"), "");
    }
}
