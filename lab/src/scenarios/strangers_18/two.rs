//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{JAVA, PERL, PYTHON, missing};
use super::{cause, fifteenth, servers, thirteenth};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Syncs of a request.
const STEPS: &str = "3";
/// The other cause takes as long as so many syncs of the disk alone. What one takes differs by ten times from hour to hour on the
/// disk of a cloud, and each of three with another connection beside takes longer.
const AS_LONG_AS: u32 = 3;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "python-far-and-slow-interface",
                "long way to the client and a slow service",
                "Four connections ask a Python application, 3 ms away in each direction, for an answer of an \
                 interface behind it that takes 7 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_slow_interface,
        ),
        both(
            [
                "perl-bank-and-journal",
                "slow service and fsync",
                "Two connections pay at a shop in Perl, which asks a bank and then notes the payment in three \
                 steps, each of which a disk has to have that takes its time; the bank takes \
                 about as long as the disk.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            bank_and_journal,
        ),
        both(
            [
                "java-far-write-ahead-log",
                "fsync and a long way to the client",
                "Two connections write to a Java service in another region, which has the disk, which takes its \
                 time, keep each of three steps; the way takes about as long.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            far_write_ahead_log,
        ),
    ]
}

/// From <https://softexui.vercel.app/blog/debugging-slow-api-systematic-approach> and <https://unanswered.io/guide/how-to-fix-slow-api>,
/// where the way to a distant client comes first, and interfaces of third parties that the application waits for come with it.
fn far_and_slow_interface(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    thirteenth::far_and_slow(stage, cause, "7000", servers::front_for_all)
}

/// From <https://agentbeck.bot/report/9706>, where orders asked somebody else's interface before they were committed, and
/// <https://www.percona.com/blog/2018/02/08/fsync-performance-storage-devices/>, where each commit waits for an fsync.
fn bank_and_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL]) {
        return Ok(SetUp::NotHere(why));
    }
    fifteenth::slow_and_synced(stage, cause, AS_LONG_AS, servers::paying)
}

/// From <https://www.netdata.cloud/guides/mysql/mysql-fsync-pressure-slow-commits/>, where commits wait for the disk, and
/// <https://www.dbpro.app/blog/how-to-fix-slow-redis-queries>, where the way between zones is the floor below every call: who
/// writes from another region waits for both.
fn far_write_ahead_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    fifteenth::far_and_synced(stage, cause, AS_LONG_AS, |stage, disk, word| {
        servers::writing_for_all(stage, disk, [word, STEPS])
    })
}
