//! Servers in Java, Go and Python.

use anyhow::Result;

use super::programs::{GO, HEY, JAVA, PYTHON, hey, missing};
use super::{beside, cause, downstream, servers, sixth, third};
use crate::scenario::{Cause, Costs, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Eight for each of two CPUs, on which a request waits for its turn.
const THREADS: &str = "16";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario {
            // Who thinks asks as often; it is the answers that wait.
            costs: Costs::Latency,
            ..cause(
                [
                    "java-many-threads-beside",
                    "CPUs taken by many threads of the same weight",
                    "A batch of sixteen threads, which has no better weight than others, computes \
                     without end, while three connections with 5 ms to think ask a Java service for \
                     2 ms of CPU; recorded without its load.",
                ],
                Expect::one("cpu.neighbour", Who::Holder),
                many_threads_beside,
            )
        },
        cause(
            [
                "go-connections-per-host",
                "queue inside a runtime for connections to one host",
                "hey asks a Go service over sixteen connections, which asks a service behind it that \
                 takes 5 ms to answer, and its transport opens two connections to each host.",
            ],
            Expect::one("limit.pool", Who::Target),
            connections_per_host,
        ),
        cause(
            [
                "python-full-collections",
                "collections in the background that keep the lock of an interpreter",
                "Four connections, each with a thread of a Python server, in which another thread has \
                 all of 1.5 million objects looked through for cycles, again and again, 20 ms after \
                 the last time; recorded without its load.",
            ],
            Expect {
                // The collections are a thread's, and most of a CPU.
                or: &[
                    ("cpu.single_thread", Who::Thread),
                    ("lock.futex", Who::Target),
                ],
                ..Expect::one("lock.runtime", Who::Target)
            },
            full_collections,
        ),
    ]
}

fn many_threads_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = sixth::dispatched(stage, ["pool", "2000"])?;
    if cause == Cause::Made {
        let batch = stage.own(&["burn", "--threads", THREADS])?;
        let (batch, _) = stage.beside_that_speaks(batch)?;
        stage.cast.insert(Who::Holder, format!("pid:{batch}@"));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "3"];
    beside(stage, pid, &[&words[..], &["--think", "5000"]].concat())?.ready()
}

fn connections_per_host(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => "2",
        Cause::Removed => "16",
    };
    let (_, service) = downstream(stage, 5_000)?;
    let (_, port) = servers::transporting(stage, &service, connections)?;
    hey(stage, &port, 16).ready()
}

fn full_collections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "collects",
        Cause::Removed => "leaves",
    };
    let program = [
        "collecting.py",
        include_str!("../../../programs/collecting.py"),
    ];
    let (pid, port) = third::python(stage, program, &[word])?;
    let address = here(&port);
    let ask = ["load", &address, "--http", "/", "--connections", "4"];
    // By then the one that collects has used the most CPU time.
    stage.step(stage.own(&[&ask[..], &["--seconds", "1"]].concat())?)?;
    if cause == Cause::Made {
        let thread = third::busiest_but_first(pid)?;
        stage.cast.insert(Who::Thread, format!("/tid:{thread}"));
    }
    beside(stage, pid, &ask)?.ready()
}
