//! The recorder beside the experiment, and how the target does by what it has written so far.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use analysis::proof::{self, BlockSignal};
use anyhow::{Context, Result, bail};
use model::{Meta, Timeline, Window};
use recording::{FolderHandle, Reader, Recording};
use rustix::process::{Pid, Signal, kill_process};

use crate::turns::{Interruption, OWN};

/// Longer than any experiment.
const LONGEST: &str = "24h";
/// Without a request for so long the target is not under load.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the recording is looked at.
const POLL: Duration = Duration::from_millis(100);
/// Between two readings of the recording: it is read whole.
const READ_EVERY: Duration = Duration::from_secs(1);
/// How long the end of the recording may take.
const CLOSING: Duration = Duration::from_secs(60);
/// Of what the recorder says so much is shown, bytes.
const MOST_SAID: u64 = 4096;

/// A recording that is made meanwhile.
pub(super) struct Load<'a> {
    recorder: Child,
    /// What it says.
    said: File,
    path: PathBuf,
    folder: FolderHandle,
    interruption: &'a Interruption,
}

/// A recording that has ended.
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) folder: FolderHandle,
    pub(super) timeline: Timeline,
    pub(super) meta: Meta,
}

impl<'a> Load<'a> {
    /// Begins to record.
    ///
    /// # Errors
    /// The recorder's own sentence: the target is not there, say.
    pub(super) fn record(
        targets: &[String],
        output: Option<&Path>,
        interruption: &'a Interruption,
    ) -> Result<Self> {
        let path = output.map_or_else(
            || recording::next_name(Path::new("."), "prove"),
            Path::to_owned,
        );
        let mut said = tempfile::tempfile().context("cannot make a temporary file")?;
        let mut command = Command::new(OWN);
        command
            .arg("record")
            .args(["--quiet", "--no-report", "--for", LONGEST, "-o"]);
        command.arg(&path);
        targets.iter().for_each(|it| {
            command.args(["--target", it]);
        });
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(said.try_clone().context("cannot duplicate a file")?);
        kernel::signal_at_parents_end(&mut command, Signal::TERM);
        let mut recorder = command.spawn().context("cannot start the recorder")?;
        let until = Instant::now() + PATIENCE;
        let folder = loop {
            if let Some(status) = recorder.try_wait()? {
                bail!(
                    "{}",
                    what_it_said(&mut said, &format!("the recorder ended ({status})"))
                );
            }
            if let Ok(folder) = Reader::folder(&path)
                && Reader::open_end(&folder).is_ok()
            {
                break folder;
            }
            if Instant::now() > until {
                let _ = recorder.kill();
                bail!("{}", what_it_said(&mut said, "the recorder did not begin"));
            }
            sleep(POLL);
        };
        Ok(Self {
            recorder,
            said,
            path,
            folder,
            interruption,
        })
    }

    /// The recorder's process.
    pub(super) fn recorder(&self) -> u32 {
        self.recorder.id()
    }

