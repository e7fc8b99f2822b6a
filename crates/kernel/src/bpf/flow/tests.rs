//! This process talks to itself, at ports and paths of its own.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{UnixListener, UnixStream};

use super::*;
use crate::requirement::needed;

const TCP: u8 = 1;
const UDP: u8 = 2;
const UNIX: u8 = 3;
const SERVER: u8 = 1;
const CLIENT: u8 = 2;

fn loaded() -> Option<Flow> {
    let mut flow = needed("connections", Flow::load())?;
    flow.count_all_calls().expect("it is loaded");
    Some(flow)
}

/// The account of this process at a port, or at a path, with its place.
fn find(
    flow: &mut Flow,
    protocol: u8,
    side: u8,
    is_it: impl Fn(&Account, &Names) -> bool,
) -> Option<Account> {
    flow.walk().expect("it walks");
    let own = |it: &Account| {
        it.key.tgid == std::process::id() && (it.key.protocol, it.key.side) == (protocol, side)
    };
    let mut all = (1..=MOST_ACCOUNTS).filter_map(|place| {
        let account = flow.account(place).filter(own)?;
        Some((account, flow.names(place)))
    });
    let found = all.find(|(account, names)| is_it(account, names));
    found.map(|(account, _)| account)
}

fn at_port(flow: &mut Flow, protocol: u8, side: u8, port: u16) -> Account {
    let account = find(flow, protocol, side, |it, _| it.key.port == port);
    account.expect("it was counted")
}

fn bytes(account: &Account) -> (u64, u64) {
    (account.sent_bytes, account.received_bytes)
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

fn ends(listener: &TcpListener, address: SocketAddr) -> (TcpStream, TcpStream) {
    let client = TcpStream::connect(address).expect("it listens");
    (client, listener.accept().expect("it connected").0)
}

/// Both ends transfer so many bytes.
fn exchange(client: &mut TcpStream, server: &mut TcpStream, asked: usize, answered: usize) {
    client.write_all(&vec![1; asked]).expect("room");
    server.read_exact(&mut vec![0; asked]).expect("all of it");
    server.write_all(&vec![2; answered]).expect("room");
    client
        .read_exact(&mut vec![0; answered])
        .expect("all of it");
}

#[test]
fn both_ends_of_a_connection_have_its_bytes_while_it_is_open_and_once_it_is_over() {
    let Some(mut flow) = loaded() else { return };
    let (listener, address) = listener();
    let (mut client, mut server) = ends(&listener, address);
    exchange(&mut client, &mut server, 10_000, 3_000);
    let asks = at_port(&mut flow, TCP, CLIENT, address.port());
    let serves = at_port(&mut flow, TCP, SERVER, address.port());
    assert_eq!(
        (bytes(&asks), bytes(&serves)),
        ((10_000, 3_000), (3_000, 10_000))
    );
    assert_eq!(flow.sockets(&serves), (1, 1));
    for account in [&asks, &serves] {
        assert_eq!((account.sockets, account.open), (1, 1));
        assert_eq!((account.opened, account.closed), (1, 0));
        assert_eq!(account.key.peer[..4], [127, 0, 0, 1]);
        assert!(account.rtts > 0 && account.rtt_ns > 0);
    }
    assert!(asks.connects == 1 && asks.connect_ns > 0);

    exchange(&mut client, &mut server, 1, 2);
    drop(client);
    assert_eq!(server.read(&mut [0; 1]).expect("its end"), 0);
    drop(server);
    let asks = at_port(&mut flow, TCP, CLIENT, address.port());
    let serves = at_port(&mut flow, TCP, SERVER, address.port());
    assert_eq!(
        (bytes(&asks), bytes(&serves)),
        ((10_001, 3_002), (3_002, 10_001))
    );
    for account in [&asks, &serves] {
        assert_eq!((account.opened, account.closed, account.reset), (1, 1, 0));
    }
    assert_eq!(flow.unplaced(), 0);
}

#[test]
fn short_connections_between_two_readings_are_all_counted() {
    const COUNT: u64 = 300;
    let Some(mut flow) = loaded() else { return };
    let (listener, address) = listener();
    for _ in 0..COUNT {
        let (mut client, mut server) = ends(&listener, address);
        exchange(&mut client, &mut server, 70, 5_000);
        drop((client, server));
    }
    let asks = at_port(&mut flow, TCP, CLIENT, address.port());
    let serves = at_port(&mut flow, TCP, SERVER, address.port());
    assert_eq!(bytes(&asks), (COUNT * 70, COUNT * 5_000));
    assert_eq!(bytes(&serves), (COUNT * 5_000, COUNT * 70));
    assert_eq!((asks.opened, serves.opened), (COUNT, COUNT));
    assert_eq!((asks.closed, serves.closed), (COUNT, COUNT));
    assert_eq!(asks.connects, COUNT);
}

#[test]
fn what_a_connection_transferred_before_is_not_counted() {
    let (listener, address) = listener();
    let (mut client, mut server) = ends(&listener, address);
    exchange(&mut client, &mut server, 5_000, 5_000);
    let Some(mut flow) = loaded() else { return };
    exchange(&mut client, &mut server, 20, 30);
    let asks = at_port(&mut flow, TCP, CLIENT, address.port());
    let serves = at_port(&mut flow, TCP, SERVER, address.port());
    assert_eq!((bytes(&asks), bytes(&serves)), ((20, 30), (30, 20)));
    assert_eq!((asks.opened, serves.opened), (0, 0));
    assert_eq!(flow.sockets(&serves), (1, 1));
}

#[test]
fn refused_and_reset_connections_are_told_apart() {
    let Some(mut flow) = loaded() else { return };
    let (closed, refuses) = listener();
    drop(closed);
    for _ in 0..3 {
        let refused = TcpStream::connect(refuses).expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }
    let asks = at_port(&mut flow, TCP, CLIENT, refuses.port());
    assert_eq!((asks.refused, asks.opened, asks.failed), (3, 0, 0));

    let (listener, address) = listener();
    let (mut client, server) = ends(&listener, address);
    client.write_all(b"unread").expect("room");
    // Whoever closes with something unread resets the connection.
    drop(server);
    let reset = client.read(&mut [0; 1]).expect_err("it is reset");
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    let asks = at_port(&mut flow, TCP, CLIENT, address.port());
    assert_eq!(
        (asks.refused, asks.opened, asks.closed, asks.reset),
        (0, 1, 1, 1)
    );
}

#[test]
fn who_may_not_ask_is_told_from_who_asks_and_from_who_says_nothing() {
    let Some(mut flow) = loaded() else { return };
    let (listener, address) = listener();
    let (mut client, mut server) = ends(&listener, address);
    exchange(&mut client, &mut server, 3, 5);
    drop((client, server));
    drop(ends(&listener, address));
    let (mut client, mut server) = ends(&listener, address);
    server.write_all(b"too many").expect("room");
    drop(server);
    let said = client.read_to_end(&mut Vec::new()).expect("its word");
    drop(client);
    let asks = at_port(&mut flow, TCP, CLIENT, address.port());
    let serves = at_port(&mut flow, TCP, SERVER, address.port());
    assert_eq!(said, 8);
    assert_eq!((asks.closed, asks.turned_away), (3, 1));
    assert_eq!((serves.closed, serves.turned_away), (3, 0));
}

#[test]
fn datagrams_are_counted_one_by_one() {
    let Some(mut flow) = loaded() else { return };
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let chosen = server.local_addr().expect("it is bound").port();
    drop(server);
    // A port that is asked for, as servers do.
    let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, chosen)).expect("it was free");
    let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    client
        .connect((Ipv4Addr::LOCALHOST, chosen))
        .expect("an address");
    for _ in 0..50 {
        client.send(&[1; 100]).expect("room");
        let (_, from) = server.recv_from(&mut [0; 200]).expect("it was sent");
        server.send_to(&[2; 30], from).expect("room");
        client.recv(&mut [0; 200]).expect("it was sent");
    }
    let asks = at_port(&mut flow, UDP, CLIENT, chosen);
    let serves = at_port(&mut flow, UDP, SERVER, chosen);
    assert_eq!(
        (bytes(&asks), bytes(&serves)),
        ((5_000, 1_500), (1_500, 5_000))
    );
    assert_eq!((asks.sends, asks.receives), (50, 50));
    assert_eq!((serves.sends, serves.receives), (50, 50));
    assert_eq!(asks.key.peer[..4], [127, 0, 0, 1]);
    assert_eq!(serves.key.family, 0, "from anybody");
}

