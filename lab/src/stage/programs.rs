//! Processes beside the load: servers of our own, hogs, relays. Each runs in the stage's folder, by
//! which `leftovers` finds what a killed run left, and ends with the stage.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Stage;
use crate::interrupt;

/// A process that ends when dropped.
pub struct Beside {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Beside {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // A Ctrl-C at the terminal must not end it under a run that is being saved.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let output = child.stdout.take().context("its output is a pipe")?;
        Ok(Self {
            child,
            lines: BufReader::new(output),
        })
    }

    /// The next line that it prints.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self
            .lines
            .read_line(&mut line)
            .context("cannot read what it prints")?;
        if read == 0 {
            bail!("a process beside the load ended at once");
        }
        Ok(line.trim().to_owned())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Asked first: some are databases, and free their shared memory.
        interrupt::signal(self.child.id(), signal_hook::consts::SIGTERM);
        if !interrupt::ends_within(&mut self.child, Duration::from_secs(3)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Stage {
    /// Starts a process that stays until the stage is cleared; its pid.
    pub fn beside(&mut self, mut command: Command) -> Result<u32> {
        command.current_dir(self.folder());
        let beside = Beside::start(&mut command)?;
        let pid = beside.child.id();
        self.beside.push(beside);
        Ok(pid)
    }

    /// Starts one that says in its first line what is to be known of it; pid and line.
    pub fn beside_that_speaks(&mut self, mut command: Command) -> Result<(u32, String)> {
        command.current_dir(self.folder());
        let mut beside = Beside::start(&mut command)?;
        let line = beside
            .line()
            .with_context(|| format!("{} said nothing", command.get_program().display()))?;
        let pid = beside.child.id();
        self.beside.push(beside);
        Ok((pid, line))
    }

    /// One of this program's own hidden commands: `serve`, `burn`, ...
    pub fn own(&self, words: &[&str]) -> Result<Command> {
        let own = std::env::current_exe().context("cannot tell where this program is")?;
        let mut command = Command::new(own);
        command.args(words);
        Ok(command)
    }
}
