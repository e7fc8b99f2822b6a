//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::{Context, Result};

use super::programs::{JAVA, LIGHTTPD, MEMCACHED, PYTHON, missing};
use super::{cause, second, servers, seventh, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// So many read slowly, a file that none of them will have read within any run.
const READERS: &str = "60";
const LARGE: usize = 32 << 20;
/// Megabytes of a cache: fewer than what comes in within a second.
const ROOM: &str = "8";
/// So many keys, none of which is there, are asked for at once: an answer that takes longer than the machine's noise.
const KEYS: usize = 300;
/// MiB that stay, of the 64 MB that the old generation of a heap of 96 has.
const STAYS: &str = "60";
/// Large pieces go there at once.
const HEAP: [&str; 4] = [
    "-XX:+UseSerialGC",
    "-Xms96m",
    "-Xmx96m",
    "-XX:PretenureSizeThreshold=512k",
];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "lighttpd-slow-readers",
                "answers to others that wait in full buffers for slow readers",
                "Sixty others read a large file from lighttpd far more slowly than it could send, so \
                 that the buffers of their connections are full all the time, while a connection \
                 with 4 ms to think asks it for a text that it compresses.",
            ],
            slow_readers,
        ),
        decoy(
            [
                "memcached-evictions",
                "cache that is full and evicts what nobody asks for",
                "Another client sets a hundred new keys of memcached per second, whose memory is \
                 full, so that as many others go, while four connections with 1 ms to think ask for \
                 300 keys at once.",
            ],
            evictions,
        ),
        decoy(
            [
                "java-full-heap",
                "heap that is nearly full and is hardly ever collected",
                "The old generation of a Java service is nearly full of what stays, and two \
                 connections with 5 ms to think ask it for 1.5 ms of CPU and next to no garbage.",
            ],
            full_heap,
        ),
    ]
}

fn slow_readers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    let large = stage.folder().join("site").join("large");
    std::fs::write(large, vec![7; LARGE]).context("cannot write a file")?;
    if cause == Cause::Made {
        let program = [
            "slow_readers.py",
            include_str!("../../../programs/slow_readers.py"),
        ];
        seventh::staying(stage, program, &[port.as_str(), "/large", READERS])?;
    }
    let address = here(&port);
    let asks = ["--http", "/list.txt", "--header", second::GZIP];
    let words = ["load", &address, "--connections", "1", "--think", "4000"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

fn evictions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "new",
        Cause::Removed => "same",
    };
    let (_, port) = servers::memcached_with_room(stage, ROOM)?;
    let program = ["evicting.py", include_str!("../../../programs/evicting.py")];
    seventh::staying(stage, program, &[port.as_str(), word])?;
    let address = here(&port);
    let question = format!("get{}\r\n", " key".repeat(KEYS));
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    let asks = ["--text", &question, "--ends", "END\r\n"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

fn full_heap(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let stays = match cause {
        Cause::Made => STAYS,
        Cause::Removed => "0",
    };
    let (_, port) = servers::keeping(stage, &HEAP, ["1500", stays])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "5000"]].concat())?.ready()
}
