//! MariaDB, and PgBouncer before PostgreSQL.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::super::held_out::{
    MARIADB, MARIADB_PACKAGES, mariadb_client, mariadb_server, sysbench, sysbench_load,
};
use super::super::loads::pgbench_script;
use super::programs::{PGBOUNCER, missing};
use super::{cause, servers};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::stage::Stage;

/// More rounds of 250 ms than any run is long.
const ROUNDS: usize = 400;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "pgbouncer-small-pool",
                "pool full while its workers wait",
                "Sixteen pgbench clients ask for 5 ms of sleep through PgBouncer, which has two \
                 connections to PostgreSQL for them.",
            ],
            Expect::one("limit.pool", Who::Target),
            small_pool,
        ),
        cause(
            [
                "mariadb-row-lock",
                "row lock held by an idle session",
                "Eight sysbench threads update one row of MariaDB, which another session keeps locked \
                 for 200 of every 250 ms, idle inside its transaction.",
            ],
            Expect {
                // What can be seen from outside: without asking the server, nobody knows of rows.
                or: &[("lock.database", Who::Target), ("lock.futex", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            row_lock,
        ),
        cause(
            [
                "mariadb-flush",
                "fsync on a slow disk",
                "Four sysbench threads insert rows into MariaDB, which flushes its redo log at each \
                 commit on a disk that takes its time.",
            ],
            Expect::one("io.sync", Who::Target),
            flush,
        ),
    ]
}

fn small_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    stage.postgres(&[])?;
    let pool = match cause {
        Cause::Made => 2,
        Cause::Removed => 16,
    };
    let (_, port) = servers::pgbouncer(stage, pool)?;
    let user = stage.started()?.user().to_owned();
    let words = [
        "-h",
        "127.0.0.1",
        "-p",
        &port,
        "-U",
        &user,
        "-c",
        "16",
        "-j",
        "1",
    ];
    let load = pgbench_script(stage, &words, "SELECT pg_sleep(0.005);\n")?;
    load.with_flag("--no-adjust").ready()
}

/// Eight threads that update rows of a table with one row.
fn row_lock(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = super::super::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    // Waits for the disk would be a second cause.
    let (_, port) = mariadb_server(stage, &["--innodb-flush-log-at-trx-commit=0"], None)?;
    let one_row = |threads, verb| {
        let mut words = sysbench("oltp_update_non_index", &port, threads, verb);
        words.push("--table-size=1".to_owned());
        words
    };
    let mut prepare = Command::new("sysbench");
    prepare.args(one_row("1", "prepare"));
    stage.step(prepare)?;
    if cause == Cause::Made {
        let path = stage.script("hold.sql", &holding())?;
        let mut holder = mariadb_client(&port);
        holder.args(["sbtest", "-e"]);
        holder.arg(format!("source {}", Path::new(&path).display()));
        let pid = stage.beside(holder)?;
        stage.cast.insert(Who::Holder, format!("pid:{pid}@"));
    }
    Ok(SetUp::Ready(sysbench_load(stage, one_row("8", "run"))))
}

/// The sleeps are the client's: a transaction that is forgotten, not one that works.
fn holding() -> String {
    let round = "BEGIN;\nUPDATE sbtest1 SET k = k + 1 WHERE id = 1;\n\\! sleep 0.2\nCOMMIT;\n\
                 \\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

fn flush(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    match inserts(stage, cause)? {
        Ok(load) => load.ready(),
        Err(why) => Ok(SetUp::NotHere(why)),
    }
}

/// Four sysbench threads that insert into MariaDB with its redo log on a slow disk; the inner result
/// says why that cannot be.
pub fn inserts(stage: &mut Stage, cause: Cause) -> Result<Result<Load, String>> {
    if let Some(why) = super::super::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(Err(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    let flush = match cause {
        Cause::Made => "--innodb-flush-log-at-trx-commit=1",
        Cause::Removed => "--innodb-flush-log-at-trx-commit=0",
    };
    let (_, port) = mariadb_server(stage, &[flush], Some(&disk))?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_insert", &port, "1", "prepare"));
    stage.step(prepare)?;
    let words = sysbench("oltp_insert", &port, "4", "run");
    Ok(Ok(sysbench_load(stage, words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = holding();
        assert_eq!(text.matches("BEGIN;").count(), ROUNDS);
        assert_eq!(text.matches("COMMIT;").count(), ROUNDS);
    }
}
