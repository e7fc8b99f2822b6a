//! What figures are measured on: made and taken away by `stallscope-lab hold`, which lets go when
//! its standard input ends, also by this program being killed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// Something that is held until this is dropped.
pub(crate) struct Held {
    child: Child,
    input: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
}

impl Held {
    fn new(words: &[&str]) -> Result<Self> {
        let mut child = Command::new(beside("stallscope-lab")?)
            .arg("hold")
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start stallscope-lab")?;
        let said = child.stdout.take().context("its output is a pipe")?;
        Ok(Self {
            input: child.stdin.take(),
            child,
            said: BufReader::new(said),
        })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        if line.is_empty() {
            bail!("stallscope-lab could not hold what the figure is measured on");
        }
        Ok(line.trim().to_owned())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Processes whose threads sleep and wake a little, in groups.
pub(crate) struct Crowd {
    pub(crate) pids: Vec<u32>,
    _held: Held,
}

impl Crowd {
    pub(crate) const PROCESSES: usize = 300;
    pub(crate) const TASKS: usize = 1_300;

    /// So many of its processes, as targets of a recorder.
    pub(crate) fn targets(&self, processes: usize) -> Vec<String> {
        let pids = &self.pids[..processes];
        pids.iter().map(|pid| format!("pid:{pid}")).collect()
    }

    /// The crowd of all figures, in so many groups.
    pub(crate) fn gather(groups: usize) -> Result<Self> {
        let (processes, tasks) = (Self::PROCESSES.to_string(), Self::TASKS.to_string());
        let groups = groups.to_string();
        let words = [
            ["crowd", "--groups"],
            [&groups, "--processes"],
            [&processes, "--tasks"],
        ];
        let mut held = Held::new(&[words.as_flattened(), &[&tasks]].concat())?;
        let line = held.line()?;
        let pids = line.split(' ').map(str::parse).collect::<Result<_, _>>();
        Ok(Self {
            pids: pids.context("stallscope-lab says the crowd's numbers")?,
            _held: held,
        })
    }
}

/// A PostgreSQL with pgbench's tables.
pub(crate) struct Postgres {
    variables: Vec<(String, String)>,
    _held: Held,
}

impl Postgres {
    pub(crate) fn start() -> Result<Self> {
        let mut held = Held::new(&["postgres"])?;
        let mut variables = Vec::new();
        loop {
            let line = held.line()?;
            let Some((name, value)) = line.split_once('=') else {
                break;
            };
            variables.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self {
            variables,
            _held: held,
        })
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> Option<&str> {
        let port = self.variables.iter().find(|(name, _)| name == "PGPORT");
        port.map(|(_, value)| value.as_str())
    }

    /// Makes a command a client of it.
    pub(crate) fn serve(&self, command: &mut Command) {
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
    }
}

/// A program that was built beside this one.
pub(crate) fn beside(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    let path = own.with_file_name(name);
    if !path.is_file() {
        bail!("{} is not there: scripts/build.sh", path.display());
    }
    Ok(path)
}
