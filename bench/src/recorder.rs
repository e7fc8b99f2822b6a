//! A program that records, watched from outside: its CPU time by the scheduler's own count of each of
//! its threads, its memory by the kernel's mark of the highest.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::held::beside;

/// A recorder that records nothing for so long has failed.
const LONGEST_START: Duration = Duration::from_secs(30);

/// A recorder that runs until it is dropped.
pub(crate) struct Recorder {
    child: Child,
}

impl Recorder {
    /// `stallscope record` of these targets, into a new folder.
    pub(crate) fn stallscope(targets: &[String], folder: &Path, options: &[&str]) -> Result<Self> {
        let mut command = Command::new(beside("stallscope")?);
        command.args(["record", "-q", "-o"]).arg(folder);
        command.args(options);
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
        kernel::signal_at_parents_end(command, Signal::TERM);
        let child = command.spawn();
        let child =
            child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self { child })
    }

    /// Waits until the recording in its folder has begun.
    pub(crate) fn wait_for(&self, folder: &Path) -> Result<()> {
        let since = Instant::now();
        while !folder.join("cpu.arrow").exists() {
            ensure!(since.elapsed() < LONGEST_START, "nothing was recorded");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Share of one CPU that it takes over so long.
    pub(crate) fn share(&self, over: Duration) -> Result<f64> {
        let before = self.cpu_ns()?;
        std::thread::sleep(over);
        Ok((self.cpu_ns()? - before) as f64 / over.as_nanos() as f64)
    }

    /// Takes its CPUs from it.
    pub(crate) fn stop(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        while !self.is_stopped()? {
            std::thread::sleep(Duration::from_micros(100));
        }
        Ok(())
    }

    /// And gives them back.
    pub(crate) fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// How many programs of its are at hooks in the kernel.
    pub(crate) fn links(&self) -> Result<usize> {
        let files = format!("/proc/{}/fd", self.child.id());
        let files = std::fs::read_dir(&files).context("it has ended")?;
        // A file may be closed meanwhile.
        let what = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        Ok(what
            .filter(|it| it.as_os_str() == "anon_inode:bpf_link")
            .count())
    }

    fn is_stopped(&self) -> Result<bool> {
        let tasks = format!("/proc/{}/task", self.child.id());
        for task in std::fs::read_dir(&tasks).context("it has ended")? {
            let stat = std::fs::read_to_string(task?.path().join("stat")).unwrap_or_default();
            if !stat
                .rsplit(") ")
                .next()
                .is_some_and(|it| it.starts_with('T'))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).context("it runs until it is interrupted")
    }

    /// Ends it as Ctrl-C does and waits; the most memory that it ever had resident, bytes.
    pub(crate) fn end(mut self) -> Result<u64> {
        self.signal(Signal::INT)?;
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

    /// CPU time of its threads so far, ns.
    pub(crate) fn cpu_ns(&self) -> Result<i64> {
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
