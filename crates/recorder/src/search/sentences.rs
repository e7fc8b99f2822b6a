//! Why no server was found, and what to do, in sentences for the user.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use model::{EntityKind, Part, Sentence, sentence};
use targets::{Endpoint, listeners, listening_here};

use super::look::Look;

/// Why there is nobody, and what to do.
pub(super) fn not_found(proc: &Path, name: &str, look: &Look, waited: Duration) -> Sentence {
    let Look {
        servers,
        connections,
        ..
    } = look;
    let workload = Part::name(EntityKind::Workload, name);
    if let Some(remote) = servers.remote.first() {
        let port = match remote {
            Endpoint::Inet(address) => sentence!("port:{}", address.port()),
            _ => "name:SERVER".into(),
        };
        return sentence!(
            "the server behind {} is not on this machine ({}). Record it there meanwhile: stallscope record --for 30s --target {}",
            workload,
            remote.to_string(),
            port
        );
    }
    if let Some(unanswered) = servers
        .pending
        .first()
        .filter(|_| !connections.list.is_empty())
    {
        return sentence!(
            "cannot find a server behind {}: it connects to {}, and nobody answers there. Name it: --target {}",
            workload,
            unanswered.service(),
            example(proc)
        );
    }
    // Of another machine's files, or another namespace's, the kernel is not asked.
    let is_asked = proc == Path::new("/proc");
    if is_asked && connections.unreadable.is_empty() && servers.unfollowed > 0 {
        return sentence!(
            "cannot see who serves {}: it connects over unix sockets, and this kernel does not say where they lead. Have it say so with modprobe unix_diag, or name the server: --target {}",
            workload,
            example(proc)
        );
    }
    if !connections.unreadable.is_empty() || servers.unfollowed > 0 {
        return sentence!(
            "cannot see who serves {}: its connections may not be looked into. Run as root, or name the server: --target {}",
            workload,
            example(proc)
        );
    }
    no_connection(proc, name, waited)
}

/// The sentence for a generator that connected to an address, where nobody was seen.
pub(in super::super) fn unserved(
    proc: &Path,
    name: &str,
    contact: SocketAddr,
    waited: Duration,
) -> Sentence {
    let listening = listeners(proc);
    let is_here = listening.iter().any(|it| it.port == Some(contact.port()));
    let name = Part::name(EntityKind::Workload, name);
    match is_here {
        true => sentence!(
            "{} makes the load, and who serves it at {} was not seen in {}, or may not be: run as root, or name the server: --target port:{}",
            name,
            contact.to_string(),
            seconds(waited),
            contact.port()
        ),
        false => sentence!(
            "{} makes the load, and its server at {} is not on this machine, or was not seen. Record it there meanwhile: stallscope record --for 30s --target port:{}",
            name,
            contact.to_string(),
            contact.port()
        ),
    }
}

fn seconds(waited: Duration) -> Part {
    let seconds = waited.as_secs_f64();
    let text = if seconds >= 1.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{seconds:.1} s")
    };
    Part::Own(text.into())
}

/// The sentence for a generator that made no connection.
pub(in super::super) fn no_connection(proc: &Path, name: &str, waited: Duration) -> Sentence {
    sentence!(
        "cannot find a server behind {}: it made no connection in {}. Name it: --target {} (listening here: {})",
        Part::name(EntityKind::Workload, name),
        seconds(waited),
        example(proc),
        listening_here(&listeners(proc))
    )
}

/// A target that could be typed here.
fn example(proc: &Path) -> Sentence {
    let listening = listeners(proc);
    let named = listening.iter().filter(|listener| listener.pid.is_some());
    let port = named
        .chain(&listening)
        .find_map(|listener| listener.port)
        .unwrap_or(5432);
    sentence!("port:{}", port)
}

#[cfg(test)]
mod tests {
    use targets::{Connections, Servers};

    use super::super::look::Found;
    use super::*;

    #[test]
    fn a_kernel_that_does_not_tell_peers_of_unix_sockets_is_told_from_missing_rights() {
        let said = |proc: &str, unreadable: Vec<u32>| {
            let mut connections = Connections::default();
            connections.unreadable = unreadable;
            let look = Look {
                found: Found::default(),
                servers: Servers {
                    unfollowed: 1,
                    ..Servers::default()
                },
                connections,
                trouble: None,
            };
            not_found(Path::new(proc), "pgbench", &look, Duration::ZERO).to_string()
        };
        assert!(said("/proc", Vec::new()).contains("modprobe unix_diag"));
        assert!(said("/proc", vec![17]).contains("Run as root"));
        assert!(said("/host/proc", Vec::new()).contains("may not be looked into"));
    }
}
