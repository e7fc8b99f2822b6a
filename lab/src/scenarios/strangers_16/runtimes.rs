//! Servers in Node.js, Go and Java.

use anyhow::Result;

use super::programs::{GO, JAVA, NODE, missing};
use super::{cause, downstream, fifteenth, first, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Rounds of a hash: some ms.
const ROUNDS: &str = "4000";
/// 0.2 of one CPU, in us per 100 ms.
const QUOTA: u32 = 20_000;
/// us of CPU of a request; none of them takes longer.
const WORK: [&str; 3] = ["200", "1000000000", "0"];
/// Connections of a pool, and as many as there are visitors.
const POOL: &str = "2";
const LARGE_POOL: &str = "16";
/// How long the database of the pool takes, us.
const DATABASE_US: u32 = 10_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "node-synchronous-hashes",
                "event loop that hashes passwords itself",
                "Four users log in at a service in Node.js, which hashes their passwords by the call that returns when \
                 it is done, so that everybody else waits.",
            ],
            Expect {
                // The hash is next to all of its time, and one function.
                or: &[("cpu.hot_code", Who::Target)],
                ..Expect::one("cpu.single_thread", Who::Thread)
            },
            synchronous_hashes,
        ),
        cause(
            [
                "node-container-limit",
                "CPU quota",
                "Eight connections ask a service in Node.js for 0.2 ms of CPU each time, and its container may use 0.2 of one                  CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            container_limit,
        ),
        cause(
            [
                "go-database-pool",
                "pool of connections inside the server used up",
                "Sixteen visitors ask a Go service, whose pool has two connections to a database that takes 10 ms for a \
                 question.",
            ],
            Expect::one("limit.pool", Who::Target),
            database_pool,
        ),
        cause(
            [
                "java-transaction-log",
                "fsync on a slow disk",
                "Eight connections change something in a service in Java, one thread of which writes the log of \
                 transactions for all and syncs it, on a disk that takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            transaction_log,
        ),
    ]
}

/// From <https://nodejs.org/en/learn/asynchronous-work/dont-block-the-event-loop>, which names `crypto.pbkdf2Sync` among what a
/// server must not call, and <https://webline.global/posts/why-your-nodejs-backend-blocks-on-synchronous-crypto-operations/>,
/// where such calls brought a service from milliseconds to seconds.
fn synchronous_hashes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let rounds = match cause {
        Cause::Made => ROUNDS,
        Cause::Removed => "0",
    };
    let (pid, port) = servers::logging_in(stage, rounds)?;
    // The event loop is the first thread of Node.js.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// From kubernetes/kubernetes#67577 and
/// <https://devopsbeast.com/courses/kubernetes-performance-optimization/performance-foundations/cpu-throttling>: what runs in a
/// container with a CPU limit is slow while the node has CPUs to spare, since it is throttled in nearly every period.
fn container_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = first::node(stage, WORK)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

/// From <https://go.dev/doc/database/manage-connections>, which says what a limit of open connections does to who finds none
/// free, and <https://www.programmingonmars.io/articles/hikaricp_connection_pooling_postgresql>: threads pile up and wait for
/// a connection, the most common error of every pool.
fn database_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => POOL,
        Cause::Removed => LARGE_POOL,
    };
    let (_, database) = downstream(stage, DATABASE_US)?;
    let (pid, port) = servers::asking(stage, &database, connections)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "16"];
    // The database was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://zookeeper.apache.org/doc/current/zookeeperAdmin.html>, where the log of transactions belongs on a disk of its
/// own since nothing is answered before it is synced, and
/// <https://schema.ai/technologies/apache-zookeeper/insights/disk-fsync-latency-blocks-transaction-processing>.
fn transaction_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    fifteenth::wear_in(stage, &disk)?;
    stage.give_away(&disk)?;
    let word = match cause {
        Cause::Made => "sync",
        Cause::Removed => "later",
    };
    let (_, port) = servers::logging(stage, &disk, [word, "1", "none"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}
