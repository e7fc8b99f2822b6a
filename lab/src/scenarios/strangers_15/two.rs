//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{LIGHTTPD, NODE, PERL, PYTHON, missing};
use super::{cause, servers, thirteenth};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Of a request. What one takes differs by ten times from hour to hour on the disk of a cloud, and the other cause takes as
/// long as all of them.
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
                "node-checkout",
                "slow service and fsync",
                "Two connections check out at a shop in Node.js, which asks the service that takes the money, \
                 and then writes the three lines of the order to a file and waits for each, on a disk that \
                 takes its time; the one takes as long as the other.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            checkout,
        ),
        both(
            [
                "lighttpd-far-and-slow-backend",
                "long way to the client and a slow service",
                "Four connections ask lighttpd, 3 ms away in each direction, for an answer of a service \
                 behind it that takes 6 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_slow_backend,
        ),
        both(
            [
                "perl-far-journal",
                "fsync and a long way to the client",
                "Two connections have a service in Perl note something in three steps in a journal, which it syncs \
                 each time, on a disk that takes its time; the way there and back takes as long as that.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            far_journal,
        ),
    ]
}

/// From <https://www.lukretium.com/blog/third-party-api-that-went-slow-not-down>, where a checkout hung since the service that
/// takes the money took long, and <https://access.redhat.com/node/6970109>, which asks whether the disk below keeps up with the
/// syncs of what must not be lost.
fn checkout(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    servers::slow_and_synced(stage, cause, SYNCS, servers::checking_out)
}

/// From <https://repost.aws/knowledge-center/elb-latency-troubleshooting>: what a load balancer is slow by is the network first,
/// and then what the servers behind it wait for; its metrics tell the one from the other.
fn far_and_slow_backend(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    thirteenth::far_and_slow(stage, cause, "6000", servers::lighttpd_before)
}

/// From <https://www.netdata.cloud/guides/cockroachdb/cockroachdb-wal-fsync-latency-high/>, where each write waits for the sync
/// of a log, and <https://notjustapm.dev/case-studies/microservices-latency-audit>, where what no service had spent was the way
/// between them: writes to another region have both.
fn far_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL]) {
        return Ok(SetUp::NotHere(why));
    }
    servers::far_and_synced(stage, cause, SYNCS, servers::journal_for_all)
}
