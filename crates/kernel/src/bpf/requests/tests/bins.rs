//! Answers in bins of 20 ms.

use super::*;
use crate::clock::boottime;
use model::Timestamp;

#[test]
fn bins_of_20_ms_have_the_requests_that_were_answered_in_them() {
    let Some((mut requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let clock = ThreadTime::load(std::env::consts::ARCH).expect("requests load too");
    let ahead_ns = clock.ahead_ns();
    let (mut server, mut client) = TcpStream::both();
    let mut bins = Vec::new();
    let mut take = |requests: &mut Requests| {
        assert_eq!(
            requests.answered(ahead_ns, |at, count| bins.push((at, count))),
            0
        );
    };
    take(&mut requests);
    let mut answers = Vec::new();
    for round in 0..30 {
        // In bursts: some bins have none.
        for _ in 0..=round {
            client.give(b"asks");
            server.get(4);
            server.give(b"said");
            answers.push(boottime());
            client.get(4);
        }
        std::thread::sleep(Duration::from_millis(43));
        take(&mut requests);
    }
    std::thread::sleep(Duration::from_millis(100));
    take(&mut requests);
    let bin_ns = sensors::bins::BIN_NS.cast_signed();
    let counted: u64 = bins.iter().map(|it| it.1).sum();
    let follows = |it: &[(Timestamp, u64)]| it[1].0.ns_since(it[0].0) == bin_ns;
    assert!(bins.windows(2).all(follows));
    assert_eq!(counted, total(&requests).requests);
    assert_eq!(counted, answers.len() as u64);
    // The clock is read here when the server has the CPU again; there it is that of the last event or tick.
    for (from, count) in &bins {
        let near = answers.iter().filter(|at| {
            let after = at.ns_since(*from);
            (-1_000_000..bin_ns + 30_000_000).contains(&after)
        });
        assert!(*count <= near.count() as u64, "{count} at {from:?}");
    }
}
