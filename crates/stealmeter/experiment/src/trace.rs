//! `perf record` of what the scheduler does, while the loops run.
//!
//! Of the whole machine, since a thread is woken and given a CPU by others; only switches on the
//! loops' CPUs and wakeups of their threads are kept. On the clock of the meters, so that the windows
//! are the same.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::Timespec;

use crate::script::{self, Event};

/// What installs perf on Debian and Ubuntu.
pub(crate) const INSTALL: &str =
    "apt-get install linux-perf (Ubuntu: linux-tools-generic), and run this as root";
/// If this program is killed, perf goes on no longer than that.
const LONGEST_S: &str = "300";
/// perf answers at once; a machine under load takes its time.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `perf record`.
pub(crate) struct Trace {
    perf: Child,
    data: PathBuf,
    said: PathBuf,
}

impl Trace {
    /// Records from now on, with its files in a folder that holds no other trace.
    pub(crate) fn start(threads: &[i32], cpus: &[usize], folder: &Path) -> Result<Self> {
        let in_folder = |name: &str| folder.join(name);
        let (data, said) = (in_folder("perf.data"), in_folder("perf.said"));
        let (control, answer) = (in_folder("control"), in_folder("answer"));
        for fifo in [&control, &answer] {
            // Left by the trace before.
            let _ = std::fs::remove_file(fifo);
            mkfifoat(CWD, fifo.as_path(), Mode::RWXU)?;
        }
        let any = |field: &str, values: Vec<String>| {
            let terms = values.iter().map(|value| format!("{field}=={value}"));
            terms.collect::<Vec<_>>().join("||")
        };
        let on_cpus = any("CPU", cpus.iter().map(ToString::to_string).collect());
        let of_threads = any("pid", threads.iter().map(ToString::to_string).collect());
        let mut command = Command::new("perf");
        command
            .args(["record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", "4M"])
            .args(["-e", "sched:sched_switch", "--filter", &on_cpus])
            .args(["-e", "sched:sched_wakeup", "--filter", &of_threads])
            .args(["-D", "-1", "-o"])
            .arg(&data)
            .arg(format!(
                "--control=fifo:{},{}",
                control.display(),
                answer.display()
            ))
            .args(["--", "sleep", LONGEST_S]);
        let perf = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&said)?)
            .spawn()
            .with_context(|| format!("cannot start perf: {INSTALL}"))?;
        let mut trace = Self { perf, data, said };
        trace.enable(&control, &answer)?;
        Ok(trace)
    }

    /// Lets it begin, and waits until it has.
    fn enable(&mut self, control: &Path, answer: &Path) -> Result<()> {
        // Open for both, so that opening does not wait for a perf that is not there any more.
        let both = |path| File::options().read(true).write(true).open(path);
        let (mut control, mut answer) = (both(control)?, both(answer)?);
        // Kept open: what is written would be gone with the last one who has it open.
        control.write_all(b"enable\n")?;
        let began = Instant::now();
        let step = Timespec::try_from(Duration::from_millis(50))?;
        loop {
            let mut fds = [PollFd::new(&answer, PollFlags::IN)];
            if poll(&mut fds, Some(&step))? > 0 {
                // "ack\n", of which perf also sends the 0 at the end.
                answer.read_exact(&mut [0; 4])?;
                return Ok(());
            }
            if self.perf.try_wait()?.is_some() || began.elapsed() > PATIENCE {
                let said = std::fs::read_to_string(&self.said).unwrap_or_default();
                bail!("perf does not record: {}: {INSTALL}", said.trim());
            }
        }
    }

    /// Ends it and hands out what it saw, in order of time.
    pub(crate) fn end(mut self, mut see: impl FnMut(&Event)) -> Result<()> {
        kill_process(Pid::from_child(&self.perf), Signal::INT)?;
        self.perf.wait()?;
        let mut script = Command::new("perf")
            .args(["script", "--ns", "--show-lost-events"])
            .args(["-F", "cpu,time,event,trace", "-i"])
            .arg(&self.data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&self.said)?)
            .spawn()?;
        let lines = BufReader::new(script.stdout.take().context("its output is a pipe")?);
        for line in lines.split(b'\n') {
            let line = line?;
            if let Some(event) = script::parse(&String::from_utf8_lossy(&line))? {
                see(&event);
            }
        }
        if !script.wait()?.success() {
            let said = std::fs::read_to_string(&self.said).unwrap_or_default();
            bail!("perf script ended early: {}", said.trim());
        }
        Ok(())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // It has ended unless something went wrong.
        let _ = self.perf.kill();
        let _ = self.perf.wait();
    }
}
