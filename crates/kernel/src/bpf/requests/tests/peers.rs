//! Whom a process that is measured itself asks: its calls, by peer.

use std::net::UdpSocket;

use sensors::request::FIRST_LONG;

use super::*;

/// What this process asked each peer so far.
fn peers(requests: &Requests) -> Vec<(Peer, Account)> {
    (0..PEERS).filter_map(|it| requests.peer(it)).collect()
}

/// The peer at a port, and the calls there.
fn at(requests: &Requests, port: u16) -> (Peer, Account) {
    let mut all = peers(requests).into_iter();
    let found = all.find(|(peer, _)| peer.port == port);
    found.unwrap_or_else(|| panic!("{port} of {:?}", peers(requests)))
}

#[test]
fn what_a_server_waits_for_a_peer_is_the_peers() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let (mut slow_server, mut slow) = TcpStream::both();
    let (mut fast_server, mut fast) = TcpStream::both();
    let [slow_port, fast_port] =
        [&slow, &fast].map(|it| it.peer_addr().expect("it is connected").port());
    let mut ended = Duration::ZERO;
    for _ in 0..3 {
        let began = Instant::now();
        exchange(&mut slow_server, &mut slow, PAUSE);
        ended += began.elapsed();
        exchange(&mut fast_server, &mut fast, Duration::ZERO);
        // What a pool keeps open and nobody uses is no call.
        std::thread::sleep(5 * PAUSE);
    }
    // The last one is over when its connection asks again, or ends.
    slow.give(&[0]);
    drop(fast);
    let (peer, account) = at(&requests, slow_port);
    assert_eq!((peer.service, peer.family), (0, 2));
    assert_eq!(peer.address[..4], [127, 0, 0, 1]);
    assert!(!peer.by_datagrams);
    assert_eq!((account.requests, timed(&account)), (3, 3));
    let took = Duration::from_nanos(account.ns + account.long_ns);
    assert!(took >= 3 * PAUSE && took <= ended, "{took:?} of {ended:?}");
    let (fast, account) = at(&requests, fast_port);
    assert_eq!(account.requests, 3);
    // The way is a part of a call. How long it is, the connection's end shows.
    let rtt = Duration::from_nanos(fast.rtt_ns.expect("its connection has ended"));
    assert!(rtt <= ended, "{rtt:?} of {ended:?}");
    assert_eq!(peer.rtt_ns, None);
}

#[test]
fn how_long_an_answer_lies_unread_is_told_apart() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let (mut server, mut client) = TcpStream::both();
    let port = client.peer_addr().expect("it is connected").port();
    for _ in 0..3 {
        client.give(&[0; 100]);
        server.get(100);
        std::thread::sleep(PAUSE);
        server.give(&[0; 2_000]);
        // Busy with something else.
        std::thread::sleep(5 * PAUSE);
        client.get(2_000);
    }
    client.give(&[0]);
    let (_, account) = at(&requests, port);
    let short: u64 = account.timed_by_bucket[..FIRST_LONG].iter().sum();
    // On a slow machine some are long ones.
    let least = |each: Duration| short * each.as_nanos() as u64;
    let unread_ns = account.unread_ns;
    assert!(
        unread_ns >= least(5 * PAUSE),
        "{unread_ns} ns of {short} calls"
    );
    let answered_ns = account.ns - unread_ns;
    assert!(
        answered_ns >= least(PAUSE),
        "{answered_ns} ns of {short} calls"
    );
}

#[test]
fn a_peer_over_a_unix_socket_is_known_by_its_process() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let (mut server, mut client) = UnixStream::both();
    (0..4).for_each(|_| exchange(&mut server, &mut client, PAUSE));
    let (peer, account) = at(&requests, 0);
    assert_eq!((peer.family, peer.process), (1, Some(std::process::id())));
    assert_eq!(account.requests, 3);
}

#[test]
fn one_call_by_each_connection_over_a_unix_socket_counts_as_its_answer_comes() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let mut ended = Duration::ZERO;
    for _ in 0..4 {
        let (mut server, mut client) = UnixStream::both();
        let began = Instant::now();
        client.give(&[0]);
        server.get(1);
        std::thread::sleep(PAUSE);
        // It comes in two pieces.
        server.give(&[0]);
        std::thread::sleep(PAUSE);
        server.give(&[0]);
        client.get(2);
        ended += began.elapsed();
    }
    let (_, account) = at(&requests, 0);
    assert_eq!((account.requests, timed(&account)), (4, 4));
    let took = Duration::from_nanos(account.ns + account.long_ns);
    assert!(
        took >= 4 * 2 * PAUSE && took <= ended,
        "{took:?} of {ended:?}"
    );
}

