//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{APACHE, JAVA, NODE, PYTHON, missing};
use super::{cause, fifteenth, servers, thirteenth};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Of a request. What one takes differs from hour to hour on the disk of a cloud, and the other cause takes as long.
const SYNCS: u32 = 3;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "apache-far-and-slow-application",
                "long way to the client and a slow service",
                "Four connections ask Apache, 3 ms away in each direction, for an answer of an application behind it that \
                 takes 6 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_slow_application,
        ),
        both(
            [
                "java-payment-and-log",
                "slow service and fsync",
                "Two connections pay at a service in Java, which asks the bank, and then notes three changes in its log of \
                 transactions and waits for each, on a disk that takes its time; the one takes as long as the other.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            payment_and_log,
        ),
        both(
            [
                "node-far-audit",
                "fsync and a long way to the client",
                "Two connections ask a service in Node.js, which notes each request in three lines of its audit and waits for \
                 each, on a disk that takes its time; the way there and back takes as long as that.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            far_audit,
        ),
    ]
}

/// From <https://httpd.apache.org/docs/2.4/mod/mod_proxy.html>, whose users ask why pages take long below a proxy, and
/// <https://repost.aws/knowledge-center/elb-latency-troubleshooting>: it is the network first, and then what the application
/// behind the proxy takes.
fn far_and_slow_application(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    thirteenth::far_and_slow(stage, cause, "6000", servers::apache_before)
}

/// From <https://www.lukretium.com/blog/third-party-api-that-went-slow-not-down>, where a service that takes the money was slow
/// and not down, and <https://www.netdata.cloud/guides/mysql/mysql-fsync-pressure-slow-commits/>, where each change waits for
/// the sync of a log with the CPUs idle.
fn payment_and_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    // Two connections have one log, and a change waits for the other one's at times.
    fifteenth::slow_and_synced(stage, cause, SYNCS + 1, |stage, service, disk, word| {
        servers::logging(stage, disk, [word, &SYNCS.to_string(), service])
    })
}

/// From <https://www.netdata.cloud/guides/cockroachdb/cockroachdb-wal-fsync-latency-high/>, where each write waits for the sync
/// of a log, and <https://notjustapm.dev/case-studies/microservices-latency-audit>, where what no service had spent was the way
/// between them: who writes from another region has both.
fn far_audit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    fifteenth::far_and_synced(stage, cause, SYNCS, servers::audit_for_all)
}
