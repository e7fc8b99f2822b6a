//! A node as `run --on` sees it: reached, asked to record, to tell its time, to stop, and for what it has recorded.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kernel::Clocks;

use super::Destination;
use super::clock_offset::{ClockOffset, Exchange};
use super::connection::{Connection, Interrupted, quote};
use super::greeting::{self, Greeting};
use super::protocol::{
    ALIVE, BEGINNING, BROKEN, CLOCK, CLOSING, FAILED, FRAME_BYTES, KEEP, KEPT, READY, RECORD,
    RECORDING, REMOVE, REMOVED, SEND, SENDING, STOP, STOPPED,
};
use crate::turns::OWN;

/// How long connecting may take, with all that a login runs before its shell.
const CONNECTING: Duration = Duration::from_secs(20);
/// How long a short answer may take, and each piece of a file.
const ANSWERING: Duration = Duration::from_secs(20);
/// What a node may take longer for than we wait for it to say so.
const MORE: Duration = Duration::from_secs(10);
/// How long it may take to prepare a recording for sending.
const PACKING: Duration = Duration::from_secs(120);
/// Lines that a login shell may print before ours.
const MOST_LINES: usize = 200;
/// Exchanges of the time: the shortest round trip of some is near the shortest that there is.
const EXCHANGES: usize = 8;
/// The largest recording that is fetched, bytes; compressed, as a bundle.
const MOST_BYTES: u64 = 8 << 30;

/// A node with the program running on it.
pub(super) struct Remote {
    connection: Connection,
    /// Whether everything there can be recorded.
    pub(super) is_root: bool,
}

impl Remote {
    /// Connects, and starts the program there; copies it first where it is missing and that is allowed.
    ///
    /// # Errors
    /// A sentence that says what to do, where we know.
    pub(super) fn connect(
        destination: &Destination,
        copy: bool,
        interrupted: Interrupted,
    ) -> Result<Self> {
        let command = greeting::command();
        let mut connection = Connection::open(destination, &command, interrupted)?;
        let greeting = greeted(&mut connection)?;
        match needs_copy(&greeting, destination)? {
            None => connection.send(b"use\n", ANSWERING)?,
            Some(lack) if !copy => bail!("{lack}"),
            Some(_) => copy_own(&mut connection)?,
        }
        let mut remote = Self {
            connection,
            is_root: greeting.user_id == 0,
        };
        let ready = remote.answer(READY, CONNECTING);
        ready.context("stallscope did not start there")?;
        Ok(remote)
    }

    /// Has the node record the whole machine; returns where, once it does.
    pub(super) fn record(&mut self) -> Result<PathBuf> {
        let path = self.ask(RECORD, RECORDING, BEGINNING + MORE)?;
        // It is shown on a terminal.
        match path.starts_with('/') && !path.contains(char::is_control) {
            true => Ok(PathBuf::from(path)),
            false => bail!("the node does not say where it records"),
        }
    }

    /// Has the recording outlive this connection.
    pub(super) fn keep(&mut self) -> Result<()> {
        self.ask(KEEP, KEPT, ANSWERING).map(drop)
    }

    /// Says that we are there, and learns whether the recorder is.
    pub(super) fn is_alive(&mut self) -> Result<()> {
        self.ask(ALIVE, ALIVE, ANSWERING).map(drop)
    }

    /// Compares the clocks.
    pub(super) fn clock(&mut self) -> Result<ClockOffset> {
        let mut exchanges = Vec::new();
        for _ in 0..EXCHANGES {
            let sent_ns = Clocks::read().realtime_ns;
            let answer = self.ask(CLOCK, CLOCK, ANSWERING)?;
            let received_ns = Clocks::read().realtime_ns;
            let answered_ns = answer.parse().context("the node's time is no number")?;
            exchanges.push(Exchange {
                sent_ns,
                answered_ns,
                received_ns,
            });
        }
        ClockOffset::of(&exchanges).context("the clock here was set back while it was compared")
    }