#[test]
fn the_process_at_a_peers_address_is_found_by_its_connections_and_its_listening_socket() {
    let Some((mut requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let own = Some(std::process::id());
    // IPv6 as well, and IPv4 that the other end takes for IPv6.
    for (listens, port_of) in [
        ("127.0.0.1:0", "127.0.0.1"),
        ("[::1]:0", "::1"),
        ("[::]:0", "127.0.0.1"),
    ] {
        let listener = TcpListener::bind(listens).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let mut client = TcpStream::connect((port_of, port)).expect("it listens");
        client.give(b"x");
        assert_eq!(at(&requests, port).0.process, None, "not looked for yet");
        assert!(requests.look_at_open(), "this kernel walks connections");
        assert_eq!(at(&requests, port).0.process, own, "{listens}");
    }
}

#[test]
fn a_lookup_of_a_name_by_udp_is_a_call() {
    let Some((mut requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let Ok(names) = UdpSocket::bind("127.0.53.7:53") else {
        println!("SKIPPED: port 53 of 127.0.53.7 cannot be had: run as root");
        return;
    };
    let resolver = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    resolver.connect("127.0.53.7:53").expect("UDP connects");
    let answer = || {
        let (_, from) = names.recv_from(&mut [0; 16]).expect("it was asked");
        names.send_to(b"at 1", from).expect("it has asked");
        resolver.recv(&mut [0; 16]).expect("it was answered");
    };
    let mut ended = Duration::ZERO;
    for _ in 0..3 {
        let began = Instant::now();
        resolver.send(b"where is a").expect("it is connected");
        std::thread::sleep(PAUSE);
        answer();
        ended += began.elapsed();
        std::thread::sleep(5 * PAUSE);
    }
    let (peer, account) = at(&requests, 53);
    assert!(peer.by_datagrams);
    assert_eq!((account.requests, timed(&account)), (3, 3));
    let took = Duration::from_nanos(account.ns + account.long_ns);
    assert!(took >= 3 * PAUSE && took <= ended, "{took:?} of {ended:?}");
    assert!(requests.look_at_open(), "this kernel walks connections");
    assert_eq!(at(&requests, 53).0.process, Some(std::process::id()));
    // Both kinds of address are asked for at once, and their caller waits for both.
    (0..2).for_each(|_| _ = resolver.send(b"where is b").expect("it is connected"));
    (0..2).for_each(|_| answer());
    let (_, both) = at(&requests, 53);
    assert_eq!((both.requests, timed(&both)), (4, 4));
}

#[test]
fn lookups_are_counted_where_no_answer_is_seen() {
    let Some((mut requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let Ok(names) = UdpSocket::bind("127.0.53.8:53") else {
        println!("SKIPPED: port 53 of 127.0.53.8 cannot be had: run as root");
        return;
    };
    requests.detach_timing();
    let resolver = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    resolver.connect("127.0.53.8:53").expect("UDP connects");
    for _ in 0..3 {
        resolver.send(b"where is a").expect("it is connected");
        // More than two of the kernel's ticks at their longest.
        std::thread::sleep(Duration::from_millis(25));
    }
    drop(names);
    let (_, account) = at(&requests, 53);
    assert_eq!((account.requests, timed(&account)), (3, 0));
}

#[test]
fn a_generator_has_no_peers_and_its_lookups_are_no_requests() {
    let Some((requests, _alone)) = loaded(Side::Client) else {
        return;
    };
    let (mut server, mut client) = TcpStream::both();
    (0..2).for_each(|_| exchange(&mut server, &mut client, PAUSE));
    let resolver = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    resolver.connect("127.0.53.9:53").expect("UDP connects");
    let _ = resolver.send(b"where is a");
    assert_eq!(peers(&requests).len(), 0);
    assert_eq!(total(&requests).requests, 1);
}

#[test]
fn calls_to_more_peers_than_there_is_room_for_are_told_of() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    assert_eq!(requests.peers_met(), 0);
    let ends: Vec<_> = (0..PEERS + 2).map(|_| TcpStream::both()).collect();
    for (mut server, mut client) in ends {
        exchange(&mut server, &mut client, Duration::ZERO);
    }
    assert_eq!(peers(&requests).len(), PEERS);
    assert_eq!(requests.peers_met(), PEERS as u64 + 2);
}
