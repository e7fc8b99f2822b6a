//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::Result;

use super::programs::{GO, JAVA, MEMCACHED, missing};
use super::{cause, first, servers, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage, device_of};

/// A checkpoint for each 16 MB of the log, about, which an import writes in two seconds.
const SMALL_LOG: [&str; 4] = [
    "max_wal_size=32MB",
    "min_wal_size=32MB",
    "checkpoint_timeout=30s",
    "synchronous_commit=off",
];
const LARGE_LOG: [&str; 2] = ["max_wal_size=8GB", "synchronous_commit=off"];
/// What the import says ten times per second.
const IMPORT: &str =
    "INSERT INTO lab_import SELECT n, repeat('x', 400) FROM generate_series(1, 1000) AS n;\n";
/// What the load asks for, with 4 ms to think.
const READ: &str = "\\set id random(1, 1000000)\n\\sleep 4 ms\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :id;\n";
/// Goroutines that have leaked.
const LEAKED: &str = "4000";
/// 2 GB each of an index.
const PIECES: &str = "64";
/// Reads, and writes, per second of a process beside.
const OPERATIONS: u32 = 100;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "postgres-frequent-checkpoints",
                "checkpoints of a database that its log says occur too frequently",
                "An import makes PostgreSQL, whose log has little room, write a checkpoint every few \
                 seconds and say each time that this is too often, while two pgbench clients with 4 \
                 ms to think read rows that are in memory.",
            ],
            frequent_checkpoints,
        ),
        decoy(
            [
                "go-leaked-goroutines",
                "thousands of goroutines that wait for ever",
                "A Go service has leaked 4,000 goroutines, each of which waits for a message that \
                 nobody will send, while two connections with 4 ms to think ask it for a small answer.",
            ],
            leaked_goroutines,
        ),
        decoy(
            [
                "java-virtual-memory",
                "virtual memory of a process that is many times that of the machine",
                "A Java service has mapped 128 GB of an index that it does not look at, while two \
                 connections with 4 ms to think ask it for a small answer.",
            ],
            virtual_memory,
        ),
        decoy(
            [
                "memcached-iowait-beside",
                "threads of others that wait for the disk, for which idle CPUs count as waiting too",
                "Eight threads of another process, in a group that may read and write little, wait for \
                 the disk all of the time, so that idle CPUs count as waiting for it, while two \
                 connections with 4 ms to think ask memcached for a key.",
            ],
            iowait_beside,
        ),
    ]
}

/// From <https://postgresrocks.enterprisedb.com/t5/The-Knowledgebase/Log-checkpoints-occurring-too-frequently/ta-p/3595>:
/// "checkpoints are occurring too frequently" is in the log during an import, and whoever sees it asks whether the server
/// suffers; who reads what is in memory does not.
fn frequent_checkpoints(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let settings = match cause {
        Cause::Made => &SMALL_LOG[..],
        Cause::Removed => &LARGE_LOG,
    };
    let server = stage.postgres(settings)?;
    server.execute("DROP TABLE IF EXISTS lab_import")?;
    server.execute("CREATE TABLE lab_import (id INT, text TEXT)")?;
    server.execute("SELECT sum(abalance) FROM pgbench_accounts")?;
    let path = stage.script("import.sql", IMPORT)?;
    let mut import = stage.started()?.client("pgbench");
    import.args(["-n", "-c", "1", "-R", "10", "-T", "3600", "-f"]);
    import.arg(path).arg(DATABASE);
    // It complains when the server is gone.
    import.stderr(std::process::Stdio::null());
    stage.beside(import)?;
    pgbench_script(stage, &["-c", "2", "-j", "1"], READ)?.ready()
}

/// From cloudfoundry/routing-release#153, where a router had 50,000 to 400,000 goroutines and nobody could say whether that
/// was a problem, and m-lab/ndt-server#117, where there were some 4,000.
fn leaked_goroutines(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let leaked = match cause {
        Cause::Made => LEAKED,
        Cause::Removed => "0",
    };
    let (_, port) = servers::having_leaked(stage, leaked)?;
    thinking(stage, &port, &["--http", "/"])
}

/// From <https://stackoverflow.com/questions/561245/virtual-memory-usage-from-java-under-linux-too-much-memory-used>: `top`
/// shows far more memory of Java than its heap has, most of which is only reserved; "largely meaningless", says the answer.
fn virtual_memory(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let pieces = match cause {
        Cause::Made => PIECES,
        Cause::Removed => "0",
    };
    let index = servers::empty_index(stage)?;
    let (_, port) = servers::reserving(stage, &index, pieces)?;
    thinking(stage, &port, &["--http", "/"])
}

/// From <https://serverfault.com/questions/12679/can-anyone-explain-precisely-what-iowait-is>, and
/// <https://serverfault.com/questions/645541/evaluating-the-cpu-i-o-wait-on-linux>: a high `wa` in `top` alarms its readers,
/// and is idle time in which somebody waits for a disk, which need not be the server.
fn iowait_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    if cause == Cause::Made {
        let device = device_of(stage.folder())?;
        let file = stage.folder().join("storage");
        let mut other = stage.own(&["storage", "--threads", "8", "--file"])?;
        other.arg(file);
        // Speaks once its file is there.
        let (other, _) = stage.beside_that_speaks(other)?;
        let limits = [
            Limit::ReadsPerSecond(device.clone(), OPERATIONS),
            Limit::WritesPerSecond(device, OPERATIONS),
        ];
        if let Err(error) = stage.confine("slowed", other, &limits) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    thinking(
        stage,
        &port,
        &["--text", "get key\r\n", "--ends", "END\r\n"],
    )
}

/// Two connections with 4 ms to think that ask for this.
fn thinking(stage: &Stage, port: &str, words: &[&str]) -> Result<SetUp> {
    let address = here(port);
    let first = ["load", &address, "--connections", "2", "--think", "4000"];
    unknown(stage, &[&first[..], words].concat())?.ready()
}
