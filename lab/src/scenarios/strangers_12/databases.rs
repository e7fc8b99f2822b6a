//! PostgreSQL, Redis and memcached.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use super::programs::{MEMCACHED, PYTHON, REDIS, missing};
use super::{cause, first, servers, seventh, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// More jobs than any run does.
const JOBS: &str = "CREATE TABLE lab_job AS SELECT n AS id, false AS done FROM \
    generate_series(1, 100000) AS n";
/// The limit of memcached, which keeps some of it for itself, connections that have leaked, and processes of the application.
const CONNECTIONS: &str = "64";
const LEAKED: &str = "42";
const PROCESSES: &str = "20";
/// A ranking, and the first of it.
const RANKING: &str =
    "for i = 0, 999 do redis.call('ZADD', 'rank', i, string.format('m%06d', i)) end";
const FIRST: [&str; 4] = ["--text", "ZRANGE rank 0 499\r\n", "--ends", "m000499\r\n"];
/// Threads of the miner: a few for each CPU.
const MINES: &str = "8";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-job-queue",
                "row at the head of a queue that every worker wants first",
                "Eight pgbench clients take jobs from a table of PostgreSQL, each the first that is \
                 not done, and lock it for the 5 ms that a job takes, while the others wait for the \
                 same row.",
            ],
            Expect {
                // Each of its sessions, and who opened them, has the row in turn.
                or: &[
                    ("lock.database", Who::Generator),
                    ("lock.database", Who::Holder),
                ],
                ..Expect::one("lock.database", Who::Target)
            },
            job_queue,
        ),
        cause(
            [
                "memcached-leaked-connections",
                "connections that a program has leaked and that the server has too few without",
                "Twenty processes of a web application open a connection to memcached for each page, \
                 of which it takes some fifty, and a program that closes none has 42 of them.",
            ],
            Expect::one("limit.connections", Who::Target),
            leaked_connections,
        ),
        cause(
            [
                "redis-miner-beside",
                "CPUs taken by many threads of the same weight",
                "A miner that somebody has brought in computes with eight threads, while eight \
                 connections ask Redis for 500 members of a ranking.",
            ],
            Expect::one("cpu.neighbour", Who::Holder),
            miner_beside,
        ),
    ]
}

/// From <https://minhle.xyz/blog/postgres-select-for-update-skip-locked-work-queue>: with some dozen workers most of them
/// waited for the row of the first job that was pending, and `SKIP LOCKED` was the remedy.
fn job_queue(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let skip = match cause {
        Cause::Made => "",
        Cause::Removed => " SKIP LOCKED",
    };
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_job")?;
    server.execute(JOBS)?;
    server.execute("CREATE INDEX ON lab_job (id) WHERE NOT done")?;
    server.execute("VACUUM ANALYZE lab_job")?;
    let dsn = server.dsn();
    // Whichever session it is.
    stage.cast.insert(Who::Holder, "pid:".to_owned());
    let script = format!(
        "BEGIN;\nSELECT id FROM lab_job WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE{skip} \\gset\n\
         \\sleep 5 ms\nUPDATE lab_job SET done = true WHERE id = :id AND NOT done;\nCOMMIT;\n"
    );
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], &script)?;
    load.with("--postgres", dsn).ready()
}

/// From <https://www.fixwikihub.com/articles/memcached-connection-limit-maxconns-reached-high-load>: applications were
/// refused with "Too many open connections" since others did not close theirs, and asked the database instead.
fn leaked_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = servers::memcached_for(stage, CONNECTIONS)?;
    if cause == Cause::Made {
        let program = ["leaked.py", include_str!("../../../programs/leaked.py")];
        seventh::staying(stage, program, &[port.as_str(), LEAKED])?;
    }
    let file = stage.script("pages.py", include_str!("../../../programs/pages.py"))?;
    let seconds = stage.seconds.to_string();
    let words = [port.as_str(), PROCESSES, &seconds].map(OsString::from);
    let command = [OsString::from(first::PYTHON), file];
    Load::new(command.into_iter().chain(words)).ready()
}

/// From <https://www.alibabacloud.com/help/faq-detail/41206.htm>: servers answered slowly since `minerd`, which had come in
/// through an open service, had all CPUs.
fn miner_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &[])?;
    let mut fill = Command::new("redis-cli");
    fill.args(["-p", &port, "EVAL", RANKING, "0"]);
    stage.step(fill)?;
    if cause == Cause::Made {
        let miner = stage.own_as("minerd", &["burn", "--threads", MINES])?;
        let (miner, _) = stage.beside_that_speaks(miner)?;
        stage.cast.insert(Who::Holder, format!("pid:{miner}@"));
    }
    let address = here(&port);
    let words = [&["load", &address, "--connections", "8"][..], &FIRST].concat();
    unknown(stage, &words)?.ready()
}
