//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{GO, HEY, JAVA, hey, missing};
use super::{cause, downstream, fourth, limited, second, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Between the collections, each of which takes longer than that.
const PAUSE_MS: &str = "40";
/// Objects that a collection has to walk over.
const KEPT: &str = "1000000";

/// What the service in Go reads from.
const FILE: usize = 128 << 20;
/// What of it may be in memory.
const MEMORY: u64 = 32 << 20;
/// Blocks of a request, so that it waits for them as long as for the service.
const READS: &str = "48";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "java-collections-and-journal",
                "collections that a program asks for and a mapped journal on a slow disk",
                "Four connections ask a Java service that writes to a mapped journal and forces it to a \
                 disk that takes its time, while another thread of it asks for a collection 40 ms \
                 after the last one.",
            ],
            Expect::one("lock.runtime", Who::Target).and("io.sync", Who::Target),
            collections_and_journal,
        ),
        both(
            [
                "go-memory-and-service",
                "memory limit with refaults and a slow service",
                "hey asks a Go service over two connections, and each request reads 48 blocks of 128 \
                 MB, of which its group may keep 32 MB in memory, and then asks a service behind it \
                 that takes 4 ms.",
            ],
            Expect::one("memory.limit", Who::LimitedGroup).and("net.remote", Who::Peer),
            memory_and_service,
        ),
    ]
}

fn collections_and_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let folder = disk.to_string_lossy();
    let words = match cause {
        Cause::Made => ["8", &folder, "forced", PAUSE_MS, KEPT],
        Cause::Removed => ["8", &folder, "left", "0", KEPT],
    };
    let (_, port) = servers::forced(stage, words)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

fn memory_and_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 4_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let file = second::large_file(stage, FILE)?;
    let path = file.to_string_lossy();
    let words = ["-file", &path, "-reads", READS, "-service", &address];
    let (pid, port) = fourth::reader(stage, &words)?;
    if cause == Cause::Removed {
        servers::keep_in_memory(&file)?;
    } else if let Some(why) = limited(stage, pid, Limit::Memory(MEMORY)) {
        return Ok(SetUp::NotHere(why));
    }
    hey(stage, &port, 2).ready()
}
