//! A server and its clients in this process, that know by their own clocks how long each request took.

mod bins;
mod contacts;
mod long;
mod noticed_late;
mod one;
mod peers;
mod resp;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use super::*;
use crate::requirement::needed;

/// The programs, with this process in a part.
fn loaded(side: Side) -> Option<(Requests, MutexGuard<'static, ()>)> {
    let alone = crate::bpf::answering();
    let mut requests = needed("request times", Requests::load())?;
    let own = requests.assign(std::process::id(), Some(side), 0);
    own.expect("there is room for one");
    Some((requests, alone))
}

/// All accounts together.
fn total(requests: &Requests) -> Account {
    let services = (0..SERVICES).filter_map(|it| requests.service(it));
    let connections = (0..CONNECTIONS).filter_map(|it| requests.connection(it));
    let mut sum = Account::default();
    for account in services.chain(connections.map(|(_, account)| account)) {
        sum.requests += account.requests;
        sum.pipelined += account.pipelined;
        sum.unsolicited += account.unsolicited;
        sum.between_ns += account.between_ns;
        // However slow the machine is: a request may take long here.
        sum.ns += account.ns + account.long_ns;
        sum.long_ns += account.long_ns;
        for (to, count) in sum.timed_by_bucket.iter_mut().zip(account.timed_by_bucket) {
            *to += count;
        }
    }
    sum
}

fn timed(account: &Account) -> u64 {
    account.timed_by_bucket.iter().sum()
}

/// Both ends of a connection, the server's first.
trait Ends {
    fn both() -> (Self, Self)
    where
        Self: Sized;
    fn give(&mut self, bytes: &[u8]);
    fn get(&mut self, bytes: usize);
    /// As event loops do: finds nothing.
    fn look(&mut self);
}

macro_rules! ends {
    ($stream:ty, $connected:expr) => {
        impl Ends for $stream {
            fn both() -> (Self, Self) {
                $connected
            }
            fn give(&mut self, bytes: &[u8]) {
                self.write_all(bytes).expect("the other end is there");
            }
            fn get(&mut self, bytes: usize) {
                self.read_exact(&mut vec![0; bytes])
                    .expect("the other end is there");
            }
            fn look(&mut self) {
                self.set_nonblocking(true).expect("it is a socket");
                let found = self.read(&mut [0]);
                assert_eq!(
                    found.expect_err("nothing is there").kind(),
                    ErrorKind::WouldBlock
                );
                self.set_nonblocking(false).expect("it is a socket");
            }
        }
    };
}

ends!(TcpStream, {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let client = TcpStream::connect(listener.local_addr().expect("an address"));
    let client = client.expect("it listens");
    client.set_nodelay(true).expect("it is TCP");
    (listener.accept().expect("one has come").0, client)
});

ends!(UnixStream, {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
    let client = UnixStream::connect(folder.path().join("socket")).expect("it listens");
    (listener.accept().expect("one has come").0, client)
});

const PAUSE: Duration = Duration::from_millis(2);

/// A request that takes the server so long.
fn exchange(server: &mut (impl Ends + ?Sized), client: &mut (impl Ends + ?Sized), takes: Duration) {
    client.give(&[0; 100]);
    server.get(100);
    std::thread::sleep(takes);
    server.give(&[0; 2_000]);
    server.look();
    client.get(2_000);
}

fn at_the_other_end<T: Ends>() {
    let Some((requests, _alone)) = loaded(Side::Client) else {
        return;
    };
    let (mut server, mut client) = T::both();
    let before = total(&requests);
    let mut ended = Duration::ZERO;
    for _ in 0..3 {
        let began = Instant::now();
        exchange(&mut server, &mut client, PAUSE);
        ended += began.elapsed();
        std::thread::sleep(5 * PAUSE);
    }
    // The last one is over when the client asks again.
    client.give(&[0]);
    let now = total(&requests);
    let took = Duration::from_nanos(now.ns - before.ns);
    assert_eq!(now.requests - before.requests, 3);
    assert_eq!(timed(&now) - timed(&before), 3);
    assert!(took >= 3 * PAUSE && took <= ended, "{took:?} of {ended:?}");
}

/// Between a reply and the next request a client does something else.
fn pauses<T: Ends>() {
    let Some((requests, _alone)) = loaded(Side::Client) else {
        return;
    };
    let (mut server, mut client) = T::both();
    let before = total(&requests);
    let began = Instant::now();
    for _ in 0..4 {
        exchange(&mut server, &mut client, 20 * PAUSE);
        std::thread::sleep(20 * PAUSE);
    }
    client.give(&[0]);
    let all = began.elapsed();
    let counted = Duration::from_nanos(total(&requests).between_ns - before.between_ns);
    // A tick more or less of each.
    let ticks = 4 * Duration::from_nanos(ns_per_jiffy());
    let pauses = 4 * 20 * PAUSE;
    assert!(counted + ticks >= pauses, "{counted:?} of {pauses:?}");
    // The other half of the time the client waited for its answer.
    assert!(counted <= all - pauses + ticks, "{counted:?} of {all:?}");
}

