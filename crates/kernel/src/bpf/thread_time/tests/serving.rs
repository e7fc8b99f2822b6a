//! Sleeps inside and outside of requests, of threads that answer what they read and of one that answers for another.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use super::*;
use crate::bpf::requests::{Requests, Side};

const ROUNDS: u32 = 20;
const INSIDE: Duration = Duration::from_millis(5);
const OUTSIDE: Duration = Duration::from_millis(3);

/// Both ends of a connection, the server's first.
fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let client = TcpStream::connect(address).expect("it listens");
    (listener.accept().expect("one has come").0, client)
}

fn own_tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Both programs, with this process as their target.
fn both() -> Option<(ThreadTime, Requests, [MutexGuard<'static, ()>; 2])> {
    let (mut thread_time, alone) = loaded()?;
    let answering = crate::bpf::answering();
    let requests = needed(
        "request times",
        Requests::load_beside(Some(&thread_time), None),
    );
    let mut requests = requests?;
    let assigned = requests.assign(std::process::id(), Some(Side::Server), 0);
    assigned.expect("there is room for one");
    thread_time.see_reads(1);
    requests.see_reads(1);
    as_target(&mut thread_time, std::process::id());
    Some((thread_time, requests, [alone, answering]))
}

fn ask(client: &mut TcpStream) {
    client.write_all(b"question").expect("it is there");
    client.read_exact(&mut [0; 6]).expect("it answers");
}

#[test]
fn a_thread_sleeps_inside_of_requests_that_it_answers_and_outside_between_them() {
    let Some((mut thread_time, _requests, _alone)) = both() else {
        return;
    };
    let (mut server, mut client) = connection();
    let (said, tid) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            said.send(own_tid()).expect("it is waited for");
            for _ in 0..ROUNDS {
                server.read_exact(&mut [0; 8]).expect("it asks");
                std::thread::sleep(INSIDE);
                server.write_all(b"answer").expect("it is there");
                std::thread::sleep(OUTSIDE);
            }
            // Alive until it has been read.
            let _ = ended.recv();
        });
        let tid = tid.recv().expect("it says so");
        (0..ROUNDS).for_each(|_| ask(&mut client));
        std::thread::sleep(4 * OUTSIDE);
        let account = read(&mut thread_time, tid).account;
        drop(end);
        println!("{:?} {:?}", account.inside_ns, account.outside_ns);
        // The thread may be asleep for the first time before it is known to be the target's.
        let all = u64::from(ROUNDS - 1) * INSIDE.as_nanos() as u64;
        let between = u64::from(ROUNDS - 1) * OUTSIDE.as_nanos() as u64;
        let [_, input, sleep] = account.inside_ns;
        assert!(sleep >= all, "{sleep} ns");
        assert_eq!(input, 0, "it reads only what it is asked");
        let [_, _, sleep] = account.outside_ns;
        assert!(sleep >= between, "{sleep} ns");
        let counts = (account.answered, account.answered_for_others);
        assert_eq!(counts, (u64::from(ROUNDS), 0));
    });
}

#[test]
fn who_says_good_bye_leaves_nobody_inside_of_a_request() {
    let Some((mut thread_time, _requests, _alone)) = both() else {
        return;
    };
    let (said, tid) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let connections: Vec<_> = (0..ROUNDS).map(|_| connection()).collect();
    let (servers, clients): (Vec<_>, Vec<_>) = connections.into_iter().unzip();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            said.send(own_tid()).expect("it is waited for");
            for mut server in servers {
                server.read_exact(&mut [0; 8]).expect("it asks");
                // As of MariaDB's COM_QUIT: no answer, and the end of the connection.
                drop(server);
                std::thread::sleep(OUTSIDE);
            }
            let _ = ended.recv();
        });
        let tid = tid.recv().expect("it says so");
        for mut client in clients {
            client.write_all(b"question").expect("it is there");
            let _ = client.read(&mut [0]);
        }
        std::thread::sleep(4 * OUTSIDE);
        let account = read(&mut thread_time, tid).account;
        drop(end);
        println!("{:?} {:?}", account.inside_ns, account.outside_ns);
        let [_, _, inside] = account.inside_ns;
        let [_, _, outside] = account.outside_ns;
        assert_eq!(inside, 0, "it was over");
        let between = u64::from(ROUNDS - 1) * OUTSIDE.as_nanos() as u64;
        assert!(outside >= between, "{outside} ns");
    });
}

#[test]
fn a_thread_that_answers_what_another_read_is_inside_of_none() {
    let Some((mut thread_time, _requests, _alone)) = both() else {
        return;
    };
    let (mut server, mut client) = connection();
    let mut answering = server.try_clone().expect("a descriptor");
    let (said, tid) = mpsc::channel();
    let (give, given) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            said.send(own_tid()).expect("it is waited for");
            while given.recv().is_ok() {
                answering.write_all(b"answer").expect("it is there");
            }
        });
        let tid = tid.recv().expect("it says so");
        for _ in 0..ROUNDS {
            client.write_all(b"question").expect("it is there");
            server.read_exact(&mut [0; 8]).expect("it asks");
            give.send(()).expect("it is there");
            client.read_exact(&mut [0; 6]).expect("it answers");
        }
        // Asleep in futex, for the next one.
        std::thread::sleep(Duration::from_millis(50));
        let account = read(&mut thread_time, tid).account;
        drop(give);
        println!("{:?} {:?}", account.inside_ns, account.outside_ns);
        assert_eq!(account.inside_ns, [0; 3]);
        assert!(account.outside_ns[0] > 0, "{:?}", account.outside_ns);
        // Of the first nobody knows who read it.
        let counts = (account.answered, account.answered_for_others);
        assert_eq!(counts, (0, u64::from(ROUNDS - 1)));
    });
}

#[test]
fn nothing_is_told_while_reads_are_not_seen() {
    let Some((mut thread_time, mut requests, _alone)) = both() else {
        return;
    };
    let (mut server, mut client) = connection();
    // It reads a request while that is seen. Once reads were not seen for a while, nobody knows whether it is inside one
    // until it answers or reads the next.
    client.write_all(b"question").expect("it is there");
    server.read_exact(&mut [0; 8]).expect("it asks");
    let slept = |thread_time: &mut ThreadTime| {
        let before = read(thread_time, own_tid()).account;
        std::thread::sleep(INSIDE);
        let after = read(thread_time, own_tid()).account;
        let grown = |a: [u64; 3], b: [u64; 3]| b.iter().sum::<u64>() - a.iter().sum::<u64>();
        (
            grown(before.inside_ns, after.inside_ns) > 0,
            grown(before.outside_ns, after.outside_ns) > 0,
        )
    };
    assert_eq!(slept(&mut thread_time), (true, false));
    thread_time.see_reads(0);
    requests.see_reads(0);
    assert_eq!(slept(&mut thread_time), (false, false));
    thread_time.see_reads(2);
    requests.see_reads(2);
    assert_eq!(slept(&mut thread_time), (false, false));
    server.write_all(b"answer").expect("it is there");
    assert_eq!(slept(&mut thread_time), (false, true));
    let account = read(&mut thread_time, own_tid()).account;
    assert_eq!((account.answered, account.answered_for_others), (0, 0));
}
