//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{CC, REDIS, missing};
use super::{cause, ninth, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{here, wait_for};
use crate::stage::{DELAYED_SERVER, Stage};

/// One packet of so many is lost.
const LOST: u32 = 50;
/// What Redis is asked for.
const SET: [&str; 4] = ["--text", "SET key value\r\n", "--ends", "+OK\r\n"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "redis-lossy-and-journal",
                "way on which packets are lost and a journal on a slow disk",
                "Eight connections set a key in Redis over a short way that loses one packet of 50 in \
                 each direction, and Redis syncs its append-only file before each answer on a disk \
                 that takes its time.",
            ],
            Expect {
                or: &[("net.loss", Who::Machine)],
                ..Expect::one("net.loss", Who::Peer).and("io.sync", Who::Target)
            },
            lossy_and_journal,
        ),
        both(
            [
                "c-renewal-and-journal",
                "mutex that a thread in the background holds and a journal on a slow disk",
                "Four connections, each with a thread of a server in C, each request of which looks \
                 into a table under a mutex, which a thread in the background has for 20 of every \
                 30 ms, and then syncs a journal of its own on a disk that takes its time.",
            ],
            Expect::one("lock.futex", Who::Target).and("io.sync", Who::Target),
            renewal_and_journal,
        ),
    ]
}

fn lossy_and_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let (lost, sync) = match cause {
        Cause::Made => (LOST, "always"),
        Cause::Removed => (0, "no"),
    };
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let mut redis = ninth::redis_for_all(stage)?;
    redis.arg("--dir").arg(&disk);
    redis.args(["--appendonly", "yes", "--appendfsync", sync]);
    let server = match stage.server_behind_losses(&redis, lost) {
        Ok(server) => server,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = format!("{DELAYED_SERVER}:7000");
    wait_for(&address)?;
    stage.cast.insert(Who::Peer, address.clone());
    let words = [&["load", &address, "--connections", "8"][..], &SET].concat();
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

fn renewal_and_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let words = match cause {
        Cause::Made => ["locked", "synced"],
        Cause::Removed => ["beside", "left"],
    };
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let (_, port) = servers::journalling(stage, &disk, words)?;
    let address = here(&port);
    unknown(stage, &["load", &address, "--connections", "4"])?.ready()
}