#[test]
fn a_clients_pauses_over_tcp_are_counted() {
    pauses::<TcpStream>();
}

#[test]
fn a_clients_pauses_over_a_unix_socket_are_counted() {
    pauses::<UnixStream>();
}

#[test]
fn a_generators_request_over_tcp_lasts_from_sending_it_to_the_last_byte_received() {
    at_the_other_end::<TcpStream>();
}

#[test]
fn a_generators_request_over_a_unix_socket_does_too() {
    at_the_other_end::<UnixStream>();
}

#[test]
fn a_request_that_comes_before_its_connection_is_accepted_has_waited_since_then() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let before = total(&requests);
    // Only by the first does anybody know that requests come to this port.
    let [first, second] = [(); 2].map(|()| {
        let mut client = TcpStream::connect(address).expect("it listens");
        let given = Instant::now();
        client.give(&[0; 9]);
        std::thread::sleep(10 * PAUSE);
        let accepted = Instant::now();
        let (mut server, _) = listener.accept().expect("one has come");
        server.get(9);
        server.give(&[0; 9]);
        // No look for another one: its end is the connection's.
        drop(server);
        client.get(9);
        (given.elapsed(), accepted.elapsed())
    });
    let now = total(&requests);
    let took = Duration::from_nanos(now.ns - before.ns);
    assert_eq!(now.requests - before.requests, 2);
    let longest = first.1 + second.0;
    assert!(
        took >= 10 * PAUSE && took <= longest,
        "{took:?} of {first:?}, {second:?}"
    );
}

#[test]
fn what_keeps_an_idle_connection_alive_is_no_request() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let (mut server, mut client) = TcpStream::both();
    for end in [&server, &client] {
        rustix::net::sockopt::set_tcp_keepidle(end, Duration::from_secs(1)).expect("it is TCP");
        rustix::net::sockopt::set_socket_keepalive(end, true).expect("it is a socket");
    }
    exchange(&mut server, &mut client, PAUSE);
    let before = total(&requests);
    std::thread::sleep(Duration::from_millis(1_300));
    let began = Instant::now();
    exchange(&mut server, &mut client, PAUSE);
    let longest = began.elapsed();
    let now = total(&requests);
    assert_eq!(now.requests - before.requests, 1);
    let took = Duration::from_nanos(now.ns - before.ns);
    assert!(took < longest, "{took:?} of {longest:?}");
}

