//! The program under test while it runs, as a user would start it: its streams are files of the
//! round's folder, its temporary folder is empty, and it ends with the round.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use signal_hook::consts::SIGKILL;

use super::Round;
use super::own_time::{self, HANGS, OwnTime};
use crate::{interrupt, processes};

/// In the environment of a recorder and of all that it starts: the folder of its round.
const MARK: &str = "STALLSCOPE_LAB_ROUND";
/// How often a running recorder is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// A running recorder.
pub(super) struct Recorder {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    peak_bytes: u64,
}

/// One that has ended.
pub(super) struct Ended {
    /// How.
    pub(super) status: ExitStatus,
    /// What it wrote.
    pub(super) stdout: Vec<u8>,
    /// What it wrote to the user.
    pub(super) stderr: Vec<u8>,
    /// The most memory that it had at a time (VmHWM).
    pub(super) peak_bytes: u64,
}

/// The program under test in a round's folder, not yet started.
pub(super) fn command(round: &Round<'_>) -> Result<Command> {
    wrapped(round, &[])
}

/// The same behind another program's words: `taskset -c 0`.
pub(super) fn wrapped(round: &Round<'_>, words: &[&str]) -> Result<Command> {
    let mut command = match words.split_first() {
        None => Command::new(round.program),
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(round.program);
            command
        }
    };
    let temporary = round.folder.join("tmp");
    fs::create_dir_all(&temporary).context("cannot make a temporary folder")?;
    command
        .current_dir(round.folder)
        .env("TMPDIR", temporary)
        .env(MARK, round.folder)
        .stdin(Stdio::null());
    Ok(command)
}

/// Runs the program with these words to its end.
pub(super) fn run<S: AsRef<OsStr>>(round: &Round<'_>, words: &[S]) -> Result<Ended> {
    let mut command = command(round)?;
    command.args(words);
    Recorder::start(round, command)?.end()
}

impl Recorder {
    /// Starts it; what it prints goes to new files of the round's folder.
    pub(super) fn start(round: &Round<'_>, mut command: Command) -> Result<Self> {
        let free = |number: &u32| !round.folder.join(format!("{number}.out")).exists();
        let number = (1..).find(free).context("there is a free number")?;
        let [out, err] = ["out", "err"].map(|end| round.folder.join(format!("{number}.{end}")));
        command
            .stdout(File::create(&out).context("cannot make a file")?)
            .stderr(File::create(&err).context("cannot make a file")?);
        Self::start_with_streams(command, out, err)
    }

