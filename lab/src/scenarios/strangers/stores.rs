//! Redis and memcached.

use std::process::Command;

use anyhow::Result;

use super::super::held_out::{quota, redis};
use super::programs::{MEMCACHED, REDIS, missing};
use super::{beside, cause, far, servers, unknown};
use crate::scenario::{Cause, Costs, Expect, Load, Scenario, SetUp, Who};
use crate::stage::{Limit, Stage};

/// Against the 1024 of the session in which server and load run: nearly all, on any number of CPUs.
const SHARES: u32 = 65_536;

/// What is asked of Redis where it must write, and how its answer ends.
pub const SET: [&str; 4] = ["--text", "SET key value\r\n", "--ends", "\r\n"];
/// What is asked of memcached: for a key that is not there.
pub const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];

/// About 50 us of CPU.
const SCRIPT: &str = "local s = 0 for i = 1, 1000 do s = s + i end return s";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "redis-aof-always",
                "fsync on a slow disk",
                "Eight connections set a key in Redis, which syncs its append-only file before each \
                 answer on a disk that takes its time; recorded without its load.",
            ],
            Expect::one("io.sync", Who::Target),
            aof_always,
        ),
        cause(
            [
                "redis-quota",
                "CPU quota",
                "redis-benchmark runs a short script over eight connections, and the group of Redis, \
                 which serves with one thread, may use 0.3 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            redis_quota,
        ),
        cause(
            [
                "memcached-far",
                "long way to the client",
                "Eight connections of an unknown generator ask memcached, 10 ms away in each \
                 direction.",
            ],
            Expect::one("net.rtt", Who::Peer),
            memcached_far,
        ),
        Scenario {
            // Nobody is slowed down who thinks while the CPUs are taken: it is the answers that wait.
            costs: Costs::Latency,
            ..cause(
                [
                    "memcached-bursts",
                    "CPUs taken by a neighbour in regular bursts",
                    "Another group computes on every CPU for 12 of every 20 ms, while four \
                     connections with 0.5 ms to think ask memcached; recorded without its load.",
                ],
                Expect::one("cpu.neighbour", Who::NeighbourGroup),
                memcached_bursts,
            )
        },
    ]
}

/// How Redis keeps its append-only file.
pub fn aof(cause: Cause) -> [&'static str; 4] {
    let sync = match cause {
        Cause::Made => "always",
        Cause::Removed => "no",
    };
    ["--appendonly", "yes", "--appendfsync", sync]
}

fn aof_always(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let (pid, port) = servers::redis(stage, &[], &disk, &aof(cause))?;
    let address = format!("127.0.0.1:{port}");
    let words = [&["load", &address, "--connections", "8"][..], &SET].concat();
    beside(stage, pid, &words)?.ready()
}

fn redis_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = redis(stage)?;
    if let Some(why) = quota(stage, pid, cause) {
        return Ok(SetUp::NotHere(why));
    }
    let seconds = stage.seconds;
    // It counts requests, not seconds; a run that is ended from outside has no summary.
    let line = format!(
        "timeout {seconds} redis-benchmark -p {port} -c 8 -n 100000000 eval '{SCRIPT}' 0 || true; \
         redis-benchmark -p {port} -c 8 -n 5000 eval '{SCRIPT}' 0 | tail -n 8"
    );
    Load::new(["sh", "-c", &line]).ready()
}

fn memcached_far(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let mut memcached = Command::new("memcached");
    memcached.args(["-u", "nobody", "-l", "0.0.0.0", "-t", "2", "-p", "7000"]);
    let (server, address) = match far(stage, &memcached, cause, 10)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = [&["load", &address, "--connections", "8"][..], &GET].concat();
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

fn memcached_bursts(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::memcached(stage)?;
    if cause == Cause::Made {
        let threads = std::thread::available_parallelism()?.to_string();
        let words = [
            "burn",
            "--threads",
            &threads,
            "--burst",
            "12",
            "--pause",
            "8",
        ];
        let neighbour = stage.beside(stage.own(&words)?)?;
        match stage.confine("neighbour", neighbour, &[Limit::CpuShares(SHARES)]) {
            Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    let address = format!("127.0.0.1:{port}");
    let words = [&["load", &address, "--connections", "4"][..], &GET].concat();
    let words = [&words[..], &["--think", "500"]].concat();
    beside(stage, pid, &words)?.ready()
}