#[test]
fn a_process_that_loses_its_role_is_no_longer_counted_on_its_connections() {
    let Some((mut requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let (mut server, mut client) = UnixStream::both();
    let mut then = |side: Option<Side>, counted: u64| {
        let assigned = requests.assign(std::process::id(), side, 0);
        assigned.expect("there is room for one");
        exchange(&mut server, &mut client, PAUSE);
        assert_eq!(total(&requests).requests, counted, "{side:?}");
    };
    then(Some(Side::Server), 1);
    then(Some(Side::Server), 2);
    then(None, 2);
    then(None, 2);
}

#[test]
fn connections_get_accounts_of_their_own_and_those_can_be_taken_back() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let (mut server, mut client) = TcpStream::both();
    let own = || (0..CONNECTIONS).find_map(|it| Some((it, requests.connection(it)?)));
    (0..40).for_each(|_| exchange(&mut server, &mut client, Duration::ZERO));
    let (place, (owner, account)) = own().expect("it has asked often enough");
    assert_eq!(owner.tgid, std::process::id());
    assert_eq!(owner.family, 2);
    assert_eq!(
        u32::from(server.local_addr().expect("an address").port()),
        owner.local_port
    );
    assert_eq!(
        u32::from(client.local_addr().expect("an address").port()),
        owner.peer_port
    );
    for address in [owner.local, owner.peer] {
        assert_eq!(address[..4], [127, 0, 0, 1]);
    }
    let service = requests.service(0).expect("there is one");
    assert_eq!(service.requests + account.requests, 40);
    requests.free(place).expect("it is there");
    // Another one takes its place; what was counted before stays there.
    let (mut other_server, mut other_client) = TcpStream::both();
    (0..40).for_each(|_| exchange(&mut other_server, &mut other_client, Duration::ZERO));
    let (_, (other, both)) = own().expect("it has asked often enough");
    assert_ne!(other.cookie, owner.cookie);
    assert!(both.requests > account.requests);
    assert_eq!(total(&requests).requests, 80);
}

/// Work of 50 us to 5 ms, more of it on one connection than on the others, so that whoever draws unfairly
/// is found out.
fn serve_unevenly(connections: u64, lasts: Duration) {
    let end = Instant::now() + lasts;
    std::thread::scope(|scope| {
        for number in 0..connections {
            scope.spawn(move || {
                let (mut server, mut client) = TcpStream::both();
                let mut lot = number;
                while Instant::now() < end {
                    lot = lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let us = if lot >> 60 == number {
                        2_000
                    } else {
                        50 + 100 * number
                    };
                    exchange(&mut server, &mut client, Duration::from_micros(us));
                }
            });
        }
    });
}

#[test]
fn timing_a_random_sample_keeps_the_distribution_of_requests() {
    let Some((all, _alone)) = loaded(Side::Server) else {
        return;
    };
    let mut some = Requests::load().expect("it was loaded a moment ago");
    some.assign(std::process::id(), Some(Side::Server), 0)
        .expect("there is room for one");
    some.time(0.2);
    serve_unevenly(6, Duration::from_secs(3));
    let [all, some] = [&all, &some].map(total);
    println!(
        "{} timed, and {} of {}",
        timed(&all),
        timed(&some),
        some.requests
    );
    assert_eq!(all.requests, some.requests, "all are counted");
    assert_eq!(timed(&all), all.requests);
    let part = timed(&some) as f64 / some.requests as f64;
    assert!((0.17..0.23).contains(&part), "{part}");
    // The largest distance of the two distributions (Kolmogorov-Smirnov): once in 100,000 times it is
    // larger by chance.
    let shares = |account: &Account| {
        let mut below = 0;
        account.timed_by_bucket.map(|count| {
            below += count;
            below as f64 / timed(account) as f64
        })
    };
    let both = shares(&all).into_iter().zip(shares(&some));
    let distance = both
        .map(|(all, some)| (all - some).abs())
        .fold(0.0, f64::max);
    let most = 2.5 / (timed(&some) as f64).sqrt();
    println!("at most {distance:.4} apart, {most:.4} allowed");
    assert!(distance < most, "{distance} and {most}");
}

/// How the hooks that only times need are left and taken.
struct Edges {
    end: fn(&mut Requests),
    begin: fn(&mut Requests),
}

const DETACHED: Edges = Edges {
    end: |requests| {
        requests.detach_timing();
        // The kernel does it within a grace period of RCU.
        std::thread::sleep(Duration::from_secs(2));
    },
    begin: |requests| while !requests.attach_timing().expect("the hooks are there") {},
};

/// As in that period.
const NOT_YET_DETACHED: Edges = Edges {
    end: |requests| requests.see_reads(0),
    begin: |requests| requests.see_reads(2),
};

/// Both ends in this process, of which one is measured, in an on-window, an off-window and an on-window.
fn counts_and_times<T: Ends>(side: Side, edges: &Edges) -> Option<Vec<[u64; 2]>> {
    let (mut requests, _alone) = loaded(side)?;
    let (mut server, mut client) = T::both();
    let before = total(&requests);
    let mut found = Vec::new();
    for attached in [true, false, true] {
        match attached {
            true => (edges.begin)(&mut requests),
            false => (edges.end)(&mut requests),
        }
        (0..5).for_each(|_| exchange(&mut server, &mut client, Duration::ZERO));
        let now = total(&requests);
        found.push([now.requests - before.requests, timed(&now) - timed(&before)]);
    }
    let after = total(&requests);
    assert_eq!((after.pipelined, after.unsolicited), (0, 0));
    Some(found)
}

#[test]
fn every_request_is_counted_in_off_windows_too_and_those_of_local_clients_are_timed() {
    for found in [
        counts_and_times::<TcpStream>(Side::Server, &DETACHED),
        counts_and_times::<UnixStream>(Side::Server, &DETACHED),
        counts_and_times::<TcpStream>(Side::Server, &NOT_YET_DETACHED),
    ] {
        let Some(found) = found else {
            return;
        };
        // What ends a request's time in an off-window is the next one.
        assert_eq!(found, [[5, 5], [10, 9], [15, 15]]);
    }
}

#[test]
fn the_generators_requests_are_counted_in_off_windows_and_timed_where_their_end_is_seen() {
    for found in [
        counts_and_times::<TcpStream>(Side::Client, &DETACHED),
        counts_and_times::<UnixStream>(Side::Client, &DETACHED),
        counts_and_times::<TcpStream>(Side::Client, &NOT_YET_DETACHED),
        counts_and_times::<UnixStream>(Side::Client, &NOT_YET_DETACHED),
    ] {
        let Some(found) = found else {
            return;
        };
        // Each is counted at the send that follows it, and the last of an on-window timed there.
        assert_eq!(found, [[4, 4], [9, 5], [14, 9]]);
    }
}