    /// Starts it with streams that the command already has; their files, where they are files.
    pub(super) fn start_with_streams(
        mut command: Command,
        out: PathBuf,
        err: PathBuf,
    ) -> Result<Self> {
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self {
            child,
            out,
            err,
            peak_bytes: 0,
        })
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, number: i32) {
        interrupt::signal(self.pid(), number);
    }

    /// Until its first rows are in this recording: programs are loaded into the kernel before, which takes
    /// most of a second of CPU time.
    pub(super) fn records(&mut self, recording: &Path) -> Result<()> {
        self.until("nothing was recorded", || {
            recording.join("cpu.arrow").exists()
        })
    }

    /// Until something has come about; an error when it hangs instead, or ends.
    pub(super) fn until(&mut self, otherwise: &str, is: impl Fn() -> bool) -> Result<()> {
        let mut time = OwnTime::of(self.pid());
        while !is() {
            if time.had() > HANGS {
                bail!(
                    "{otherwise}, and nothing kept it for {} s; it said: {}",
                    HANGS.as_secs(),
                    String::from_utf8_lossy(&self.said())
                );
            }
            self.stays(LOOK)?;
        }
        Ok(())
    }

    /// Until it has said this to the user.
    pub(super) fn until_said(&mut self, words: &str) -> Result<()> {
        let err = self.err.clone();
        self.until(&format!("it did not say {words:?}"), || {
            let said = fs::read(&err).unwrap_or_default();
            String::from_utf8_lossy(&said).contains(words)
        })
    }

    /// Lets it have so much time of its own: on a machine that keeps it waiting that takes longer.
    pub(super) fn has(&mut self, length: Duration) -> Result<()> {
        let mut time = OwnTime::of(self.pid());
        while time.had() < length {
            self.stays(LOOK)?;
        }
        Ok(())
    }

    /// Lets time pass; an error when it ends before that.
    pub(super) fn stays(&mut self, length: Duration) -> Result<()> {
        let since = Instant::now();
        while since.elapsed() < length {
            if let Some(status) = self.look()? {
                let said = String::from_utf8_lossy(&self.said()).into_owned();
                bail!("it ended early, {status}: {said}");
            }
            std::thread::sleep(LOOK.min(length.saturating_sub(since.elapsed())));
        }
        Ok(())
    }

    /// Waits until a signal has stopped it.
    pub(super) fn stands_still(&mut self) -> Result<()> {
        let pid = self.pid();
        self.until("it does not stop", || own_time::is_stopped(pid))
    }

    /// What it has said up to now.
    pub(super) fn said(&self) -> Vec<u8> {
        fs::read(&self.err).unwrap_or_default()
    }

    /// Its end; an error when it hangs.
    pub(super) fn end(mut self) -> Result<Ended> {
        let mut time = OwnTime::of(self.pid());
        // What takes milliseconds is not waited for tenths of a second.
        let mut pause = Duration::from_millis(1);
        let status = loop {
            if let Some(status) = self.look()? {
                break status;
            }
            if time.had() > HANGS {
                bail!(
                    "it does not end, and nothing kept it for {} s; it said: {}",
                    HANGS.as_secs(),
                    String::from_utf8_lossy(&self.said())
                );
            }
            std::thread::sleep(pause);
            pause = LOOK.min(2 * pause);
        };
        let ended = Ended {
            status,
            stdout: fs::read(&self.out).unwrap_or_default(),
            stderr: self.said(),
            peak_bytes: self.peak_bytes,
        };
        if ended.text().contains("panicked") {
            bail!("it panicked: {}", ended.text());
        }
        Ok(ended)
    }

    fn look(&mut self) -> Result<Option<ExitStatus>> {
        interrupt::check()?;
        self.peak_bytes = self.peak_bytes.max(peak(self.pid()).unwrap_or(0));
        let ended = self.child.try_wait();
        ended.context("cannot wait for the program")
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl Ended {
    /// What it said to the user.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// An error unless it ended with this status.
    pub(super) fn expect(&self, status: i32) -> Result<&Self> {
        if self.status.code() != Some(status) {
            bail!("{}, not {status}: {}", self.status, self.text());
        }
        Ok(self)
    }

    /// An error unless it said this.
    pub(super) fn says(&self, words: &str) -> Result<&Self> {
        if !self.text().contains(words) {
            bail!("it did not say {words:?}: {}", self.text());
        }
        Ok(self)
    }

    /// An error if it had more memory than this.
    pub(super) fn within(&self, bytes: u64) -> Result<&Self> {
        if self.peak_bytes > bytes {
            bail!(
                "it had {} MB of memory, over {} MB",
                self.peak_bytes >> 20,
                bytes >> 20
            );
        }
        Ok(self)
    }
}

/// VmHWM of a living process.
fn peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Processes that a recorder of this round started, or that are one.
pub(super) fn offspring(folder: &Path) -> Vec<u32> {
    let mark = format!("{MARK}={}", folder.display());
    let marked = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        words
            .split(|byte| *byte == 0)
            .any(|word| word == mark.as_bytes())
    };
    processes::pids().filter(marked).collect()
}

/// Kills what a round left running.
pub(super) fn end_offspring(folder: &Path) {
    for pid in offspring(folder) {
        interrupt::signal(pid, SIGKILL);
    }
}
