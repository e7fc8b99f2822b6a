//! Why no server was found, and what to do, in sentences for the user.

use std::path::Path;
use std::time::Duration;

use targets::{Endpoint, listeners, listening_here};

use super::look::Look;

/// Why there is nobody, and what to do.
pub(super) fn not_found(proc: &Path, name: &str, look: &Look, waited: Duration) -> String {
    let Look {
        servers,
        connections,
        ..
    } = look;
    if let Some(remote) = servers.remote.first() {
        let port = match remote {
            Endpoint::Inet(address) => format!("port:{}", address.port()),
            _ => "name:SERVER".to_owned(),
        };
        return format!(
            "the server behind {} is not on this machine ({remote}). Record it there meanwhile: \
             stallscope record --for 30s --target {port}",
            name
        );
    }
    if let Some(unanswered) = servers
        .pending
        .first()
        .filter(|_| !connections.list.is_empty())
    {
        return format!(
            "cannot find a server behind {}: it connects to {}, and nobody answers there. Name it: --target {}",
            name,
            unanswered.service(),
            example(proc)
        );
    }
    if !connections.unreadable.is_empty() || servers.unfollowed > 0 {
        return format!(
            "cannot see who serves {}: its connections may not be looked into. Run as root, or name \
             the server: --target {}",
            name,
            example(proc)
        );
    }
    no_connection(proc, name, waited)
}

/// The sentence for a generator that made no connection.
pub(in super::super) fn no_connection(proc: &Path, name: &str, waited: Duration) -> String {
    let seconds = waited.as_secs_f64();
    let waited = if seconds >= 1.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{seconds:.1} s")
    };
    format!(
        "cannot find a server behind {name}: it made no connection in {waited}. Name it: --target {} (listening here: {})",
        example(proc),
        listening_here(&listeners(proc))
    )
}

/// A target that could be typed here.
fn example(proc: &Path) -> String {
    let listening = listeners(proc);
    let named = listening.iter().filter(|listener| listener.pid.is_some());
    let port = named
        .chain(&listening)
        .find_map(|listener| listener.port)
        .unwrap_or(5432);
    format!("port:{port}")
}
