//! Servers in Python and Java.

use anyhow::Result;

use super::programs::{JAVA, PYTHON, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Connections of a pool, and as many as there are visitors.
const POOL: &str = "2";
const LARGE_POOL: &str = "12";
/// How long the database of the pool takes, us.
const DATABASE_US: u32 = 10_000;
/// How long a slow service takes, us.
const SLOW_US: u32 = 20_000;
/// Threads of a service: more than there are clients.
const THREADS: &str = "50";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "python-queue-pool",
                "pool of connections inside the server used up",
                "Twelve visitors ask a Python service, whose pool has two connections to a database that \
                 takes 10 ms for a question.",
            ],
            Expect::one("limit.pool", Who::Target),
            queue_pool,
        ),
        cause(
            [
                "java-slow-dependency",
                "slow service behind the server",
                "Eight connections ask a Java service, each request of which asks a service that takes 20 ms \
                 to answer, and there are threads for all of them.",
            ],
            Expect::one("net.remote", Who::Peer),
            slow_dependency,
        ),
    ]
}

/// From <https://www.fixwikihub.com/articles/sqlalchemy-connection-pool-exhausted-queuepool-fix>: "QueuePool limit of size 5
/// overflow 10 reached", since the pool of SQLAlchemy has fewer connections than there are requests, which wait for one.
fn queue_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => POOL,
        Cause::Removed => LARGE_POOL,
    };
    let (_, database) = downstream(stage, DATABASE_US)?;
    let (pid, port) = servers::pooled(stage, [&database, connections])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "12"];
    // The database was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://www.storecode.pro/logs/incident-report-cascading-timeouts-from-a-slow-dependency> and
/// <https://www.lukretium.com/blog/third-party-api-that-went-slow-not-down>: a service that another one asks was slow and not
/// down, and who looked at the first one's own CPUs, memory and database found nothing.
fn slow_dependency(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => SLOW_US,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::asking(stage, [&address, THREADS])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    // The service was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}
