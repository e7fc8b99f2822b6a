//! A program that records, watched from outside: its CPU time by the scheduler's own count of each of
//! its threads, its memory by the kernel's mark of the highest.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::held::beside;

/// A recorder that runs until it is dropped.
pub(crate) struct Recorder {
    child: Child,
}

impl Recorder {
    /// `stallscope record` of these targets, into a new folder.
    pub(crate) fn stallscope(targets: &[String], folder: &Path) -> Result<Self> {
        let mut command = Command::new(beside("stallscope")?);
        command.args(["record", "-q", "-o"]).arg(folder);
        for target in targets {
            command.args(["--target", target]);
        }
        Self::start(&mut command)
    }

    /// Any command that records until it is interrupted.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn();
        let child =
            child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self { child })
    }

    /// Share of one CPU that it takes over so long.
    pub(crate) fn share(&self, over: Duration) -> Result<f64> {
        let before = self.cpu_ns()?;
        std::thread::sleep(over);
        Ok((self.cpu_ns()? - before) as f64 / over.as_nanos() as f64)
    }

    /// Ends it as Ctrl-C does and waits; the most memory that it ever had resident, bytes.
    pub(crate) fn end(mut self) -> Result<u64> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)
            .context("it runs until it is interrupted")?;
        let mut most = 0;
        while self.child.try_wait()?.is_none() {
            most = most.max(self.peak_bytes());
            std::thread::sleep(Duration::from_millis(2));
        }
        if most == 0 {
            bail!("it ended before it was looked at");
        }
        Ok(most)
    }

    /// The most memory that it had resident so far, bytes; 0 once it has ended.
    pub(crate) fn peak_bytes(&self) -> u64 {
        // Gone between two looks.
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let text = text.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    }

    fn cpu_ns(&self) -> Result<i64> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let mut sum = 0;
        for task in std::fs::read_dir(&tasks).context("it has ended")? {
            let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            let run = text
                .split(' ')
                .next()
                .and_then(|run| run.parse::<i64>().ok());
            sum += run.unwrap_or(0);
        }
        Ok(sum)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
