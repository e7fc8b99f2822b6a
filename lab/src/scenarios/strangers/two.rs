//! Two causes at once. In a closed loop only one thing can be full, so what is paired here are delays
//! that add up: a disk, a way, a service, somebody else's CPU time. Where one does bind and the other
//! stands in its shadow, the one that binds must come first.

use std::process::Command;

use anyhow::{Context, Result};

use super::super::loads::own;
use super::databases::inserts;
use super::programs::{PYTHON, REDIS, missing};
use super::stores::{SET, aof};
use super::{cause, downstream, far, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::server::said;
use crate::stage::{Limit, Stage};

/// Against the 1024 of the session in which server and load run: nearly all, on any number of CPUs.
const SHARES: u32 = 65_536;
/// 0.05 of one CPU, in us per 100 ms.
const QUOTA: u32 = 5_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "mariadb-flush-and-neighbour",
                "fsync and a neighbour on the CPUs",
                "Four sysbench threads insert into MariaDB, which flushes at each commit on a slow \
                 disk, and another group with a far higher weight computes on every CPU.",
            ],
            Expect::one("io.sync", Who::Target).and("cpu.neighbour", Who::NeighbourGroup),
            flush_and_neighbour,
        ),
        both(
            [
                "redis-aof-and-far",
                "fsync and a long way to the client",
                "Four connections set a key in Redis, which is 2 ms away in each direction and syncs \
                 its append-only file before each answer on a slow disk.",
            ],
            Expect::one("net.rtt", Who::Peer).and("io.sync", Who::Target),
            aof_and_far,
        ),
        both(
            [
                "python-service-and-neighbour",
                "slow service and a neighbour on the CPUs",
                "Two connections ask a Python service that computes 1 ms and waits 5 ms for a service \
                 behind it, and another group with a far higher weight computes on every CPU.",
            ],
            Expect::one("net.remote", Who::Peer).and("cpu.neighbour", Who::NeighbourGroup),
            service_and_neighbour,
        ),
        both(
            [
                "quota-over-mutex",
                "CPU quota over a mutex",
                "Eight connections, each with a thread of the server, whose requests sleep under one \
                 mutex, and its group may use 0.05 of one CPU, which is what binds.",
            ],
            Expect {
                also: Some("lock.futex"),
                ..Expect::one("cpu.quota", Who::LimitedGroup)
            },
            quota_over_mutex,
        ),
    ]
}

/// Somebody else with a far higher weight on every CPU; why that cannot be.
fn neighbour(stage: &mut Stage) -> Result<Option<String>> {
    let threads = std::thread::available_parallelism()?.to_string();
    let hog = stage.beside(stage.own(&["burn", "--threads", &threads])?)?;
    Ok(
        match stage.confine("neighbour", hog, &[Limit::CpuShares(SHARES)]) {
            Ok(group) => {
                stage.cast.insert(Who::NeighbourGroup, group.path);
                None
            }
            Err(error) => Some(format!("{error:#}")),
        },
    )
}

fn flush_and_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let load = match inserts(stage, cause)? {
        Ok(load) => load,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    if cause == Cause::Made
        && let Some(why) = neighbour(stage)?
    {
        return Ok(SetUp::NotHere(why));
    }
    load.ready()
}

fn aof_and_far(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let mut redis = Command::new("redis-server");
    redis.args(["--port", "7000", "--bind", "0.0.0.0", "--save", ""]);
    redis.args(["--protected-mode", "no", "--logfile", "log", "--dir"]);
    redis.arg(&disk).args(aof(cause));
    let (server, address) = match far(stage, &redis, cause, 2)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = [&["load", &address, "--connections", "4"][..], &SET].concat();
    // Sockets of another network namespace cannot be followed from here.
    own(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

fn service_and_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 5_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let words = [
        "--workers",
        "4",
        "--compute-us",
        "1000",
        "--service",
        &address,
    ];
    let (_, port) = servers::python(stage, &words)?;
    if cause == Cause::Made
        && let Some(why) = neighbour(stage)?
    {
        return Ok(SetUp::NotHere(why));
    }
    let address = format!("127.0.0.1:{port}");
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &words)?.ready()
}

fn quota_over_mutex(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let mut words = vec!["serve", "hot-mutex", "--sleep", "300"];
    if cause == Cause::Removed {
        words.push("--outside");
    }
    let (pid, line) = stage.beside_that_speaks(stage.own(&words)?)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    unknown(stage, &["load", address, "--connections", "8"])?.ready()
}
