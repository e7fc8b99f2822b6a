//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{APACHE, JAVA, NODE, PYTHON, missing};
use super::{cause, downstream, far, fifteenth, servers, thirteenth, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
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
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let sync = fifteenth::wear_in(stage, &disk)?;
    let (sleep_us, word) = match cause {
        Cause::Made => (u32::try_from((SYNCS * sync).as_micros())?, "sync"),
        Cause::Removed => (0, "later"),
    };
    let (bank, bank_address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{bank}@ {bank_address}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::writing(stage, &bank_address, &disk, [word, STEPS])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    // The bank was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://siliconopera.com/cheaper-cloud-regions-are-often-more-expensive-in-practice/>, where a service had moved to a
/// cheaper region and its users were suddenly far away, and
/// <https://schema.ai/technologies/etcd/insights/disk-latency-throttling-etcd-performance>, where each write waits for a sync.
fn far_notes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let sync = fifteenth::wear_in(stage, &disk)?;
    let one_way_ms = u32::try_from((SYNCS * sync / 2).as_millis())?.max(1);
    let word = match cause {
        Cause::Made => "sync",
        Cause::Removed => "later",
    };
    let node = servers::notes_for_all(stage, &disk, [word, STEPS])?;
    let (server, address) = match far(stage, &node, cause, one_way_ms)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}
