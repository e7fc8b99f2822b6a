//! Servers in Node.js, Go, Java and C.

use anyhow::Result;

use super::programs::{CC, GO, HEY, JAVA, NODE, hey, missing};
use super::{beside, cause, downstream, fifth, limited, second, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// What the server in C reads from.
const FILE: usize = 96 << 20;
/// What it may keep in memory, with page cache: the file would fit, or its own cache.
const MEMORY: u64 = 128 << 20;
/// What its own cache takes of that.
const CACHE_MB: &str = "96";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "node-orders-as-text",
                "event loop that turns a long list into text with each request",
                "Eight connections ask Node.js for all of 4,000 orders, which its event loop turns \
                 into text for each of them; recorded without its load.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            orders_as_text,
        ),
        cause(
            [
                "go-session-files",
                "files that are written anew, with a sync of each and of its folder",
                "hey asks a Go server over four connections, which writes a session into a new file \
                 with each request, gives that the name of the old one, and syncs file and folder, on \
                 a disk that takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            session_files,
        ),
        cause(
            [
                "java-call-under-lock",
                "one monitor that is held during a call to another service",
                "Eight connections ask a Java service, each request of which asks another service \
                 that takes 4 ms whether a token is good, and has the one monitor of the tokens \
                 meanwhile.",
            ],
            Expect {
                // Who waits for a lock of Java waits in its runtime.
                or: &[("lock.runtime", Who::Target)],
                ..Expect::one("lock.futex", Who::Target)
            },
            call_under_lock,
        ),
        cause(
            [
                "c-cache-leaves-no-room",
                "memory limit that a server's own cache leaves too little of for its files",
                "Four connections with 0.5 ms to think, each with a thread of a server in C, whose \
                 requests read 16 blocks of a file of 96 MB, and of the 128 MB that its group may keep \
                 in memory a cache of its own takes 96; recorded without its load.",
            ],
            Expect::one("memory.limit", Who::LimitedGroup),
            cache_leaves_no_room,
        ),
    ]
}

fn orders_as_text(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let orders = match cause {
        Cause::Made => "4000",
        Cause::Removed => "10",
    };
    let (pid, port) = servers::ordering(stage, orders)?;
    // The event loop is the first thread of Node.js.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    beside(stage, pid, &words)?.ready()
}

fn session_files(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let (_, port) = servers::keeping_sessions(stage, &disk, cause == Cause::Made)?;
    hey(stage, &port, 4).ready()
}

fn call_under_lock(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "locked",
        Cause::Removed => "beside",
    };
    let (_, service) = downstream(stage, 4_000)?;
    let (_, port) = servers::calling(stage, ["16", &service, word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn cache_leaves_no_room(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let cache_mb = match cause {
        Cause::Made => CACHE_MB,
        Cause::Removed => {
            fifth::keep_in_memory(&file)?;
            "0"
        }
    };
    let (pid, port) = servers::caching(stage, &file, cache_mb)?;
    if let Some(why) = limited(stage, pid, Limit::Memory(MEMORY)) {
        return Ok(SetUp::NotHere(why));
    }
    let address = here(&port);
    // The first request has the cache filled, which is charged to the group from there on.
    let warm_up = ["load", &address, "--connections", "1", "--seconds", "1"];
    stage.step(stage.own(&warm_up)?)?;
    let words = ["load", &address, "--connections", "4", "--think", "500"];
    beside(stage, pid, &words)?.ready()
}
