//! Which process answers, where the application does not say it.

use std::net::IpAddr;
use std::path::Path;

use sources::Endpoint;
use targets::Listener;

/// The process of this machine that listens where we connected and is called by one of these names; with none,
/// whatever it is called. The name keeps apart who forwards connections to another machine or container (ssh,
/// docker-proxy).
pub(super) fn listening(proc: &Path, at: &Endpoint, names: &[&str]) -> Option<u32> {
    found(&targets::listeners(proc), at, names)
}

fn found(listeners: &[Listener], at: &Endpoint, names: &[&str]) -> Option<u32> {
    let is_there = |listener: &&Listener| match at {
        Endpoint::Tcp(host, port) => is_loopback(host) && listener.port == Some(*port),
        Endpoint::Socket(path) => listener.path.as_deref() == Some(path),
    };
    let mut there = listeners.iter().filter(is_there);
    there
        .find(|listener| names.is_empty() || names.contains(&listener.name.as_str()))?
        .pid
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_there_and_is_called_so() {
        let listener = |port, path: Option<&str>, pid, name: &str| Listener {
            port,
            path: path.map(str::to_owned),
            pid: Some(pid),
            name: name.to_owned(),
        };
        let listeners = [
            listener(Some(6432), None, 7, "pgbouncer"),
            listener(Some(6433), None, 8, "ssh"),
            listener(None, Some("/tmp/.s.PGSQL.6432"), 7, "pgbouncer"),
        ];
        let at = |at: Endpoint| found(&listeners, &at, &["pgbouncer"]);
        let tcp = |host: &str, port| at(Endpoint::Tcp(host.to_owned(), port));
        assert_eq!(tcp("localhost", 6432), Some(7));
        assert_eq!(tcp("::1", 6432), Some(7));
        assert_eq!(tcp("127.0.0.1", 6433), None, "it goes on elsewhere");
        assert_eq!(tcp("db7", 6432), None);
        let any = Endpoint::Tcp("::1".to_owned(), 6433);
        assert_eq!(found(&listeners, &any, &[]), Some(8));
        let socket = |path: &str| at(Endpoint::Socket(path.to_owned()));
        assert_eq!(socket("/tmp/.s.PGSQL.6432"), Some(7));
        assert_eq!(socket("/tmp/.s.PGSQL.5432"), None);
    }
}
