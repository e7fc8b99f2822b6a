//! MariaDB, Redis and PostgreSQL.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use super::programs::{REDIS, missing};
use super::{cause, first, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_client, mariadb_server, sysbench_load,
};
use crate::scenarios::loads::pgbench;
use crate::stage::Stage;

/// Orders of a thousand customers.
const ORDERS: &str = "CREATE TABLE lab_order (id INT PRIMARY KEY, customer INT NOT NULL, total INT NOT NULL); \
    INSERT INTO lab_order SELECT seq, seq % 1000, seq % 77 FROM seq_1_to_20000";
/// What is missing.
const INDEX: &str = "CREATE INDEX of_customer ON lab_order (customer)";
/// Rounds of the sessions that keep a table: more than any run has.
const ROUNDS: usize = 400;
/// A list that nobody cuts.
const FEED: &str =
    "for i = 0, 9999 do redis.call('RPUSH', 'feed', string.format('entry:%06d', i)) end";
/// Threads of the compressor.
const THREADS: &str = "--threads=8";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "mariadb-missing-index",
                "CPUs full of looking through a table without an index",
                "Eight sysbench threads ask MariaDB for the orders of a customer, for which there is no \
                 index, so that each time it looks at all 20,000 orders.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            missing_index,
        ),
        cause(
            [
                "mariadb-metadata-lock",
                "table lock that is waited for and makes others wait",
                "A session of MariaDB has read a table and stays in its transaction for 450 of every \
                 500 ms, another one is to alter that table and waits for it, and eight sysbench \
                 threads that only read wait behind the second.",
            ],
            Expect {
                // To end either session takes the wait away; what can be seen from outside is that the server's threads
                // wait: without asking it nobody knows of its locks.
                or: &[
                    ("lock.database", Who::Peer),
                    ("lock.database", Who::Target),
                    ("lock.futex", Who::Target),
                ],
                ..Expect::one("lock.database", Who::Holder)
            },
            metadata_lock,
        ),
        cause(
            [
                "redis-whole-list",
                "one thread that hands out a whole list each time",
                "Eight connections ask Redis for a list from its first to its last entry, and by now it \
                 has 10,000 of them, where a page shows ten.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            whole_list,
        ),
        cause(
            [
                "postgres-compression-beside",
                "CPUs taken by many threads of the same weight",
                "Two pgbench clients look up single rows of PostgreSQL, while somebody compresses a dump \
                 on the same machine with eight threads.",
            ],
            Expect::one("cpu.neighbour", Who::Holder),
            compression_beside,
        ),
    ]
}

/// From <https://library-d7m.pages.dev/postgresql-deep-dive/query-optimization/common-performance-problems>: a missing index is
/// "the single biggest cause of slow queries", of MySQL as of PostgreSQL; each query reads every row of the table.
fn missing_index(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = mariadb_server(stage, &[], None)?;
    let mut statements = vec![ORDERS];
    if cause == Cause::Removed {
        statements.push(INDEX);
    }
    for sql in statements {
        let mut client = mariadb_client(&port);
        client.args(["sbtest", "-e", sql]);
        stage.step(client)?;
    }
    let text = include_str!("../../../programs/customers.lua");
    script_load(stage, &port, ["customers.lua", text])
}

/// From <https://lxadm.com/index.php?title=MySQL:_avoiding_%22Waiting_for_table_metadata_lock%22_when_executing_%22ALTER_TABLE%22>:
/// on a busy database an `ALTER TABLE` waits, and the list of processes fills with "Waiting for table metadata lock".
fn metadata_lock(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = mariadb_server(stage, &[], None)?;
    for sql in [ORDERS, INDEX] {
        let mut client = mariadb_client(&port);
        client.args(["sbtest", "-e", sql]);
        stage.step(client)?;
    }
    if cause == Cause::Made {
        let reader = session(stage, &port, "reader.sql", &reading())?;
        stage.cast.insert(Who::Holder, format!("pid:{reader}@"));
        let changer = session(stage, &port, "changer.sql", &changing())?;
        stage.cast.insert(Who::Peer, format!("pid:{changer}@"));
    }
    let text = include_str!("../../../programs/customers.lua");
    script_load(stage, &port, ["customers.lua", text])
}

/// Starts a session of MariaDB that runs a script; the process of its client.
fn session(stage: &mut Stage, port: &str, name: &str, rounds: &str) -> Result<u32> {
    let path = stage.script(name, rounds)?;
    let mut client = mariadb_client(port);
    client.args(["sbtest", "-e"]);
    client.arg(format!("source {}", Path::new(&path).display()));
    // It says at its end that the server has gone.
    client.stderr(Stdio::null());
    stage.beside(client)
}

/// The sleeps are the client's.
fn reading() -> String {
    let round =
        "BEGIN;\nSELECT id FROM lab_order LIMIT 1;\n\\! sleep 0.45\nCOMMIT;\n\\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

fn changing() -> String {
    "ALTER TABLE lab_order COMMENT 'a';\n\\! sleep 0.01\nALTER TABLE lab_order COMMENT 'b';\n\\! sleep 0.01\n"
        .repeat(ROUNDS)
}

/// Eight threads of sysbench with a script of our own, by name and text.
fn script_load(stage: &Stage, port: &str, [name, text]: [&str; 2]) -> Result<SetUp> {
    let script = stage.script(name, text)?;
    let words = [
        &Path::new(&script).display().to_string(),
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &format!("--mysql-port={port}"),
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--threads=8",
        "run",
    ];
    let words = words.map(str::to_owned).to_vec();
    let load: Load = sysbench_load(stage, words);
    load.ready()
}

/// From <https://www.netdata.cloud/guides/redis/redis-big-keys-latency/>: a list that is fetched with an unbounded range, or a
/// hash with `HGETALL`, keeps the one thread from all others; <https://nleo.me/en/2023/04/22/bigkey_in_redis.html> has the
/// sizes from which on a key is a big one.
fn whole_list(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &[])?;
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let mut fill = Command::new("redis-cli");
    fill.args(["-p", &port, "EVAL", FEED, "0"]);
    stage.step(fill)?;
    let asks = match cause {
        Cause::Made => ["LRANGE feed 0 -1\r\n", "entry:009999\r\n"],
        Cause::Removed => ["LRANGE feed 0 9\r\n", "entry:000009\r\n"],
    };
    let address = here(&port);
    let words = ["load", &address, "--connections", "8", "--text", asks[0]];
    unknown(stage, &[&words[..], &["--ends", asks[1]]].concat())?.ready()
}

/// From <https://serverdevworker.com/14648313f>, where dumps of PostgreSQL are to be compressed on all CPUs by `pigz`, `lbzip2`
/// or `pixz`, and <https://anethoth.com/postgres-pg-dump-options-parallelism-compression/>; who serves meanwhile waits for the
/// CPUs.
fn compression_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&["xz"], "xz-utils") {
        return Ok(SetUp::NotHere(why));
    }
    let server = stage.postgres(&[])?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let mut xz = Command::new("xz");
        // It would not take a device.
        xz.args(["--force", "--stdout", "-6", THREADS, "/dev/zero"]);
        let compressor = stage.beside(xz)?;
        stage.cast.insert(Who::Holder, format!("pid:{compressor}@"));
    }
    let load = pgbench(stage, &["-S", "-c", "2", "-j", "1"]);
    load.with("--postgres", dsn).ready()
}
