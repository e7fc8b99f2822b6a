//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{GO, HEY, PYTHON, hey, missing};
use super::servers::{self, large_file};
use super::{cause, downstream, far, first};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::loads::own;
use crate::stage::{Limit, Stage};

/// What the service may keep in memory, with page cache.
const MEMORY: u64 = 48 << 20;
/// What its requests read from.
const FILE: usize = 256 << 20;
/// How many blocks a request reads.
const READS: &str = "64";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "go-calls-and-journal",
                "slow service and fsync",
                "hey asks a Go service over four connections, and each request asks a service behind \
                 it three times, one after the other, which takes 2 ms, and then syncs a journal on a \
                 disk that takes its time.",
            ],
            Expect::one("net.remote", Who::Peer).and("io.sync", Who::Target),
            calls_and_journal,
        ),
        both(
            [
                "python-far-and-limited",
                "long way to the client and memory limit with refaults",
                "Four connections ask a Python service of four processes, 2 ms away in each direction, \
                 which reads 64 blocks of 256 MB, and the group around its own may keep 48 MB in \
                 memory, page cache included.",
            ],
            Expect::one("net.rtt", Who::Peer).and("memory.limit", Who::LimitedGroup),
            far_and_limited,
        ),
    ]
}

fn calls_and_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let sleep_us = match cause {
        Cause::Made => 2_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    stage
        .cast
        .insert(Who::Peer, format!("pid:{service}@ {address}"));
    let disk = disk.to_string_lossy();
    let mut words = vec!["-service", &address, "-calls", "3", "-journals", &disk];
    if cause == Cause::Made {
        words.push("-sync");
    }
    let (_, port) = servers::go(stage, &words)?;
    hey(stage, &port, 4).ready()
}

fn far_and_limited(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = large_file(stage, FILE)?;
    let program = ["prefork.py", include_str!("../../../programs/prefork.py")];
    let mut python = first::interpreted(stage, first::PYTHON, program)?;
    python.args(["--listen", "0.0.0.0:7000", "--reads", READS, "--file"]);
    python.arg(file);
    let (server, address) = match far(stage, &python, cause, 2)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    if cause == Cause::Made {
        match stage.confine("limited", server, &[Limit::Memory(MEMORY)]) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
        stage.nest("service", server)?;
    }
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // Sockets of another network namespace cannot be followed from here.
    own(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}
