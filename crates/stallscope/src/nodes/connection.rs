//! One ssh for each node, from before the run until its recording is here: what is asked and answered goes over its
//! standard input and output.
//!
//! One long connection, and not a master with one command each (ControlMaster): the node sees by the end of its input
//! that we are gone, whatever killed us, and ends its recorder; nothing is left running here; and the round trip by which
//! clocks are compared starts no process. The system's ssh is used, so that ~/.ssh/config, agents and jump hosts count.
//!
//! Every wait has an end. ssh is in a process group of its own: a Ctrl-C at the terminal is ours to obey.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::Destination;

/// So that nothing asks at the terminal, nothing outlives us, and a node that is gone is noticed. A user's own
/// configuration may set all else.
const OPTIONS: [&str; 8] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlMaster=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
];
/// What ssh and the node's shell may say that is remembered.
const MOST_SAID: usize = 8 << 10;
/// The longest line that a node may answer.
const LONGEST_LINE: usize = 4 << 10;
/// The longest part of a message of others that is quoted.
const LONGEST_QUOTE: usize = 200;
/// How often an interrupt is looked for.
const SLICE: Duration = Duration::from_millis(100);
/// How long ssh may take to end once its input has.
const ENDING: Duration = Duration::from_secs(3);

/// Set to a signal's number when the user interrupts: every wait ends then.
pub(super) type Interrupted = Arc<AtomicI32>;

/// A conversation with a node.
pub(super) struct Connection {
    ssh: Child,
    /// `None` once it is to end.
    input: Option<File>,
    output: File,
    /// `None` once it has ended.
    errors: Option<File>,
    /// What was read and is in no line yet.
    unread: Vec<u8>,
    said: Vec<u8>,
    interrupted: Interrupted,
}

/// What a wait has shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    Output,
    Input,
}

