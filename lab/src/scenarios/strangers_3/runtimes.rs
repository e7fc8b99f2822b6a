//! Servers in Node.js, Java, Go and Python.

use anyhow::Result;

use super::programs::{AB, GO, JAVA, NODE, PYTHON, ab, missing};
use super::{beside, cause, downstream, second, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// 0.2 of one CPU, in us per 100 ms.
const QUOTA: u32 = 20_000;
/// Some ms of CPU.
const HASH_ROUNDS: &str = "10000";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "node-one-hash-thread",
                "one thread beside the event loop computes for all",
                "Eight connections ask Node.js to hash a password, which the event loop leaves to \
                 libuv's pool, and that has one thread.",
            ],
            Expect {
                or: &[("limit.pool", Who::Target)],
                ..Expect::one("cpu.single_thread", Who::Thread)
            },
            one_hash_thread,
        ),
        cause(
            [
                "java-connection-pool",
                "pool of connections inside the server used up",
                "Sixteen connections, each with a thread of a Java service, which share two \
                 connections to a service behind it that takes 5 ms to answer.",
            ],
            Expect::one("limit.pool", Who::Target),
            connection_pool,
        ),
        cause(
            [
                "go-shared-quota",
                "CPU quota used up by another in the same group",
                "Four connections with 2 ms to think ask a Go service, which shares a CPU quota of 0.2 \
                 of one CPU with a batch in a group beside its own; recorded without its load.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            shared_quota,
        ),
        cause(
            [
                "python-short-queue",
                "accept queue too short",
                "ab asks a Python server over twenty connections, a new one for each request, and \
                 the server takes what has connected every 20 ms out of a queue for three.",
            ],
            Expect::one("net.backlog", Who::Machine),
            short_queue,
        ),
    ]
}

fn one_hash_thread(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let threads = match cause {
        Cause::Made => "1",
        Cause::Removed => "4",
    };
    let (pid, port) = servers::hashing(stage, HASH_ROUNDS, threads)?;
    let address = here(&port);
    let ask = ["load", &address, "--http", "/"];
    // Threads of the pool have no name: it is the one that has hashed.
    let warm_up = [&ask[..], &["--seconds", "1", "--connections", "4"]].concat();
    stage.step(stage.own(&warm_up)?)?;
    let hashes = servers::busiest_but_first(pid)?;
    stage.cast.insert(Who::Thread, format!("/tid:{hashes}"));
    unknown(stage, &[&ask[..], &["--connections", "8"]].concat())?.ready()
}

fn connection_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => "2",
        Cause::Removed => "16",
    };
    let (_, service) = downstream(stage, 5_000)?;
    let words = ["16", connections, &service, "0", "0"];
    let (_, port) = servers::pooled(stage, &[], words)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "16"];
    unknown(stage, &words)?.ready()
}

fn shared_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("journals")?;
    let folder = folder.to_string_lossy();
    let (pid, port) = second::go(stage, &["-calls", "0", "-journals", &folder])?;
    let batch = stage.beside(stage.own(&["burn", "--threads", "1"])?)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.nest_beside("batch", pid, batch)?;
    stage.nest("service", pid)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    beside(stage, pid, &[&words[..], &["--think", "2000"]].concat())?.ready()
}

fn short_queue(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let queue = match cause {
        // The kernel lets one more in.
        Cause::Made => "2",
        Cause::Removed => "128",
    };
    let program = ["rounds.py", include_str!("../../../programs/rounds.py")];
    let (_, port) = servers::python(stage, program, &[queue])?;
    let url = format!("http://127.0.0.1:{port}/");
    ab(stage, &["-c", "20"], &url).ready()
}
