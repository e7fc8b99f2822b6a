//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{HAPROXY, PYTHON, missing};
use super::{cause, downstream, far, ninth, servers, thirteenth, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "apache-payment-and-order",
                "slow service and fsync",
                "Two connections give an order to a page in PHP below Apache, which asks the service \
                 that takes the money, for 5 ms, and then writes order and invoice to a file and \
                 waits for each, on a disk that takes its time.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            payment_and_order,
        ),
        both(
            [
                "python-far-sqlite",
                "fsync and a long way to the client",
                "Two connections change a row in a web application in Python, 1 ms away in each \
                 direction, which keeps its data in SQLite, on a disk that takes its time.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            far_sqlite,
        ),
        both(
            [
                "haproxy-far-and-slow-service",
                "long way to the client and a slow service",
                "Four connections ask HAProxy, 3 ms away in each direction, for an answer of a service \
                 that takes 6 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_slow_service,
        ),
    ]
}

/// From <https://dev.to/nostop8/optimizing-performance-of-php-app-that-sends-an-external-request-291p>, where a call of
/// another service with each request was most of the time of a page in PHP, beside what it wrote to its database, and
/// <https://www.sitepoint.com/speed-apps-api-consumption/>.
fn payment_and_order(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = ninth::missing_php(&[]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let (sleep_us, syncs) = match cause {
        Cause::Made => (5_000, "yes"),
        Cause::Removed => (0, "no"),
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let page = ["order.php", include_str!("../../../programs/order.php")];
    let orders = format!("\"{address} {} {syncs}\"", disk.display());
    let (pid, port) = ninth::apache_with_php(stage, page, ["ORDERS", &orders])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/order.php"];
    // The service was started before it.
    unknown(stage, &[&words[..], &["--connections", "2"]].concat())?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://stackoverflow.com/questions/1711631> (improve insert-per-second performance of SQLite) and
/// zhaofengli/attic#113, where SQLite was slow until nobody waited for its syncs; the way to where the application runs
/// comes on top of that.
fn far_sqlite(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let safety = match cause {
        Cause::Made => "full",
        Cause::Removed => "off",
    };
    let python = servers::tenants_for_all(stage, &disk, safety)?;
    let (server, address) = match far(stage, &python, cause, 1)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

/// From <https://drdroid.io/stack-diagnosis/haproxy-high-latency>, which names the way and slow servers behind it as what
/// makes HAProxy look slow; which of the two it is is what its times (`Tr` against the client's) are asked about in
/// <https://serverdevworker.com/71114ba6c>.
fn far_and_slow_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    thirteenth::far_and_slow(stage, cause, "6000", servers::haproxy_for_all)
}