impl Connection {
    /// Starts ssh; whether it connects is seen by the first line.
    pub(super) fn open(
        destination: &Destination,
        command: &str,
        interrupted: Interrupted,
    ) -> Result<Self> {
        let mut ssh = Command::new("ssh");
        // No terminal, no display, no agent for the node.
        ssh.args(["-T", "-x", "-a"]);
        ssh.args(OPTIONS.iter().flat_map(|option| ["-o", *option]));
        ssh.args(["--", destination.text(), command]);
        ssh.process_group(0);
        ssh.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut ssh = ssh.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                anyhow::anyhow!("there is no ssh in PATH: install openssh-client")
            }
            _ => anyhow::Error::from(error).context("cannot start ssh"),
        })?;
        let pipes = (ssh.stdin.take(), ssh.stdout.take(), ssh.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            bail!("ssh was started without pipes");
        };
        Ok(Self {
            ssh,
            input: Some(without_waiting(input)?),
            output: without_waiting(output)?,
            errors: Some(without_waiting(errors)?),
            unread: Vec::new(),
            said: Vec::new(),
            interrupted,
        })
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// The connection ended, nothing came in time, or an interrupt did.
    pub(super) fn line(&mut self, patience: Duration) -> Result<String> {
        let until = Instant::now() + patience;
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                return Ok(line.trim_end_matches(['\n', '\r']).to_owned());
            }
            if self.unread.len() > LONGEST_LINE {
                bail!("the node answered a line of more than {LONGEST_LINE} bytes");
            }
            let mut piece = [0; 1 << 10];
            let read = self.read(&mut piece, until)?;
            self.unread.extend_from_slice(&piece[..read]);
        }
    }

    /// Fills the buffer; `patience` is for each piece that arrives.
    ///
    /// # Errors
    /// As of [`Connection::line`].
    pub(super) fn fill(&mut self, buffer: &mut [u8], patience: Duration) -> Result<()> {
        let known = self.unread.len().min(buffer.len());
        let (from_before, mut rest) = buffer.split_at_mut(known);
        from_before.copy_from_slice(&self.unread[..known]);
        self.unread.drain(..known);
        while !rest.is_empty() {
            let read = self.read(rest, Instant::now() + patience)?;
            rest = &mut rest[read..];
        }
        Ok(())
    }

    /// Sends bytes; `patience` is for each piece that is taken.
    ///
    /// # Errors
    /// As of [`Connection::line`].
    pub(super) fn send(&mut self, mut bytes: &[u8], patience: Duration) -> Result<()> {
        let mut until = Instant::now() + patience;
        while !bytes.is_empty() {
            let input = self.input.as_mut().context("the connection is closed")?;
            match input.write(bytes) {
                Ok(written) => {
                    bytes = &bytes[written..];
                    until = Instant::now() + patience;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.wait(true, until)? == Ready::Output && self.output_ended()? {
                        return Err(self.why_ended());
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.why_ended()),
            }
        }
        Ok(())
    }

    /// Some bytes of the output, at least one.
    fn read(&mut self, buffer: &mut [u8], until: Instant) -> Result<usize> {
        loop {
            match self.output.read(buffer) {
                Ok(0) => return Err(self.why_ended()),
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(false, until)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.why_ended()),
            }
        }
    }

    /// Whether the output ends, while something is sent; what comes meanwhile is kept as far as a line may be.
    fn output_ended(&mut self) -> Result<bool> {
        if self.unread.len() > LONGEST_LINE {
            bail!("the node said more than {LONGEST_LINE} bytes before it was asked");
        }
        let mut piece = [0; 256];
        match self.output.read(&mut piece) {
            Ok(0) => Ok(true),
            Ok(read) => {
                self.unread.extend_from_slice(&piece[..read]);
                Ok(false)
            }
            Err(error) => Ok(error.kind() != ErrorKind::WouldBlock),
        }
    }

    /// Waits until the output has something, or the input has room; remembers meanwhile what ssh says.
    fn wait(&mut self, for_room: bool, until: Instant) -> Result<Ready> {
        loop {
            if self.interrupted.load(Ordering::Relaxed) != 0 {
                bail!("interrupted");
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("the node did not answer in time");
            }
            let slice = left.min(SLICE);
            let [output, input, errors] = self.polled(for_room, slice)?;
            if errors {
                self.hear();
            }
            match (output, input) {
                (true, _) => return Ok(Ready::Output),
                (_, true) => return Ok(Ready::Input),
                _ => {}
            }
        }
    }

    /// Which of output, input and errors are ready.
    fn polled(&self, for_room: bool, most: Duration) -> Result<[bool; 3]> {
        let mut files = vec![PollFd::new(&self.output, PollFlags::IN)];
        let input = self.input.as_ref().filter(|_| for_room);
        let input = input.map(|input| {
            files.push(PollFd::new(input, PollFlags::OUT));
            files.len() - 1
        });
        let errors = self.errors.as_ref().map(|errors| {
            files.push(PollFd::new(errors, PollFlags::IN));
            files.len() - 1
        });
        let most = Timespec::try_from(most).context("a time limit is too long")?;
        match poll(&mut files, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
        let is_ready = |place: Option<usize>| {
            place.is_some_and(|place| files.get(place).is_some_and(|it| !it.revents().is_empty()))
        };
        Ok([is_ready(Some(0)), is_ready(input), is_ready(errors)])
    }

    /// Takes what ssh says; what is beyond the limit is let go.
    fn hear(&mut self) {
        let Some(errors) = &mut self.errors else {
            return;
        };
        let mut piece = [0; 1 << 10];
        match errors.read(&mut piece) {
            Ok(0) => self.errors = None,
            Ok(read) => {
                self.said.extend_from_slice(&piece[..read]);
                let beyond = self.said.len().saturating_sub(MOST_SAID);
                // The last words are the reason.
                self.said.drain(..beyond);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.errors = None,
        }
    }

    /// Why the connection ended, in ssh's words where it has any.
    fn why_ended(&mut self) -> anyhow::Error {
        let until = Instant::now() + ENDING;
        self.input = None;
        while self.errors.is_some() && Instant::now() < until {
            // Output is at its end and always ready: only a pause keeps this from spinning.
            self.hear();
            thread::sleep(Duration::from_millis(10));
        }
        let said = String::from_utf8_lossy(&self.said).into_owned();
        let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        match lines.next_back() {
            Some(last) => anyhow::anyhow!("{}", quote(last)),
            None => anyhow::anyhow!("the connection ended"),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.input = None;
        let until = Instant::now() + ENDING;
        while matches!(self.ssh.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                // It may have ended by itself.
                let _ = self.ssh.kill();
                let _ = self.ssh.wait();
                return;
            }
            self.hear();
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What another program said, on one line and not too long.
pub(super) fn quote(text: &str) -> String {
    let on_one_line = text.replace(|c: char| c.is_control(), " ");
    let mut quoted: String = on_one_line.chars().take(LONGEST_QUOTE).collect();
    if quoted.len() < on_one_line.len() {
        quoted.push_str("...");
    }
    quoted.trim_end_matches('.').to_owned()
}

/// A pipe's end that is ours alone, which says that it is empty, or full, instead of waiting.
fn without_waiting(pipe: impl Into<OwnedFd>) -> io::Result<File> {
    let file = File::from(pipe.into());
    let flags = fcntl_getfl(file.as_fd())?;
    fcntl_setfl(file.as_fd(), flags | OFlags::NONBLOCK)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_short_and_on_one_line() {
        assert_eq!(quote("refused.\r"), "refused. ");
        assert_eq!(quote("a\u{1b}[2Jb"), "a [2Jb");
        let long = "x".repeat(LONGEST_QUOTE + 1);
        assert_eq!(quote(&long).len(), LONGEST_QUOTE);
    }
}
