//! Servers in Go, Java and Python, seen by `record` alone, and one in Node.js.

use anyhow::Result;

use super::programs::{GO, JAVA, NODE, PYTHON, WRK, missing, wrk};
use super::{beside, cause, downstream, limited, servers, third};
use crate::scenario::{Cause, Costs, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// 0.2 of one CPU, in us per 100 ms: less than a request wants at once, and more than all of them use.
const QUOTA: u32 = 20_000;
/// 32 ms of CPU in all.
const PARTS: [&str; 4] = ["-parts", "8", "-part-us", "4000"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario {
            // Who thinks asks nearly as often; it is the answers that wait.
            costs: Costs::Latency,
            ..cause(
                [
                    "go-burst-quota",
                    "CPU quota that short bursts use up while its mean is not used",
                    "Two connections with 400 ms to think ask a Go server, each request of which \
                     is computed in eight parts of 4 ms at once, and its group may use 20 ms of CPU \
                     in every 100 ms, of which it uses two thirds; recorded without its load.",
                ],
                Expect::one("cpu.quota", Who::LimitedGroup),
                burst_quota,
            )
        },
        cause(
            [
                "java-dispatcher-thread",
                "thread that waits for connections and answers all of them",
                "Eight connections ask the web server of the JDK for 2 ms of CPU, and it was made \
                 without an executor, so that its dispatcher answers by itself; recorded without its \
                 load.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            dispatcher_thread,
        ),
        cause(
            [
                "python-sqlite-commits",
                "commits of a database in a library",
                "Four connections ask a Python server, each thread of which commits a row to a SQLite \
                 database of its own, on a disk that takes its time; recorded without its load.",
            ],
            Expect::one("io.sync", Who::Target),
            sqlite_commits,
        ),
        cause(
            [
                "node-agent-connections",
                "list inside an event loop of requests that wait for a connection",
                "wrk asks Node.js over sixteen connections, which asks a service behind it that takes \
                 5 ms to answer, and its agent opens two connections to it.",
            ],
            Expect::one("limit.pool", Who::Target),
            agent_connections,
        ),
    ]
}

fn burst_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::bursting(stage, &PARTS)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    if let Some(why) = limited(stage, pid, Limit::CpuQuota(quota)) {
        return Ok(SetUp::NotHere(why));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    beside(stage, pid, &[&words[..], &["--think", "400000"]].concat())?.ready()
}

fn dispatcher_thread(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let words = match cause {
        Cause::Made => ["dispatcher", "2000"],
        Cause::Removed => ["pool", "2000"],
    };
    let (pid, port) = servers::dispatched(stage, words)?;
    // It has answered the requests by which the server was warmed up.
    let thread = third::busiest_but_first(pid)?;
    stage.cast.insert(Who::Thread, format!("/tid:{thread}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    beside(stage, pid, &words)?.ready()
}

fn sqlite_commits(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let synchronous = match cause {
        Cause::Made => "FULL",
        Cause::Removed => "OFF",
    };
    let folder = disk.display().to_string();
    let program = ["commits.py", include_str!("../../../programs/commits.py")];
    let (pid, port) = third::python(stage, program, &[folder.as_str(), synchronous])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    beside(stage, pid, &words)?.ready()
}

fn agent_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => "2",
        Cause::Removed => "16",
    };
    let (_, service) = downstream(stage, 5_000)?;
    let (_, port) = servers::asking(stage, &service, connections)?;
    wrk(stage, &port, 16).ready()
}
