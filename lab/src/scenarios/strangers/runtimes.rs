//! Servers in Python, Node.js and Java.

use anyhow::Result;

use super::programs::{HEY, JAVA, NODE, PYTHON, hey, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "python-small-pool",
                "pool full while its workers wait",
                "Twenty-four connections of an unknown generator ask a Python service with four \
                 workers, each of which waits 25 ms for a service behind it.",
            ],
            Expect::one("limit.pool", Who::Target),
            small_pool,
        ),
        cause(
            [
                "node-blocked-loop",
                "one thread serves all",
                "hey asks Node.js, whose event loop computes for 60 ms at every fiftieth request.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            blocked_loop,
        ),
        cause(
            [
                "java-synchronized",
                "one mutex among threads",
                "hey asks a Java service over sixteen connections, and each of its threads sleeps 2 \
                 ms while it holds the one monitor.",
            ],
            Expect {
                or: &[("lock.runtime", Who::Target)],
                ..Expect::one("lock.futex", Who::Target)
            },
            synchronized,
        ),
    ]
}

fn small_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let workers = match cause {
        Cause::Made => "4",
        Cause::Removed => "24",
    };
    let (_, service) = downstream(stage, 25_000)?;
    let words = ["--workers", workers, "--service", &service];
    let (_, port) = servers::python(stage, &words)?;
    let address = format!("127.0.0.1:{port}");
    let words = ["load", &address, "--http", "/", "--connections", "24"];
    unknown(stage, &words)?.ready()
}

fn blocked_loop(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let block_us = match cause {
        Cause::Made => "60000",
        Cause::Removed => "0",
    };
    let (pid, port) = servers::node(stage, ["0", "50", block_us])?;
    // The event loop runs in the first thread.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    hey(stage, &port, 8).ready()
}

fn synchronized(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let words = match cause {
        Cause::Made => ["16", "2000", "0", "0", "0"],
        Cause::Removed => ["16", "0", "2000", "0", "0"],
    };
    let (_, port) = servers::java(stage, &[], words)?;
    hey(stage, &port, 16).ready()
}
