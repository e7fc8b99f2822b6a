//! Long requests are timed whether they are in the sample or not, and requests under way are seen.

use super::*;

/// More than REQUESTS_LONG_NS and two ticks of the kernel's.
const LONG: Duration = Duration::from_millis(70);
/// The kernel's tick at its longest.
const TICK: Duration = Duration::from_millis(10);

fn long_ones<T: Ends>(side: Side) {
    let Some((mut requests, _alone)) = loaded(side) else {
        return;
    };
    // None is drawn, and replies are not seen to be received.
    requests.time(0.0);
    requests.detach_timing();
    let (mut server, mut client) = T::both();
    exchange(&mut server, &mut client, PAUSE);
    let before = total(&requests);
    let mut most = Duration::ZERO;
    for takes in [PAUSE, LONG, PAUSE, LONG] {
        let began = Instant::now();
        exchange(&mut server, &mut client, takes);
        most += began.elapsed();
        // Time between requests belongs to none.
        std::thread::sleep(LONG);
    }
    // The last one is over when the client asks again.
    exchange(&mut server, &mut client, PAUSE);
    let now = total(&requests);
    assert!(now.requests - before.requests >= 4, "{}", now.requests);
    assert_eq!(timed(&now) - timed(&before), 2);
    let took = Duration::from_nanos(now.long_ns - before.long_ns);
    assert_eq!(now.ns - before.ns, now.long_ns - before.long_ns);
    assert!(
        took + 2 * TICK >= 2 * LONG && took <= most + 2 * TICK,
        "{took:?} of at most {most:?}"
    );
}

#[test]
fn long_requests_are_timed_that_were_not_drawn() {
    for side in [Side::Server, Side::Client] {
        long_ones::<TcpStream>(side);
        long_ones::<UnixStream>(side);
    }
}

fn under_way<T: Ends>(side: Side) {
    let Some((mut requests, _alone)) = loaded(side) else {
        return;
    };
    requests.detach_timing();
    let (mut server, mut client) = T::both();
    exchange(&mut server, &mut client, PAUSE);
    exchange(&mut server, &mut client, PAUSE);
    let mut open = || {
        assert!(requests.look_at_open(), "this kernel walks connections");
        let own = (0..CONNECTIONS).map(|it| requests.open_of_connection(it));
        own.chain([requests.open_of_service(0)])
            .fold((0, 0), |sum, it| (sum.0 + it.requests, sum.1 + it.long_ns))
    };
    assert_eq!(open(), (0, 0));
    let asked = Instant::now();
    client.give(&[0; 100]);
    std::thread::sleep(LONG);
    let (count, age) = open();
    let age = Duration::from_nanos(age);
    assert_eq!(count, 1);
    assert!(
        age + TICK >= LONG && age <= asked.elapsed() + TICK,
        "{age:?}"
    );
    server.get(100);
    assert_eq!(open().0, 1, "it is read and not answered");
    server.give(&[0; 2_000]);
    assert_eq!(open(), (0, 0));
    client.get(2_000);
    assert_eq!(open(), (0, 0));
}

#[test]
fn requests_under_way_are_seen() {
    for side in [Side::Server, Side::Client] {
        under_way::<TcpStream>(side);
        under_way::<UnixStream>(side);
    }
}