    /// Has the node close its recording.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.ask(STOP, STOPPED, CLOSING + MORE).map(drop)
    }

    /// Copies a recording of the node into `file`, as a bundle.
    pub(super) fn fetch(&mut self, path: &Path, file: &mut File) -> Result<()> {
        self.ask(&format!("{SEND} {}", path.display()), SENDING, PACKING)?;
        let mut bytes = 0;
        let mut frame = vec![0; FRAME_BYTES];
        loop {
            let mut length = [0; 4];
            self.connection.fill(&mut length, ANSWERING)?;
            let length = match u32::from_be_bytes(length) {
                0 => return Ok(()),
                BROKEN => bail!("the node could not read all of it"),
                length => usize::try_from(length)?,
            };
            let part = frame.get_mut(..length);
            let part = part.context("the node sent a frame that is too long")?;
            self.connection.fill(part, ANSWERING)?;
            bytes += length as u64;
            if bytes > MOST_BYTES {
                bail!("it takes more than {} GiB", MOST_BYTES >> 30);
            }
            file.write_all(part).context("cannot write it here")?;
        }
    }

    /// Removes a recording from the node.
    pub(super) fn remove(&mut self, path: &Path) -> Result<()> {
        let request = format!("{REMOVE} {}", path.display());
        self.ask(&request, REMOVED, ANSWERING).map(drop)
    }

    fn ask(&mut self, request: &str, expected: &str, patience: Duration) -> Result<String> {
        if request.contains('\n') {
            bail!("a request has one line");
        }
        self.connection
            .send(format!("{request}\n").as_bytes(), ANSWERING)?;
        self.answer(expected, patience)
    }

    /// What follows the expected word.
    fn answer(&mut self, expected: &str, patience: Duration) -> Result<String> {
        let line = self.connection.line(patience)?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            _ if word == expected => Ok(rest.to_owned()),
            FAILED => bail!("{}", quote(rest)),
            _ => bail!("the node answered `{}`", quote(&line)),
        }
    }
}

/// The line of the node's shell that is for us.
fn greeted(connection: &mut Connection) -> Result<Greeting> {
    for _ in 0..MOST_LINES {
        if let Some(greeting) = Greeting::read(&connection.line(CONNECTING)?) {
            return Ok(greeting);
        }
    }
    bail!("its login shell prints more than {MOST_LINES} lines before it runs a command")
}

/// What keeps the program there from being used, as a sentence with what to do; `None` where it is ours.
///
/// # Errors
/// A copy would not help.
fn needs_copy(node: &Greeting, destination: &Destination) -> Result<Option<String>> {
    let own = format!("stallscope {}", env!("CARGO_PKG_VERSION"));
    if node.version == own {
        return Ok(None);
    }
    let here = rustix::system::uname();
    let machine = here.machine().to_string_lossy();
    let lack = match &*node.version {
        "" => "stallscope is not in its PATH".to_owned(),
        other => format!("it has {}, and here is {own}", quote(other)),
    };
    if (&*node.system, &*node.machine) != ("Linux", &*machine) {
        bail!(
            "{lack}. It is a machine of another kind ({} {}, here Linux {machine}): install {own} there",
            quote(&node.system),
            quote(&node.machine)
        );
    }
    Ok(Some(format!(
        "{lack}. Let --copy bring it for the time of the run, or install it: scp \"$(command -v stallscope)\" {}",
        scp_place(destination)
    )))
}

/// Where scp puts a program that everybody's PATH has.
fn scp_place(destination: &Destination) -> String {
    const PLACE: &str = "/usr/local/bin/";
    match destination.text().strip_prefix("ssh://") {
        // A URI of scp has the path behind a slash, which is that of `/`.
        Some(rest) => format!("scp://{}/{PLACE}", rest.trim_end_matches('/')),
        None => format!("{}:{PLACE}", destination.text()),
    }
}

/// Sends this very program.
fn copy_own(connection: &mut Connection) -> Result<()> {
    let own = File::open(OWN).context("cannot read this program")?;
    let bytes = own.metadata().context("cannot read this program")?.len();
    connection.send(format!("copy {bytes}\n").as_bytes(), ANSWERING)?;
    let mut own = own.take(bytes);
    let mut piece = vec![0; FRAME_BYTES];
    loop {
        match own.read(&mut piece).context("cannot read this program")? {
            0 => return Ok(()),
            read => connection.send(&piece[..read], ANSWERING)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(version: &str) -> Greeting {
        let here = rustix::system::uname();
        Greeting {
            system: "Linux".to_owned(),
            machine: here.machine().to_string_lossy().into_owned(),
            user_id: 0,
            version: version.to_owned(),
        }
    }

    #[test]
    fn what_is_lacking_is_said_with_what_to_do() {
        let destination = |text: &str| text.parse::<Destination>().expect(text);
        let said = |node: &Greeting, text| needs_copy(node, &destination(text));
        let own = format!("stallscope {}", env!("CARGO_PKG_VERSION"));
        assert_eq!(said(&node(&own), "n1").expect("it fits"), None);
        let missing = said(&node(""), "me@n1").expect("a copy helps");
        let missing = missing.unwrap_or_default();
        assert!(missing.starts_with("stallscope is not in its PATH. Let --copy"));
        assert!(missing.ends_with(" me@n1:/usr/local/bin/"), "{missing}");
        let old = said(&node("stallscope 0.0.1"), "ssh://n1:22").expect("a copy helps");
        let old = old.unwrap_or_default();
        assert!(
            old.starts_with("it has stallscope 0.0.1, and here is"),
            "{old}"
        );
        assert!(old.ends_with(" scp://n1:22//usr/local/bin/"), "{old}");
        let other = Greeting {
            machine: "riscv64".to_owned(),
            ..node("")
        };
        let refused = said(&other, "n1").expect_err("no copy helps").to_string();
        assert!(refused.contains("Linux riscv64"), "{refused}");
    }
}