#[test]
fn unix_sockets_are_told_by_their_path() {
    let Some(mut flow) = loaded() else { return };
    let name = format!("stallscope-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("a name");
    let listener = UnixListener::bind_addr(&address).expect("nobody has it");
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut client = UnixStream::connect_addr(&address).expect("it listens");
        let (mut server, _) = listener.accept().expect("it connected");
        client.write_all(&[1; 300]).expect("room");
        server.read_exact(&mut [0; 300]).expect("all of it");
        server.write_all(&[2; 7]).expect("room");
        client.read_exact(&mut [0; 7]).expect("all of it");
        clients.push((client, server));
    }
    let abstract_name = [&[0], name.as_bytes()].concat();
    let is_it = |_: &Account, names: &Names| names.path == abstract_name;
    let asks = find(&mut flow, UNIX, CLIENT, is_it).expect("it was counted");
    let serves = find(&mut flow, UNIX, SERVER, is_it).expect("it was counted");
    assert_eq!((bytes(&asks), bytes(&serves)), ((1_200, 28), (28, 1_200)));
    assert_eq!((asks.opened, serves.opened), (4, 4));
    assert_eq!(flow.sockets(&serves), (4, 4));
    drop(clients);
    let serves = find(&mut flow, UNIX, SERVER, is_it).expect("it stays");
    assert_eq!(flow.sockets(&serves), (0, 0));
}

#[test]
fn a_flow_that_is_given_back_begins_anew() {
    let Some(mut flow) = loaded() else { return };
    let (listener, address) = listener();
    let once = |flow: &mut Flow| {
        let (mut client, mut server) = ends(&listener, address);
        exchange(&mut client, &mut server, 10, 10);
        drop((client, server));
        at_port(flow, TCP, CLIENT, address.port())
    };
    let first = once(&mut flow);
    let place = (1..=MOST_ACCOUNTS).find(|it| {
        flow.account(*it)
            .is_some_and(|it| it.key.port == address.port() && it.key.side == CLIENT)
    });
    let place = place.expect("it has one");
    flow.forget(&first).expect("it is known");
    flow.free(place).expect("there is room");
    assert!(flow.account(place).is_none());
    assert_eq!(bytes(&once(&mut flow)), (10, 10));
}

#[test]
fn names_end_where_the_kernel_ends_them() {
    let mut value = [0; 128];
    value[..4].copy_from_slice(b"psql");
    value[16..24].copy_from_slice(b"\0postgre");
    let names = Names::of(&value);
    assert_eq!(
        (&*names.process, &*names.path),
        (&b"psql"[..], &b"\0postgre"[..])
    );
    assert_eq!(Names::of(&[]), Names::default());
}
