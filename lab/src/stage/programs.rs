//! Processes beside the load: servers of our own, hogs, relays. Each runs in the stage's folder, by
//! which `leftovers` finds what a killed run left, and ends with the stage.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Stage;
use crate::interrupt;
use crate::postgres::Postgres;

/// Owns nothing on any machine.
const NOBODY: u32 = 65_534;

/// A process that ends when dropped.
pub struct Beside {
    child: Child,
    /// Kept open: a process that prints more must not die of it.
    _output: Option<BufReader<ChildStdout>>,
}

impl Beside {
    /// Starts it; where it works and what it prints are the caller's to say.
    pub(super) fn start(command: &mut Command, output: Stdio) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            // A Ctrl-C at the terminal must not end it under a run that is being saved.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self {
            child,
            _output: None,
        })
    }

    /// The first line that it prints.
    fn line(&mut self) -> Result<String> {
        let output = self.child.stdout.take().context("its output is a pipe")?;
        let mut lines = BufReader::new(output);
        let mut line = String::new();
        let read = lines
            .read_line(&mut line)
            .context("cannot read what it prints")?;
        if read == 0 {
            bail!("it ended at once");
        }
        self._output = Some(lines);
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
        let beside = Beside::start(&mut command, Stdio::null())?;
        let pid = beside.child.id();
        self.beside.push(beside);
        Ok(pid)
    }

    /// Starts one that says in its first line what is to be known of it; pid and line.
    pub fn beside_that_speaks(&mut self, mut command: Command) -> Result<(u32, String)> {
        command.current_dir(self.folder());
        let mut beside = Beside::start(&mut command, Stdio::piped())?;
        let line = beside
            .line()
            .with_context(|| format!("{} said nothing", command.get_program().display()))?;
        let pid = beside.child.id();
        self.beside.push(beside);
        Ok((pid, line))
    }

    /// The process of the server: the PostgreSQL that runs, else what was started first.
    pub fn server(&self) -> Result<u32> {
        let postgres = self.postgres.as_ref().and_then(Postgres::running);
        let first = || self.beside.first().map(|it| it.child.id());
        postgres
            .or_else(first)
            .context("the situation has started no server")
    }

    /// A command for a server that must not run as root, as nobody when we are root.
    pub fn unprivileged(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// A folder for such a server.
    pub fn unprivileged_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder().join(name);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        self.give_away(&folder)?;
        Ok(folder)
    }

    /// Lets such a server own a file or folder, of a disk of the stage's for example.
    pub fn give_away(&self, path: &Path) -> Result<()> {
        let owner = rustix::process::geteuid().is_root().then_some(NOBODY);
        chown(path, owner, owner).with_context(|| format!("cannot give {} away", path.display()))
    }

    /// Runs a command to its end; an error holds what it printed.
    pub fn step(&self, mut command: Command) -> Result<()> {
        self.step_with(&mut command)
    }

    /// The same for a borrowed command.
    pub fn step_with(&self, command: &mut Command) -> Result<()> {
        let name = command.get_program().display().to_string();
        let output = command
            .current_dir(self.folder())
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {name}"))?;
        if !output.status.success() {
            let printed = [output.stdout, output.stderr].concat();
            bail!("{name}: {}", String::from_utf8_lossy(&printed).trim());
        }
        interrupt::check()
    }

    /// One of this program's own hidden commands: `serve`, `burn`, ... It runs under a name of its
    /// own: a server whose parent runs the same program is taken for a part of its parent.
    pub fn own(&self, words: &[&str]) -> Result<Command> {
        let first = words.first().context("a hidden command has a name")?;
        self.own_as(&format!("lab-{first}"), words)
    }

    /// The same as a program of another name.
    pub fn own_as(&self, name: &str, words: &[&str]) -> Result<Command> {
        let own = std::env::current_exe().context("cannot tell where this program is")?;
        let name = self.folder().join(name);
        if !name.exists() && std::fs::hard_link(&own, &name).is_err() {
            // Another file system.
            std::fs::copy(&own, &name)
                .with_context(|| format!("cannot write {}", name.display()))?;
        }
        let mut command = Command::new(name);
        command.args(words);
        Ok(command)
    }
}
