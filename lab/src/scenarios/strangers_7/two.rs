//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use std::process::Command;

use anyhow::Result;

use super::programs::{MEMCACHED, PYTHON, missing};
use super::{cause, far, first, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::{Limit, Stage};

/// The lock is taken for so long, and free for so long, ms.
const RELOAD: [&str; 2] = ["20", "10"];
/// What is asked of memcached: for a key that is not there.
const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];
/// Against the 1024 of the session in which server and load run: nearly all, on any number of CPUs.
const SHARES: u32 = 65_536;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "python-far-and-reload",
                "long way to the client and a lock that a thread in the background holds",
                "Four connections ask a Python server, 3 ms away in each direction, each request of \
                 which looks into its settings under a lock, which a thread in the background has for \
                 20 of every 30 ms.",
            ],
            Expect {
                // Who waits for a lock of Python waits in its runtime.
                or: &[("lock.runtime", Who::Target)],
                ..Expect::one("lock.futex", Who::Target).and("net.rtt", Who::Peer)
            },
            far_and_reload,
        ),
        both(
            [
                "memcached-far-and-neighbour",
                "long way to the client and a neighbour on the CPUs in regular bursts",
                "Four connections ask memcached, 3 ms away in each direction, and another group with a \
                 far higher weight computes on every CPU for 12 of every 20 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("cpu.neighbour", Who::NeighbourGroup),
            far_and_neighbour,
        ),
    ]
}

fn far_and_reload(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let reload = match cause {
        Cause::Made => RELOAD,
        Cause::Removed => ["0", "0"],
    };
    let program = [
        "reloading.py",
        include_str!("../../../programs/reloading.py"),
    ];
    let mut python = first::interpreted(stage, first::PYTHON, program)?;
    python.arg("0.0.0.0:7000").args(reload);
    let (server, address) = match far(stage, &python, cause, 3)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

fn far_and_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let mut memcached = Command::new("memcached");
    memcached.args(["-u", "nobody", "-l", "0.0.0.0", "-t", "2", "-p", "7000"]);
    let (server, address) = match far(stage, &memcached, cause, 3)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    if cause == Cause::Made {
        let threads = std::thread::available_parallelism()?.to_string();
        let words = ["burn", "--threads", &threads];
        let words = [&words[..], &["--burst", "12", "--pause", "8"]].concat();
        let neighbour = stage.beside(stage.own(&words)?)?;
        match stage.confine("neighbour", neighbour, &[Limit::CpuShares(SHARES)]) {
            Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    let words = [&["load", &address, "--connections", "4"][..], &GET].concat();
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}
