//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use std::process::Command;

use anyhow::Result;

use super::programs::{MEMCACHED, PYTHON, missing};
use super::{cause, far, first, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::stage::Stage;

/// The lock is taken for so long, and free for so long, ms.
const RELOAD: [&str; 2] = ["20", "10"];
/// What is asked of memcached: for a key that is not there.
const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];

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
                "long way to the client and a real-time process on the CPUs",
                "Four connections ask memcached, 3 ms away in each direction, and a process of a \
                 real-time class computes on every CPU for 12 of every 20 ms.",
            ],
            Expect::one("net.rtt", Who::Peer).and("cpu.neighbour", Who::Holder),
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
        let neighbour = match real_time(stage) {
            Ok(neighbour) => neighbour,
            Err(error) => return Ok(SetUp::NotHere(format!("no real-time class: {error:#}"))),
        };
        stage.cast.insert(Who::Holder, format!("pid:{neighbour}@"));
    }
    let words = [&["load", &address, "--connections", "4"][..], &GET].concat();
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

/// Starts what computes in bursts on all CPUs before everybody else: requests that need next to no CPU would pass a
/// neighbour that only has a higher weight.
fn real_time(stage: &mut Stage) -> Result<u32> {
    let threads = std::thread::available_parallelism()?.to_string();
    let words = ["burn", "--threads", &threads];
    let own = stage.own(&[&words[..], &["--burst", "12", "--pause", "8"]].concat())?;
    let mut before_all = Command::new("chrt");
    before_all.args(["--fifo", "10"]);
    before_all.arg(own.get_program()).args(own.get_args());
    let (pid, _) = stage.beside_that_speaks(before_all)?;
    Ok(pid)
}
