//! The side of a node: `stallscope node`, which `run --on` starts over ssh. It records the whole machine while the other
//! side asks for it, and keeps the recording until that has been fetched.
//!
//! Whoever can say something here may log in as this user: a request is trusted as he is, and still reads and removes
//! nothing but recordings that were made here. When the other side is gone, the recording ends by itself.

use std::fs::Permissions;
use std::io::{BufWriter, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kernel::{Clocks, Interrupts};
use recorder::{Observer, Options, Plan, Progress, Subject, Taken};
use recording::{FolderHandle, Reader, bundle};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use workloads::Stream;

use super::protocol::{
    ALIVE, BEGINNING, CLOCK, CLOSING, FAILED, FrameWriter, KEEP, KEPT, READY, RECORD, RECORDING,
    REMOVE, REMOVED, SEND, SENDING, SILENCE, STOP, STOPPED,
};
use crate::export::save_again;
use crate::outputs;
use crate::stack_rate::StackRate;

/// How folders begin in which recordings wait to be fetched.
const PREFIX: &str = "stallscope-run-";
/// The recording in one.
const NAME: &str = "node.stall";
/// Written again from the journal, where the recorder did not end well.
const SAVED_AGAIN: &str = "whole.stall";
/// Where files stay that a restart of the machine must not take away.
const LASTING: &str = "/var/tmp";
/// How long a recording that was lost track of is given to end.
const STILL_CLOSING: Duration = Duration::from_secs(5);
/// The longest request.
const LONGEST_LINE: usize = 4 << 10;
/// How often a recorder's beginning is looked for.
const POLL: Duration = Duration::from_millis(50);

/// Answers requests until the other side is gone.
pub(crate) fn node() -> Result<u8> {
    // What ends the connection ends this by the end of its input, and not before everything is written.
    let _ = rustix::process::setsid();
    let _interrupts = Interrupts::watch(|_| {})?;
    let mut requests = Requests::default();
    let served = requests.serve();
    requests.end();
    served.map(|()| 0)
}

#[derive(Default)]
struct Requests {
    recording: Option<OwnRecording>,
    /// Requests that arrived and are in no line yet.
    unread: Vec<u8>,
}

/// A recording that is made here.
struct OwnRecording {
    path: PathBuf,
    ended: Receiver<Result<()>>,
    /// How it ended, once it has: a sentence where it failed.
    end: Option<Result<(), String>>,
    outlives_connection: bool,
}

impl Requests {
    fn serve(&mut self) -> Result<()> {
        answer(READY)?;
        while let Some(request) = self.request()? {
            let (word, rest) = request.split_once(' ').unwrap_or((&request, ""));
            let answered = match word {
                SEND => self.send(Path::new(rest)),
                _ => self
                    .answered(word, Path::new(rest))
                    .and_then(|it| answer(&it)),
            };
            if let Err(error) = answered {
                let why = outputs::sentence(&error).replace(['\n', '\r'], " ");
                answer(&format!("{FAILED} {why}"))?;
            }
        }
        Ok(())
    }

    /// What is answered in a line.
    fn answered(&mut self, word: &str, path: &Path) -> Result<String> {
        match word {
            CLOCK => Ok(format!("{CLOCK} {}", Clocks::read().realtime_ns)),
            RECORD if self.recording.is_none() => {
                let path = self.record()?;
                Ok(format!("{RECORDING} {}", path.display()))
            }
            KEEP => {
                self.own()?.outlives_connection = true;
                Ok(KEPT.to_owned())
            }
            ALIVE => match self.own()?.has_ended() {
                None => Ok(ALIVE.to_owned()),
                Some(Ok(())) => bail!("the recorder was stopped there"),
                Some(Err(why)) => bail!("the recorder ended: {why}"),
            },
            STOP => {
                self.own()?.stop()?;
                Ok(STOPPED.to_owned())
            }
            REMOVE => {
                waiting(path)?.remove_all().context("cannot remove it")?;
                Ok(REMOVED.to_owned())
            }
            _ => bail!("there is no request `{word}`"),
        }
    }

    /// The next request; `None` when the other side is gone.
    fn request(&mut self) -> Result<Option<String>> {
        let silence = Timespec::try_from(SILENCE)?;
        let stdin = std::io::stdin();
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let line = String::from_utf8(line).context("a request is no text")?;
                return Ok(Some(line.trim_end_matches('\n').to_owned()));
            }
            if self.unread.len() > LONGEST_LINE {
                bail!("a request is longer than {LONGEST_LINE} bytes");
            }
            let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut polled, Some(&silence)) {
                Ok(0) => return Ok(None),
                Err(rustix::io::Errno::INTR) => continue,
                // Trouble with it shows when it is read.
                Ok(_) | Err(_) => {}
            }
            let mut piece = [0; 1 << 10];
            match stdin.lock().read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(read) => self.unread.extend_from_slice(&piece[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(None),
            }
        }
    }

    fn own(&mut self) -> Result<&mut OwnRecording> {
        self.recording.as_mut().context("nothing is recorded here")
    }

    /// Starts to record; returns once there are rows.
    fn record(&mut self) -> Result<PathBuf> {
        let folder = private_folder()?;
        let path = folder.join(NAME);
        let (tell, ended) = channel();
        let is_begun = Arc::new(AtomicBool::new(false));
        let begun = Arc::new(Begun(is_begun.clone()));
        let plan = Plan::new(options(&path)).inspect_err(|_| drop(std::fs::remove_dir(&folder)))?;
        // Of its own: recording gives rights up for good.
        thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || {
                let recorded = recorder::record(plan, begun).map_err(anyhow::Error::from);
                let closed = recorded.and_then(|it| Ok(it.closed.map(drop)?));
                // Nobody waits for it where this program ends.
                let _ = tell.send(closed);
            })?;
        let own = self.recording.insert(OwnRecording {
            path: path.clone(),
            ended,
            end: None,
            outlives_connection: false,
        });
        let until = Instant::now() + BEGINNING;
        while !(is_begun.load(Ordering::Relaxed) && has_rows(&path)) {
            if let Some(end) = own.has_ended() {
                let why = end.clone().err();
                bail!(
                    "{}",
                    why.unwrap_or("the recorder was stopped there".to_owned())
                );
            }
            if Instant::now() >= until {
                bail!("no row was recorded in {} s", BEGINNING.as_secs());
            }
            thread::sleep(POLL);
        }
        Ok(path)
    }

    /// Sends a recording as a bundle, with all that it holds.
    fn send(&mut self, path: &Path) -> Result<()> {
        let above = waiting(path)?;
        let folder = Reader::folder(path)?;
        let is_closed = is_closed(&folder);
        let whole = above.path_of(SAVED_AGAIN);
        let packed = match is_closed {
            true => path,
            // What is in its journal only would not be in the bundle.
            false => {
                if above.has(SAVED_AGAIN) {
                    above.open_folder(SAVED_AGAIN)?.remove_all()?;
                }
                let recording = Reader::open_in(&folder)?;
                save_again(&whole, &recording.timeline, &recording.meta)?;
                &whole
            }
        };
        let manifest = bundle::Manifest::of(packed, Vec::new())?;
        answer(SENDING)?;
        let mut frames = FrameWriter::new(BufWriter::new(std::io::stdout()));
        let sent = bundle::pack(packed, &manifest, &mut frames);
        // After `sending` no line may follow but behind the last frame.
        frames.end(sent.is_ok())?;
        Ok(())
    }

    /// Ends the recording where the other side has not; what nobody waits for is removed.
    fn end(&mut self) {
        let Some(own) = &mut self.recording else {
            return;
        };
        // What could not be closed is as a crash leaves it, and can be read.
        let _ = own.stop();
        if !own.outlives_connection
            && let Ok(above) = waiting(&own.path)
        {
            let _ = above.remove_all();
        }
    }
}

