//! A program beside the lab whose words go into a file, and which ends when it is no longer held.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// A process that ends when dropped. Loads are not asked first: a tool that sums up may take its time.
pub struct Running(pub Child);

impl Running {
    /// What it prints goes into a file.
    pub fn start(mut command: Command, log: &Path) -> Result<Self> {
        prints_into(&mut command, log)?;
        let child = command.spawn();
        let name = OsStr::display(command.get_program()).to_string();
        Ok(Self(child.with_context(|| format!("cannot start {name}"))?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lets a command read nothing, and print into a file.
pub fn prints_into(command: &mut Command, log: &Path) -> Result<()> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let copy = file.try_clone().context("cannot duplicate a log file")?;
    command.stdin(Stdio::null()).stdout(file).stderr(copy);
    Ok(())
}