    /// The recording so far, prepared.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(&self) -> Result<Recording> {
        let mut recording = Reader::open_end(&self.folder)
            .with_context(|| format!("cannot read {}", self.path.display()))?;
        analysis::prepare(&mut recording.timeline);
        Ok(recording)
    }

    /// Waits until throughput is known for so long; that time, without its first second. `None` where it is interrupted.
    ///
    /// # Errors
    /// Nothing is known of it.
    pub(super) fn wait_for_signal(&mut self, long: Duration) -> Result<Option<Window>> {
        let mut until = Instant::now() + PATIENCE;
        let mut since = None;
        loop {
            if self.interruption.signal().is_some() {
                return Ok(None);
            }
            self.lives()?;
            let recording = self.read()?;
            let known = proof::known_until(&recording.timeline, &recording.meta);
            if let Some(end) = known {
                let start = *since.get_or_insert_with(|| {
                    until = Instant::now() + PATIENCE + long;
                    end
                });
                let window = Window::new(start, end);
                if window.len_ns() as u128 >= long.as_nanos() {
                    let signal = proof::signals(&recording.timeline, &recording.meta, &[window]);
                    match signal.first().copied().flatten() {
                        Some(it) if it.throughput > 0.0 => return Ok(Some(window)),
                        _ => bail!("the target answered no request: it must be under load"),
                    }
                }
            }
            if Instant::now() > until {
                bail!(
                    "nothing is known of the target's throughput: no request was seen in {} s. It must be under load, and its requests are seen by root on Linux 6.10 or later: stallscope doctor",
                    PATIENCE.as_secs()
                );
            }
            sleep(READ_EVERY);
        }
    }

    /// How the target did in each of these windows, which follow one another, once all that is on disk; nothing where it is
    /// interrupted.
    ///
    /// # Errors
    /// The recording cannot be read, or ended.
    pub(super) fn signals(&mut self, windows: &[Window]) -> Result<Vec<Option<BlockSignal>>> {
        let Some(last) = windows.last() else {
            return Ok(Vec::new());
        };
        let until = Instant::now() + PATIENCE;
        loop {
            if self.interruption.signal().is_some() {
                return Ok(Vec::new());
            }
            self.lives()?;
            let recording = self.read()?;
            let known = proof::known_until(&recording.timeline, &recording.meta);
            if known.is_some_and(|it| it >= last.end) || Instant::now() > until {
                return Ok(proof::signals(
                    &recording.timeline,
                    &recording.meta,
                    windows,
                ));
            }
            sleep(READ_EVERY / 4);
        }
    }

    /// How the target did in this time up to now, as far as that is on disk.
    pub(super) fn lately(&self, long: Duration) -> Option<BlockSignal> {
        let recording = self.read().ok()?;
        let end = proof::known_until(&recording.timeline, &recording.meta)?;
        let window = Window::new(end - crate::duration::nanoseconds(long), end);
        let signals = proof::signals(&recording.timeline, &recording.meta, &[window]);
        signals.first().copied().flatten()
    }

    /// # Errors
    /// The recorder has ended.
    pub(super) fn lives(&mut self) -> Result<()> {
        match self.recorder.try_wait()? {
            // A terminal interrupts both.
            Some(_) if self.interruption.signal().is_some() => Ok(()),
            Some(status) => {
                let otherwise = format!("the recorder ended ({status})");
                bail!("{}", what_it_said(&mut self.said, &otherwise))
            }
            None => Ok(()),
        }
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// It cannot be read back.
    pub(super) fn end(mut self) -> Result<Ended> {
        self.stop();
        let mut recording = Reader::open_in(&self.folder)
            .with_context(|| format!("cannot read {}", self.path.display()))?;
        analysis::prepare(&mut recording.timeline);
        let folder = FolderHandle::open(&self.path)
            .with_context(|| format!("cannot open {}", self.path.display()))?;
        Ok(Ended {
            name: self.path.display().to_string(),
            folder,
            timeline: recording.timeline,
            meta: recording.meta,
        })
    }

    fn stop(&mut self) {
        let pid = i32::try_from(self.recorder.id())
            .ok()
            .and_then(Pid::from_raw);
        if matches!(self.recorder.try_wait(), Ok(None)) {
            // It may end just now.
            let _ = pid.map(|it| kill_process(it, Signal::INT));
        }
        let until = Instant::now() + CLOSING;
        while matches!(self.recorder.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.recorder.kill();
            }
            sleep(POLL);
        }
    }
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The last that the recorder said, without its own name; else what is known besides.
fn what_it_said(said: &mut File, otherwise: &str) -> String {
    let mut text = Vec::new();
    let read = said.rewind().and_then(|()| {
        let mut said = said.take(MOST_SAID);
        said.read_to_end(&mut text)
    });
    let text = String::from_utf8_lossy(&text);
    let text = text.trim().trim_start_matches("stallscope: ");
    match read.is_ok() && !text.is_empty() {
        true => text.to_owned(),
        false => otherwise.to_owned(),
    }
}
