//! The thread that asks an application: once a second, and anew when the connection was lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use model::Timestamp;
use sensors::APPLICATION_PERIOD;
use sources::{AppSource, Connection, Poll, Server, Surroundings, Trouble, TroubleKind};

/// The longest wait between attempts to connect.
const MOST_PATIENCE: Duration = Duration::from_secs(15);

/// A message of the thread.
pub(in super::super) enum Message {
    /// A connection stands; the time is that of the answer.
    Connected(Timestamp, Box<Server>),
    /// A poll, at the middle of the time that it took.
    Poll(Timestamp, Box<Poll>),
    /// No answer.
    Trouble(Trouble),
}

/// Asks until `stop` is closed.
pub(super) fn watch(source: &dyn AppSource, send: &impl Fn(Message), stop: &Receiver<()>) {
    let mut patience = APPLICATION_PERIOD;
    loop {
        match contained(|| source.connect()) {
            Some(Ok((connection, server))) => {
                send(Message::Connected(kernel::boottime(), Box::new(server)));
                patience = APPLICATION_PERIOD;
                if poll_on(connection, send, stop) == Outcome::Stopped {
                    return;
                }
            }
            Some(Err(trouble)) => send(Message::Trouble(trouble)),
            None => send(Message::Trouble(nonsense())),
        }
        if stop.recv_timeout(patience) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        patience = (patience * 2).min(MOST_PATIENCE);
    }
}

/// Asks with the code of libraries, which may give up on an answer that makes no sense; `None` where it did. What was
/// asked with is not used after.
fn contained<T>(ask: impl FnOnce() -> Result<T, Trouble>) -> Option<Result<T, Trouble>> {
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

/// The trouble with an answer that nobody could read.
fn nonsense() -> Trouble {
    Trouble {
        kind: TroubleKind::Away,
        sentence: "the server's answer makes no sense: is it another kind of server?".to_owned(),
    }
}

#[derive(PartialEq)]
enum Outcome {
    Stopped,
    Lost,
}

/// Asks once a second for as long as the connection stands.
fn poll_on(
    mut connection: Box<dyn Connection>,
    send: &impl Fn(Message),
    stop: &Receiver<()>,
) -> Outcome {
    let mut next = Instant::now();
    loop {
        let before = kernel::boottime();
        match contained(|| connection.poll()) {
            Some(Ok(poll)) => {
                let middle = before + kernel::boottime().ns_since(before) / 2;
                send(Message::Poll(middle, Box::new(poll)));
            }
            Some(Err(trouble)) => {
                send(Message::Trouble(trouble));
                if connection.is_closed() {
                    return Outcome::Lost;
                }
            }
            None => {
                send(Message::Trouble(nonsense()));
                return Outcome::Lost;
            }
        }
        // A poll that took longer than a period is not made up for.
        next = (next + APPLICATION_PERIOD).max(Instant::now());
        if stop.recv_timeout(next.saturating_duration_since(Instant::now()))
            != Err(RecvTimeoutError::Timeout)
        {
            return Outcome::Stopped;
        }
    }
}

/// This machine, as far as an address is completed from it.
pub struct Here;

impl Surroundings for Here {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn user(&self) -> Option<String> {
        let own = rustix::process::geteuid().as_raw();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let named = users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, id) = (fields.next()?, fields.nth(1)?);
            (id.parse() == Ok(own)).then(|| name.to_owned())
        });
        // Users from elsewhere (LDAP) are not in the file.
        named.or_else(|| std::env::var("USER").ok())
    }

    /// As libpq does, a file that others may read is left alone.
    fn secret_file(&self, path: &Path) -> Option<String> {
        use std::os::unix::fs::PermissionsExt;
        const OF_OTHERS: u32 = 0o077;
        let about = std::fs::metadata(path).ok()?;
        if !about.is_file() || about.permissions().mode() & OF_OTHERS != 0 {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}
