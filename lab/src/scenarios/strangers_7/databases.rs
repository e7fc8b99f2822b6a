//! Redis, MariaDB and PostgreSQL.

use std::process::Command;

use anyhow::Result;

use super::programs::{REDIS, missing};
use super::{beside, cause, first};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_server, sysbench, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// What Redis is asked: which members two sets have in common. There are none.
const COMMON: [&str; 4] = ["--text", "SINTER first second\r\n", "--ends", "\r\n"];

/// A row for all, and one for each client.
const ROWS: &str =
    "CREATE TABLE lab_counter AS SELECT n AS id, 0 AS value FROM generate_series(0, 8) AS n";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "redis-large-sets",
                "one thread kept busy by a command on large sets",
                "Eight connections ask Redis which members two sets have in common, each of which has \
                 10,000, and Redis compares them in its one thread; recorded without its load.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            large_sets,
        ),
        cause(
            [
                "mariadb-binary-log",
                "binary log that is synced at each commit",
                "Four sysbench threads insert rows into MariaDB, which syncs its binary log at each \
                 commit on a disk that takes its time, and leaves its redo log for later.",
            ],
            Expect::one("io.sync", Who::Target),
            binary_log,
        ),
        cause(
            [
                "postgres-hot-counter",
                "row lock that all clients want and hold while they do something else",
                "Eight pgbench clients count in one row of PostgreSQL, and each takes 5 ms for \
                 something else before it commits.",
            ],
            Expect {
                // Each of its sessions, and who opened them, has the row in turn.
                or: &[
                    ("lock.database", Who::Generator),
                    ("lock.database", Who::Holder),
                ],
                ..Expect::one("lock.database", Who::Target)
            },
            hot_counter,
        ),
    ]
}

fn large_sets(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let members = match cause {
        Cause::Made => 10_000,
        Cause::Removed => 10,
    };
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &[])?;
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let fill = format!(
        "for i = 1, {members} do redis.call('SADD', 'first', i) redis.call('SADD', 'second', -i) end"
    );
    let mut client = Command::new("redis-cli");
    client.args(["-p", &port, "EVAL", &fill, "0"]);
    stage.step(client)?;
    let address = here(&port);
    let words = [&["load", &address, "--connections", "8"][..], &COMMON].concat();
    beside(stage, pid, &words)?.ready()
}

fn binary_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let sync = match cause {
        Cause::Made => "--sync-binlog=1",
        Cause::Removed => "--sync-binlog=0",
    };
    let log = format!("--log-bin={}", disk.join("log").display());
    // The redo log would be a second thing to wait for.
    let later = "--innodb-flush-log-at-trx-commit=0";
    let (_, port) = mariadb_server(stage, &["--server-id=1", &log, sync, later], None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_insert", &port, "1", "prepare"));
    stage.step(prepare)?;
    let words = sysbench("oltp_insert", &port, "4", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

fn hot_counter(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_counter")?;
    server.execute(ROWS)?;
    let dsn = server.dsn();
    // Whichever session it is.
    stage.cast.insert(Who::Holder, "pid:".to_owned());
    let row = match cause {
        Cause::Made => "8",
        Cause::Removed => ":client_id",
    };
    let script = format!(
        "BEGIN;\nUPDATE lab_counter SET value = value + 1 WHERE id = {row};\n\\sleep 5 ms\nCOMMIT;\n"
    );
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], &script)?;
    load.with("--postgres", dsn).ready()
}
