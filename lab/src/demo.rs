//! `demo`: the promise of Stallscope in one command, on a machine without a database of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result};
use clap::Args;
use std::os::unix::process::ExitStatusExt;

use crate::postgres::{DATABASE, Postgres};
use crate::{binary, interrupt};

/// Arguments of `demo`.
#[derive(Args)]
pub struct DemoArguments {
    /// The program to show [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
}

/// Runs the demonstration; the status is that of `stallscope run`.
pub fn demo(arguments: &DemoArguments) -> Result<u8> {
    let stallscope = binary::find(arguments.stallscope.as_deref())?;
    let recording = next_recording(Path::new("."));
    let load = load("30");
    eprintln!("Starting a throwaway PostgreSQL in a temporary folder; it is removed at the end.");
    let mut server = Postgres::make()?;
    server.start(&[])?;
    eprintln!(
        "Its database {DATABASE} is filled (pgbench -i -s 10), PGHOST and PGPORT lead to it."
    );
    eprintln!("$ stallscope run -o {recording} -- {}", load.join(" "));
    let mut command = Command::new(&stallscope);
    command.args(["run", "-o", &recording, "--"]).args(load);
    server.serve_command(&mut command);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", stallscope.display()))?;
    let status = interrupt::wait(&mut child)?;
    Ok(as_a_shell_says(status))
}

/// The load that the demonstration and the independent check share.
pub fn load(seconds: &str) -> [&str; 9] {
    [
        "pgbench", "-c", "10", "-j", "2", "-S", "-T", seconds, DATABASE,
    ]
}

/// The code, or 128 + the signal.
pub fn as_a_shell_says(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| Some(128 + status.signal()?));
    number
        .and_then(|number| u8::try_from(number).ok())
        .unwrap_or(u8::MAX)
}

/// The first of demo-1.stall, demo-2.stall, ... that does not exist: a recording is never replaced.
fn next_recording(folder: &Path) -> String {
    let mut number = 1;
    loop {
        let name = format!("demo-{number}.stall");
        if !folder.join(&name).exists() {
            return name;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_never_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(next_recording(folder.path()), "demo-1.stall");
        std::fs::create_dir(folder.path().join("demo-1.stall")).expect("a folder");
        assert_eq!(next_recording(folder.path()), "demo-2.stall");
    }

    #[test]
    fn a_signal_is_a_status_above_128() {
        assert_eq!(as_a_shell_says(ExitStatus::from_raw(2)), 130);
        assert_eq!(as_a_shell_says(ExitStatus::from_raw(125 << 8)), 125);
    }
}
