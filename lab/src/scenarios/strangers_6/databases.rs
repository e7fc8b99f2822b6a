//! PostgreSQL, Redis and MariaDB.

use std::process::Command;

use anyhow::Result;

use super::programs::{REDIS, missing};
use super::{cause, first, limited, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_client, mariadb_server, sysbench, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage, device_of};

/// So few rows that PostgreSQL looks through them in one process.
const FILL: &str = "CREATE TABLE lab_customer AS SELECT n AS id, md5(n::text) AS mail \
                    FROM generate_series(1, 40000) AS n";
/// One of them, by a column that has an index or has none.
const LOOK_UP: &str = "\\set n random(1, 40000)\n\
    SELECT id FROM lab_customer WHERE mail = md5(:n::text);\n";

/// Redis syncs its append-only file before each answer.
const JOURNAL: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];
/// So many writes per second.
const WRITES: u32 = 20;
/// What is asked of it, and how its answer ends.
const SET: [&str; 4] = ["--text", "SET key value\r\n", "--ends", "\r\n"];

/// What MariaDB is asked.
const UPDATES: &str = "oltp_update_non_index";
/// More rounds of 250 ms than any run is long.
const ROUNDS: usize = 400;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-missing-index",
                "CPUs full of looking through a table without an index",
                "Eight pgbench clients look for a row of PostgreSQL by a column without an index, and \
                 each time it looks through 40,000 rows, all of which are in memory.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            missing_index,
        ),
        cause(
            [
                "redis-limited-journal",
                "limited writes under each fsync",
                "Eight connections set a key in Redis, which syncs its append-only file before each \
                 answer, and its group may write 20 times per second.",
            ],
            Expect::one("io.throttled", Who::LimitedGroup),
            limited_journal,
        ),
        cause(
            [
                "mariadb-global-read-lock",
                "read lock of a whole server that an idle session holds",
                "Eight sysbench threads update rows of MariaDB, and another session, as if for a \
                 backup, keeps all tables of the server read-only for 200 of every 250 ms and does \
                 nothing.",
            ],
            Expect {
                // What can be seen from outside: without asking the server, nobody knows of its locks.
                or: &[("lock.database", Who::Target), ("lock.futex", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            global_read_lock,
        ),
    ]
}

fn missing_index(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_customer")?;
    server.execute(FILL)?;
    if cause == Cause::Removed {
        server.execute("CREATE INDEX ON lab_customer (mail)")?;
    }
    // Else the first queries would note what they have found out about each row.
    server.execute("VACUUM ANALYZE lab_customer")?;
    pgbench_script(stage, &["-c", "8", "-j", "1"], LOOK_UP)?.ready()
}

fn limited_journal(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &JOURNAL)?;
    if cause == Cause::Made {
        let limit = match device_of(stage.folder()) {
            Ok(device) => Limit::WritesPerSecond(device, WRITES),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
        if let Some(why) = limited(stage, pid, limit) {
            return Ok(SetUp::NotHere(why));
        }
    }
    let address = here(&port);
    let words = [&["load", &address, "--connections", "8"][..], &SET].concat();
    unknown(stage, &words)?.ready()
}

fn global_read_lock(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    // Waits for the disk would be a second cause.
    let (_, port) = mariadb_server(stage, &["--innodb-flush-log-at-trx-commit=0"], None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench(UPDATES, &port, "1", "prepare"));
    stage.step(prepare)?;
    if cause == Cause::Made {
        let path = stage.script("hold.sql", &holding())?;
        let mut holder = mariadb_client(&port);
        holder.args(["sbtest", "-e"]);
        holder.arg(format!("source {}", path.display()));
        let pid = stage.beside(holder)?;
        stage.cast.insert(Who::Holder, format!("pid:{pid}@"));
    }
    let mut words = sysbench(UPDATES, &port, "8", "run");
    // What is prepared would have to be prepared again after each lock.
    words.push("--db-ps-mode=disable".to_owned());
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

/// The sleeps are the client's: a backup that waits for something else.
fn holding() -> String {
    let round = "FLUSH TABLES WITH READ LOCK;\n\\! sleep 0.2\nUNLOCK TABLES;\n\\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_gives_the_tables_back() {
        let text = holding();
        assert_eq!(text.matches("FLUSH TABLES WITH READ LOCK;").count(), ROUNDS);
        assert_eq!(text.matches("UNLOCK TABLES;").count(), ROUNDS);
    }
}
