//! PgBouncer before PostgreSQL, PostgreSQL, MariaDB and Redis.

use std::ffi::OsString;

use anyhow::Result;

use super::programs::{PGBOUNCER, PYTHON, REDIS, missing};
use super::{cause, first, limited, third_databases};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, mariadb_server, sysbench, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage};

/// 0.1 of one CPU, in us per 100 ms.
const QUOTA: u32 = 10_000;
/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// The foreign key asks for the row of the order that the item belongs to. The sleep is the client's, so
/// that there are moments in which nobody has that row.
const INSERT: &str = "INSERT INTO lab_item VALUES (1, :client_id);\n\\sleep 2 ms\n";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "pgbouncer-quota",
                "CPU quota of the pooler before the server",
                "Eight pgbench clients ask PostgreSQL for next to nothing through PgBouncer, whose \
                 group may use 0.1 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            quota,
        ),
        cause(
            [
                "postgres-foreign-key",
                "row lock that a foreign key asks for",
                "Eight pgbench clients with 2 ms to think insert items of one order into PostgreSQL, and \
                 another session keeps that order for an update for 200 of every 250 ms and does \
                 nothing.",
            ],
            Expect::one("lock.database", Who::Holder),
            foreign_key,
        ),
        cause(
            [
                "mariadb-thread-pool",
                "pool of threads inside the database used up",
                "Sixteen sysbench threads ask MariaDB for 5 ms of sleep, and it has a pool of three \
                 threads for all sessions.",
            ],
            Expect::one("limit.pool", Who::Target),
            thread_pool,
        ),
        cause(
            [
                "redis-client-limit",
                "clients turned away by their number",
                "Thirty workers without a pool each want a connection to Redis for 0.2 s, and it admits \
                 ten at a time.",
            ],
            Expect::one("limit.connections", Who::Target),
            client_limit,
        ),
    ]
}

fn quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    stage.postgres(&[])?;
    let (pid, port) = first::pgbouncer(stage, 8)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    if let Some(why) = limited(stage, pid, Limit::CpuQuota(quota)) {
        return Ok(SetUp::NotHere(why));
    }
    let user = stage.started()?.user().to_owned();
    let server = ["-h", "127.0.0.1", "-p", &port, "-U", &user];
    let words = [&server[..], &["-c", "8", "-j", "1"]].concat();
    pgbench_script(stage, &words, "SELECT 1;\n")?.ready()
}

fn foreign_key(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_item")?;
    server.execute("DROP TABLE IF EXISTS lab_order")?;
    server.execute("CREATE TABLE lab_order (id int PRIMARY KEY)")?;
    server.execute("INSERT INTO lab_order VALUES (1)")?;
    server.execute("CREATE TABLE lab_item (of int REFERENCES lab_order, client int)")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let holder = third_databases::session(stage, "hold.sql", &holding())?;
        stage.cast.insert(Who::Holder, format!("pid:{holder}@"));
    }
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], INSERT)?;
    load.with("--postgres", dsn).ready()
}

/// The sleeps are the client's.
fn holding() -> String {
    let round = "BEGIN;\nSELECT id FROM lab_order WHERE id = 1 FOR UPDATE;\n\\! sleep 0.2\n\
                 COMMIT;\n\\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

fn thread_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let pool = [
        "--thread-handling=pool-of-threads",
        "--thread-pool-size=1",
        "--thread-pool-max-threads=3",
    ];
    let settings = match cause {
        Cause::Made => &pool[..],
        Cause::Removed => &[],
    };
    let (_, port) = mariadb_server(stage, settings, None)?;
    let test = stage.script("sleep.lua", include_str!("../../../programs/sleep.lua"))?;
    let words = sysbench(&test.to_string_lossy(), &port, "16", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

fn client_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let limit = match cause {
        Cause::Made => "10",
        Cause::Removed => "100",
    };
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &["--maxclients", limit])?;
    let file = stage.script("clients.py", include_str!("../../../programs/clients.py"))?;
    let seconds = stage.seconds.to_string();
    let words = ["--port", &port, "--seconds", &seconds].map(OsString::from);
    let command = [OsString::from(first::PYTHON), file];
    Load::new(command.into_iter().chain(words)).ready()
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