impl OwnRecording {
    /// How it ended, once it has.
    fn has_ended(&mut self) -> Option<&Result<(), String>> {
        if self.end.is_none()
            && let Ok(ended) = self.ended.try_recv()
        {
            self.end = Some(ended.map_err(|error| outputs::sentence(&error)));
        }
        self.end.as_ref()
    }

    /// Has the recorder write everything down and end.
    fn stop(&mut self) -> Result<()> {
        if self.end.is_none() {
            // As from a terminal: the recorder watches for it.
            kill_process(getpid(), Signal::INT)?;
            let ended = match self.ended.recv_timeout(CLOSING) {
                Ok(ended) => ended.map_err(|error| outputs::sentence(&error)),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the recorder did not end in {} s", CLOSING.as_secs())
                }
                Err(RecvTimeoutError::Disconnected) => Err("the recorder ended".to_owned()),
            };
            self.end = Some(ended);
        }
        match &self.end {
            Some(Err(why)) => bail!("{why}"),
            _ => Ok(()),
        }
    }
}

/// Hears nothing but that it has begun.
struct Begun(Arc<AtomicBool>);

impl Observer for Begun {
    fn progress(&self, progress: Progress<'_>) {
        if let Progress::Elapsed(_) = progress {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn output(&self, _: Stream, _: &[u8]) -> Taken {
        Taken::All
    }
}

/// The whole machine, as `record` without options.
fn options(path: &Path) -> Options {
    Options {
        subject: Subject::Running { length: None },
        folder: Some(path.to_owned()),
        segments: None,
        triggers: None,
        targets: Vec::new(),
        applications: Vec::new(),
        trace_all: false,
        stack_rate: StackRate::default().0,
        min_wait: None,
        logs: Vec::new(),
        goals: Vec::new(),
        root: "/".into(),
        argv: std::env::args_os().collect(),
    }
}

/// Whether a recording is closed; waits for one whose connection was lost just now.
fn is_closed(folder: &FolderHandle) -> bool {
    let until = Instant::now() + STILL_CLOSING;
    loop {
        match recording::description(folder) {
            Ok(meta) if meta.complete => return true,
            Ok(_) if Instant::now() < until => thread::sleep(POLL),
            _ => return false,
        }
    }
}

fn has_rows(path: &Path) -> bool {
    let recording = Reader::folder(path).and_then(|folder| Reader::open_end(&folder));
    recording.is_ok_and(|it| it.timeline.tables().any(|table| !table.is_empty()))
}

/// A new folder that no other user can look into, and that stays.
fn private_folder() -> Result<PathBuf> {
    let home = std::env::var_os("TMPDIR").map(PathBuf::from);
    let home = home.unwrap_or_else(|| LASTING.into());
    let made = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(&home);
    let made = made.with_context(|| format!("cannot record in {}", home.display()))?;
    Ok(made.keep())
}

/// The folder in which a recording waits to be fetched, whatever else was named.
fn waiting(path: &Path) -> Result<FolderHandle> {
    let above = path.parent().unwrap_or(Path::new(""));
    let name = above.file_name().and_then(|it| it.to_str());
    let is_ours = name.is_some_and(|it| it.starts_with(PREFIX))
        && path.file_name().is_some_and(|it| it == NAME)
        && path.is_absolute();
    let absent = || format!("there is no {}", path.display());
    if !is_ours {
        bail!(absent());
    }
    FolderHandle::open(above).with_context(absent)
}

/// A line of our own.
fn answer(line: &str) -> Result<()> {
    let mut stdout = std::io::stdout();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    written.context("nobody reads the answers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recordings_that_wait_to_be_fetched_are_sent_and_removed() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join(format!("{PREFIX}x"));
        std::fs::create_dir(&folder).expect("it is new");
        let held = waiting(&folder.join(NAME)).expect("it waits");
        for other in [
            home.path().join(NAME),
            folder.join("other.stall"),
            folder.join("..").join(NAME),
            folder.clone(),
            PathBuf::from("/"),
            PathBuf::new(),
            PathBuf::from(format!("{PREFIX}x/{NAME}")),
            home.path().join(format!("{PREFIX}y")).join(NAME),
        ] {
            assert!(waiting(&other).is_err(), "{}", other.display());
        }
        held.remove_all().expect("it is empty");
        assert!(!folder.exists());
    }
}
