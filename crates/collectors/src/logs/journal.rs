//! The journal of systemd, by its own program: the format of its files is that program's own, and it alone knows who may
//! read what.

use std::io::{ErrorKind, Read};
use std::process::{Child, ChildStdout, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Signal;
use sensors::log::Lines;

use super::reading::{Reading, Room};
use super::source::journalctl;

/// Follows the journal.
pub(super) struct Journal {
    child: Child,
    /// `None` once it has ended.
    output: Option<ChildStdout>,
    lines: Lines,
}

impl Journal {
    /// Starts to follow it.
    ///
    /// # Errors
    /// Why its program cannot be started.
    pub(super) fn start(unit: Option<&str>) -> std::io::Result<Self> {
        let mut command = journalctl(unit);
        command.arg("--follow");
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        // It ends with the thread that reads it, also where that is killed.
        let mut child = kernel::signal_at_parents_end(&mut command, Signal::TERM).spawn()?;
        let output = child.stdout.take();
        if let Some(output) = &output {
            fcntl_setfl(output, fcntl_getfl(output)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            child,
            output,
            lines: Lines::default(),
        })
    }

    /// Reads what has come; a sentence where its program has ended. What there is no room for waits in the pipe.
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) -> Option<String> {
        let output = self.output.as_mut()?;
        while reading.room() != Room::None {
            match output.read(reading.buffer) {
                Ok(0) => {
                    self.output = None;
                    return Some(
                        "journalctl has ended: the journal was not read any more".to_owned(),
                    );
                }
                Ok(count) => reading.take(count, &mut self.lines),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    self.output = None;
                    return Some(format!("journalctl cannot be read: {error}"));
                }
            }
        }
        None
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
