//! Servers in JavaScript, Go and Perl.

use anyhow::Result;

use super::programs::{GO, NODE, PERL, missing};
use super::{cause, downstream, fifteenth, first, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Connections to a database, and as many as there are visitors.
const FEW: &str = "2";
const ENOUGH: &str = "16";
/// How long a query takes, us.
const QUERY_US: u32 = 10_000;
/// 0.2 of one CPU, in us per 100 ms.
const QUOTA: u32 = 20_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "node-rendered-pages",
                "event loop that puts a page together of components with each request",
                "Four connections ask a Node.js server, which renders a page of 400 products with each request.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            rendered_pages,
        ),
        cause(
            [
                "node-few-connections",
                "pool of connections inside the server used up",
                "Sixteen connections ask a Node.js service, each request of which takes one of two connections \
                 to a database for a query of 10 ms.",
            ],
            Expect::one("limit.pool", Who::Target),
            few_connections,
        ),
        cause(
            [
                "go-cpu-limit",
                "CPU quota",
                "Eight connections ask a Go service, whose container may use 0.2 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            cpu_limit,
        ),
        cause(
            [
                "perl-slow-commits",
                "fsync on a slow disk",
                "Four connections ask a service in Perl, each request of which is noted in three steps that \
                 each wait for the disk, which takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            slow_commits,
        ),
    ]
}

/// From <https://medium.com/expedia-group-tech/profiling-react-server-side-rendering-to-free-the-node-js-event-loop-7f0fe455a901>,
/// where rendering with React kept the event loop from all other visitors, and
/// <https://www.andrewhagedorn.com/articles/react-ssr-at-scale>: whoever renders on the server meets that.
fn rendered_pages(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "each",
        Cause::Removed => "once",
    };
    let (pid, port) = servers::rendering(stage, word)?;
    // The event loop is the first thread of Node.js.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// From <https://www.nazarboyko.com/articles/database-connection-pooling-in-nodejs>, where all requests hung while the database
/// was at ease, and <https://www.webcoderspeed.com/blog/scaling/db-connection-pool-exhaustion>: ten connections, and everybody
/// else waits in a list.
fn few_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => FEW,
        Cause::Removed => ENOUGH,
    };
    let (_, database) = downstream(stage, QUERY_US)?;
    let (pid, port) = servers::pooled(stage, [&database, connections])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "16"];
    // The database was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://devdigest.org/articles/cfs-throttling-why-average-cpu-lies-and-your-go-app-starves>, where a function in Go ran
/// into its timeout in production only, since the container was throttled, and
/// <https://nileshblog.tech/diagnosing-cpu-throttling-kubernetes-go/>, a guide to it.
fn cpu_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = first::go(stage, ["0", "0"])?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

/// From <https://www.percona.com/blog/2018/02/08/fsync-performance-storage-devices/>: how long a disk takes for an fsync is how
/// long a commit takes, and <https://www.netdata.cloud/guides/mysql/mysql-fsync-pressure-slow-commits/>: commits are slow and
/// the CPUs are idle.
fn slow_commits(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    fifteenth::wear_in(stage, &disk)?;
    let word = match cause {
        Cause::Made => "sync",
        Cause::Removed => "later",
    };
    let (_, port) = servers::noting(stage, &disk, word)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
