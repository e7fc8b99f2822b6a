//! A server in C, one in Node.js and one in Java.

use std::process::Command;

use anyhow::Result;

use super::programs::{CC, JAVA, NODE, missing};
use super::{beside, cause, first, servers};
use crate::scenario::{Cause, Costs, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::own;
use crate::stage::{Limit, Stage};

/// What the server in C reads from, past the page cache.
const FILE: usize = 64 << 20;
/// 0.1 of one CPU, in us per 100 ms.
const QUOTA: u32 = 10_000;
/// Against the 1024 of the session in which server and load run: nearly all, on any number of CPUs.
const SHARES: u32 = 65_536;
/// What a build does: processes that each compute for some ms, as many at a time as there are CPUs, and
/// pauses while it waits for something else.
const BUILD: &str = "while :; do for file in 1 2 3; do for cpu in $(seq $CPUS); do \
                     (i=0; while [ $i -lt 8000 ]; do i=$((i+1)); done) & done; wait; done; \
                     sleep 0.03; done";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "c-mutex-over-reads",
                "one mutex among threads, held while reading",
                "Twelve connections, each with a thread of a server in C, whose requests read four \
                 blocks from the disk while they hold the one mutex; recorded without its load.",
            ],
            Expect::one("lock.futex", Who::Target),
            mutex_over_reads,
        ),
        cause(
            [
                "node-one-worker-limited",
                "CPU quota of one worker of several",
                "Eight connections with 10 ms to think ask a Node.js cluster of two processes for 1 \
                 ms of CPU, and the group of one of them may use 0.1 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            one_worker_limited,
        ),
        Scenario {
            // Who thinks asks as often; it is the answers that wait.
            costs: Costs::Latency,
            ..cause(
                [
                    "java-build-beside",
                    "CPUs taken by short processes of a neighbour",
                    "A build in another group starts processes that live for some ms, in bursts, \
                     while three connections with 5 ms to think ask a Java service for 2 ms of CPU; \
                     recorded without its load.",
                ],
                Expect::one("cpu.neighbour", Who::NeighbourGroup),
                build_beside,
            )
        },
    ]
}

fn mutex_over_reads(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "locked",
        Cause::Removed => "beside",
    };
    let file = servers::large_file(stage, FILE)?;
    let (pid, port) = servers::reading(stage, &file.to_string_lossy(), word)?;
    let address = here(&port);
    beside(stage, pid, &["load", &address, "--connections", "12"])?.ready()
}

fn one_worker_limited(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::node_cluster(stage, ["2", "1000"])?;
    let workers = servers::children(pid, 2)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", workers[1], &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    own(stage, &[&words[..], &["--think", "10000"]].concat())?.ready()
}

fn build_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let program = ["Service", include_str!("../../../programs/Service.java")];
    let (pid, port) = first::java_class(stage, program, &[], &["8", "2000"])?;
    if cause == Cause::Made {
        let cpus = std::thread::available_parallelism()?.to_string();
        let mut build = Command::new("sh");
        build.args(["-c", BUILD]).env("CPUS", cpus);
        let build = stage.beside(build)?;
        match stage.confine("neighbour", build, &[Limit::CpuShares(SHARES)]) {
            Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "3"];
    beside(stage, pid, &[&words[..], &["--think", "5000"]].concat())?.ready()
}
