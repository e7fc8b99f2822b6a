//! Connections to another machine, container or moment, on made-up trees.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::connections::{Side, connections_of, unix_connections};
use super::super::owners::Held;
use super::super::unix::{UnixSocket, UnixTable};
use super::super::{Endpoint, Guess, Servers, servers_of};
use super::{ESTABLISHED, Fake, LISTEN, NOBODY, tcp_line, write_net};

const GENERATOR: u32 = 500;
const CLIENT: (&str, u16) = ("10.0.0.5", 40000);

fn serve(proc: &Path, lines: &[String]) -> Servers {
    // Each table describes a new machine.
    let _ = fs::remove_dir_all(proc.join(GENERATOR.to_string()));
    Fake {
        pid: GENERATOR,
        parent: 1,
        comm: "pgbench",
        sockets: &[50],
        ..Fake::default()
    }
    .write(proc);
    write_net(proc, "tcp", &lines.concat());
    let trie = "           |-- 10.0.0.5\n              /32 host LOCAL\n";
    write_net(proc, "fib_trie", trie);
    servers_of(
        proc,
        &connections_of(proc, &[GENERATOR]),
        &HashSet::from([GENERATOR]),
    )
}

#[test]
fn a_socket_held_by_parent_and_child_names_both() {
    let proc = tempfile::tempdir().unwrap();
    for pid in [100, 101] {
        Fake {
            pid,
            parent: 99,
            sockets: &[60],
            ..Fake::default()
        }
        .write(proc.path());
    }
    let server = ("10.0.0.5", 5432);
    let client = tcp_line([CLIENT, server], ESTABLISHED, 0, 50);
    let found = serve(
        proc.path(),
        &[client, tcp_line([server, CLIENT], ESTABLISHED, 9, 60)],
    );
    let pids: Vec<u32> = found.served.iter().map(|served| served.pid).collect();
    assert_eq!(pids, [100, 101]);
    assert_eq!(
        (
            found.served[0].endpoint.to_string().as_str(),
            found.served[0].by
        ),
        ("port 5432", Guess::Holds)
    );
}

#[test]
fn not_accepted_yet_is_pending() {
    let proc = tempfile::tempdir().unwrap();
    let server = ("10.0.0.5", 5432);
    let client = tcp_line([CLIENT, server], ESTABLISHED, 0, 50);
    let waiting = tcp_line([server, CLIENT], ESTABLISHED, 0, 0);
    let pending = vec![Endpoint::Inet("10.0.0.5:5432".parse().unwrap())];
    assert_eq!(
        serve(proc.path(), &[client.clone(), waiting]),
        Servers {
            pending: pending.clone(),
            ..Servers::default()
        }
    );
    assert_eq!(
        serve(proc.path(), &[client]),
        Servers {
            pending,
            ..Servers::default()
        }
    );
}

#[test]
fn an_address_of_another_machine_is_remote() {
    let proc = tempfile::tempdir().unwrap();
    let found = serve(
        proc.path(),
        &[tcp_line([CLIENT, ("10.0.0.6", 5432)], ESTABLISHED, 0, 50)],
    );
    let remote = vec![Endpoint::Inet("10.0.0.6:5432".parse().unwrap())];
    assert_eq!(
        found,
        Servers {
            remote,
            ..Servers::default()
        }
    );
}

#[test]
fn whoever_connects_to_the_generator_does_not_serve_it() {
    let proc = tempfile::tempdir().unwrap();
    let metrics = ("127.0.0.1", 9100);
    let listening = tcp_line([("0.0.0.0", 9100), NOBODY], LISTEN, 0, 51);
    let accepted = tcp_line([metrics, ("127.0.0.1", 40001)], ESTABLISHED, 0, 50);
    assert_eq!(
        serve(proc.path(), &[listening, accepted]),
        Servers::default()
    );
}

#[test]
fn a_container_is_found_through_its_own_table() {
    let proc = tempfile::tempdir().unwrap();
    Fake {
        pid: 200,
        parent: 1,
        sockets: &[70],
        ..Fake::default()
    }
    .write(proc.path());
    let container = proc.path().join("200");
    fs::create_dir_all(container.join("net")).unwrap();
    fs::create_dir_all(container.join("ns")).unwrap();
    std::os::unix::fs::symlink("net:[4026532000]", container.join("ns/net")).unwrap();
    let membership = tcp_line([("172.17.0.2", 5432), CLIENT], ESTABLISHED, 999, 70);
    fs::write(container.join("net/tcp"), membership).unwrap();
    for published in ["172.17.0.2", "10.0.0.5"] {
        let found = serve(
            proc.path(),
            &[tcp_line([CLIENT, (published, 5432)], ESTABLISHED, 0, 50)],
        );
        assert_eq!(
            found
                .served
                .iter()
                .map(|served| served.pid)
                .collect::<Vec<_>>(),
            [200],
            "{published}"
        );
    }
    let elsewhere = serve(
        proc.path(),
        &[tcp_line([CLIENT, ("10.0.0.6", 5432)], ESTABLISHED, 0, 50)],
    );
    assert!(
        elsewhere.served.is_empty(),
        "the same client port, but another machine"
    );
}

fn unix(inode: u64, peer: Option<u64>, name: Option<&str>) -> UnixSocket {
    let name = name.map(str::to_owned);
    UnixSocket {
        inode,
        stream: true,
        listening: false,
        connected: true,
        name,
        peer,
        uid: None,
        waiting: Vec::new(),
    }
}

#[test]
fn unix_sockets_that_were_not_connected_are_left_out() {
    let path = Some("/run/x");
    let table = UnixTable::from_sockets(vec![
        UnixSocket {
            listening: true,
            connected: false,
            waiting: vec![30],
            ..unix(1, None, path)
        },
        unix(10, Some(11), None),
        unix(11, Some(10), path),
        unix(20, Some(21), None),
        unix(21, Some(20), None),
        unix(30, Some(0), None),
        unix(40, Some(41), None),
        unix(41, Some(40), Some("/run/log")),
    ]);
    let held = Held {
        sockets: [1, 10, 11, 20, 21, 30, 40].into(),
        standard: [40].into(),
    };
    let peer = Endpoint::Unix("/run/x".to_owned());
    let made = unix_connections(&table, &held, Side::Made);
    let found: Vec<_> = made
        .iter()
        .map(|made| (made.inode, made.peer_inode, &made.peer))
        .collect();
    assert_eq!(found, [(10, Some(11), &peer), (30, Some(0), &peer)]);
    let accepted = unix_connections(&table, &held, Side::Accepted);
    let found: Vec<_> = accepted
        .iter()
        .map(|accepted| (accepted.inode, accepted.peer_inode, &accepted.local))
        .collect();
    assert_eq!(found, [(11, Some(10), &peer)]);
}

#[test]
fn without_sock_diag_unix_connections_are_counted_and_not_followed() {
    let proc = tempfile::tempdir().unwrap();
    write_net(
        proc.path(),
        "unix",
        "0: 00000003 00000000 00000000 0001 03 50\n",
    );
    assert_eq!(
        serve(proc.path(), &[]),
        Servers {
            unfollowed: 1,
            ..Servers::default()
        }
    );
}
