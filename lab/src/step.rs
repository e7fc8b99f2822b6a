//! A change in the middle of a run, made by a thread that waits for its time.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// A value written to a file some time after the start of the load: a step in the middle of a run.
pub struct Later {
    /// How long after.
    pub after: Duration,
    /// Which file.
    pub file: PathBuf,
    /// What is written.
    pub value: String,
}

/// A step that waits to be made.
pub struct Step {
    /// Dropped when the run is over: then nothing is changed any more.
    over: Sender<()>,
    thread: JoinHandle<Result<()>>,
}

impl Step {
    /// Waits from now on.
    pub fn start(later: Later) -> Result<Self> {
        let (over, is_over) = channel();
        let thread = std::thread::Builder::new()
            .name("step".to_owned())
            .spawn(move || match is_over.recv_timeout(later.after) {
                Err(RecvTimeoutError::Timeout) => std::fs::write(&later.file, &later.value)
                    .with_context(|| format!("cannot write {}", later.file.display())),
                _ => bail!("the load ended before the step in its middle"),
            })
            .context("cannot start a thread")?;
        Ok(Self { over, thread })
    }

    /// Ends the waiting; an error when the step could not be made.
    pub fn end(self) -> Result<()> {
        drop(self.over);
        self.thread
            .join()
            .unwrap_or_else(|_| bail!("the step was lost"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_step_is_made_once_its_time_has_come() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("quota");
        let later = |after| Later {
            after,
            file: file.clone(),
            value: "1".to_owned(),
        };
        let never = Step::start(later(Duration::from_secs(60))).expect("started");
        assert!(never.end().is_err() && !file.exists());
        let soon = Step::start(later(Duration::from_millis(1))).expect("started");
        std::thread::sleep(Duration::from_millis(200));
        soon.end().expect("made");
        assert!(file.exists());
    }
}
