//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{HEY, JAVA, PYTHON, hey, missing};
use super::{cause, downstream, far, fifth, first, second, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::{Stage, disk_name_of};

/// What the server in Python reads from.
const FILE: usize = 64 << 20;
/// Blocks of a request, so that it waits for them about as long as it is under way.
const READS: &str = "32";
/// The lock is taken for so long, and free for so long, ms.
const REFRESH: [&str; 2] = ["40", "20"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "python-far-and-direct-reads",
                "long way to the client and reads from the disk",
                "Four connections ask a Python server, 2 ms away in each direction, each request of \
                 which reads 32 blocks, one after the other, past the page cache.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.latency", Who::Disk),
            far_and_direct_reads,
        ),
        both(
            [
                "java-refresh-and-service",
                "lock that a thread in the background holds and a slow service",
                "hey asks a Java service over four connections, each request of which looks into a \
                 table under a lock, which a thread in the background has for 40 of every 60 ms, and \
                 then asks a service behind it that takes 4 ms.",
            ],
            Expect {
                // Who waits for a lock of Java waits in its runtime.
                or: &[("lock.runtime", Who::Target)],
                ..Expect::one("lock.futex", Who::Target).and("net.remote", Who::Peer)
            },
            refresh_and_service,
        ),
    ]
}

fn far_and_direct_reads(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let disk = disk_name_of(&file)?;
    stage.cast.insert(Who::Disk, disk);
    let way = match cause {
        Cause::Made => "direct",
        Cause::Removed => {
            fifth::keep_in_memory(&file)?;
            "cached"
        }
    };
    let program = [
        "direct_reads.py",
        include_str!("../../../programs/direct_reads.py"),
    ];
    let mut python = first::interpreted(stage, first::PYTHON, program)?;
    python.arg("0.0.0.0:7000").arg(file).args([READS, way]);
    let (server, address) = match far(stage, &python, cause, 2)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

fn refresh_and_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let ([refresh_ms, pause_ms], sleep_us) = match cause {
        Cause::Made => (REFRESH, 4_000),
        Cause::Removed => (["0", "0"], 0),
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let words = ["8", &address, refresh_ms, pause_ms];
    let (_, port) = servers::refreshed(stage, words)?;
    hey(stage, &port, 4).ready()
}
