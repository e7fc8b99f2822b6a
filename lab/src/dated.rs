//! Results that are kept in a file of the repository.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Appends a result with the date and the command that gave it.
pub fn append(path: &Path, text: &str) -> Result<()> {
    let date = Command::new("date").args(["-u", "+%F, %H:%M UTC"]).output();
    let date = String::from_utf8_lossy(&date.context("cannot run date")?.stdout)
        .trim()
        .to_owned();
    let words = std::env::args().skip(1);
    let command = std::iter::once("stallscope-lab".to_owned()).chain(words);
    let command = command.collect::<Vec<_>>().join(" ");
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let opened = OpenOptions::new().create(true).append(true).open(path);
    let mut file = opened.with_context(|| format!("cannot write {}", path.display()))?;
    write!(
        file,
        "\n## {date}, {cpus} CPUs\n\n    {command}\n\n{text}\n"
    )
    .with_context(|| format!("cannot write {}", path.display()))
}
