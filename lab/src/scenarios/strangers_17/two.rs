//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{APACHE, JAVA, NODE, PYTHON, missing};
use super::{cause, fifteenth, servers, thirteenth};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Of a request. What one takes differs by ten times from hour to hour on the disk of a cloud, and the other cause takes as
/// long as all of them.
const SYNCS: u32 = 3;
const STEPS: &str = "3";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "apache-far-and-slow-service",
                "long way to the client and a slow service",
                "Four connections ask Apache, 3 ms away in each direction, for an answer of an application \
                 behind it that takes 6 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_slow_service,
        ),
        both(
            [
                "java-bank-and-ledger",
                "slow service and fsync",
                "Two connections ask a Java service, which asks a bank and then writes to its ledger in three \
                 steps, each of which a disk has to have that takes its time; the one takes as long as the \
                 other.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            bank_and_ledger,
        ),
        both(
            [
                "node-far-notes",
                "fsync and a long way to the client",
                "Two connections have a Node.js service in another region note something in three steps, each \
                 of which a disk has to have that takes its time; the way takes as long as that.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            far_notes,
        ),
    ]
}

/// From <https://www.ayushniroula.com.np/blog/case-study-regional-rollout-latency>, where interfaces were three times as slow
/// from other continents, by the way and by what each request asked for behind the server.
fn far_and_slow_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    thirteenth::far_and_slow(stage, cause, "6000", servers::apache_before)
}

/// From <https://www.lukretium.com/blog/third-party-api-that-went-slow-not-down>, where a checkout hung since a service of
/// somebody else's took long, and <https://postgresqlblog.com/posts/2026-01-05_Case-Study--How-a-7-Second-Disk-Latency-Caused-a-Database-Outage--Patroni---etcd--a1169f328616.html>,
/// where what had to be safe waited for the disk; a payment does both.
fn bank_and_ledger(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    fifteenth::slow_and_synced(stage, cause, SYNCS, |stage, bank, disk, word| {
        servers::writing(stage, bank, disk, [word, STEPS])
    })
}

/// From <https://siliconopera.com/cheaper-cloud-regions-are-often-more-expensive-in-practice/>, where a service had moved to a
/// cheaper region and its users were suddenly far away, and
/// <https://schema.ai/technologies/etcd/insights/disk-latency-throttling-etcd-performance>, where each write waits for a sync.
fn far_notes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    fifteenth::far_and_synced(stage, cause, SYNCS, |stage, disk, word| {
        servers::notes_for_all(stage, disk, [word, STEPS])
    })
}
