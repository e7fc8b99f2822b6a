//! The thread that asks PostgreSQL: once a second, and anew when the connection was lost.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use model::Timestamp;
use sensors::postgres::PERIOD;
use sources::postgres::{Address, Client, Look, Server, Surroundings, Trouble};

/// The longest wait between attempts to connect.
const MOST_PATIENCE: Duration = Duration::from_secs(15);

/// A message of the thread.
pub(in super::super) enum Message {
    /// A connection stands; the time is that of the answer.
    Connected(Timestamp, Box<Server>),
    /// A look, at the middle of the time that it took.
    Look(Timestamp, Box<Look>),
    /// No answer.
    Trouble(Trouble),
}

/// Asks until `stop` is closed.
pub(super) fn watch(address: &Address, send: &impl Fn(Message), stop: &Receiver<()>) {
    let mut patience = PERIOD;
    loop {
        match Client::connect(address) {
            Ok((client, server)) => {
                send(Message::Connected(kernel::boottime(), Box::new(server)));
                patience = PERIOD;
                if look_on(client, address, send, stop) == Outcome::Stopped {
                    return;
                }
            }
            Err(trouble) => send(Message::Trouble(trouble)),
        }
        if stop.recv_timeout(patience) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        patience = (patience * 2).min(MOST_PATIENCE);
    }
}

#[derive(PartialEq)]
enum Outcome {
    Stopped,
    Lost,
}

/// Looks once a second for as long as the connection stands.
fn look_on(
    mut client: Client,
    address: &Address,
    send: &impl Fn(Message),
    stop: &Receiver<()>,
) -> Outcome {
    let mut next = Instant::now();
    loop {
        let before = kernel::boottime();
        match client.look(address) {
            Ok(look) => {
                let middle = before + kernel::boottime().ns_since(before) / 2;
                send(Message::Look(middle, Box::new(look)));
            }
            Err(trouble) => {
                send(Message::Trouble(trouble));
                if client.is_closed() {
                    return Outcome::Lost;
                }
            }
        }
        // A look that took longer than a period is not made up for.
        next = (next + PERIOD).max(Instant::now());
        if stop.recv_timeout(next.saturating_duration_since(Instant::now()))
            != Err(RecvTimeoutError::Timeout)
        {
            return Outcome::Stopped;
        }
    }
}

/// This machine, as far as an address is completed from it.
pub(super) struct Here;

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

    /// As libpq, a file that others may read is left alone.
    fn passfile(&self, path: &Path) -> Option<String> {
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
