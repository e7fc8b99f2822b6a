//! PostgreSQL and MariaDB.

use std::process::Command;

use anyhow::Result;

use super::{cause, far, servers, third_databases};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{MARIADB, MARIADB_PACKAGES, sysbench, sysbench_load};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{DELAYED_SERVER, Stage};

/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// Some 200 ms of CPU.
const VIEW: &str = "CREATE MATERIALIZED VIEW lab_view AS SELECT n % 10 AS part, count(*) AS amount \
    FROM generate_series(1, 600000) AS n GROUP BY 1";
/// What is read of it. The sleep is the client's.
const READ: &str = "SELECT amount FROM lab_view WHERE part = 3;\n\\sleep 2 ms\n";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-new-sessions",
                "CPUs full of sessions that are opened for one transaction each",
                "Eight pgbench clients open a session of PostgreSQL for each transaction, as a program \
                 without a pool does, and read a single row in it.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            new_sessions,
        ),
        cause(
            [
                "postgres-materialized-view",
                "materialized view that is locked while it is made anew",
                "Eight pgbench clients with 2 ms to think read a materialized view of PostgreSQL, which \
                 another session makes anew, again and again, and has for itself meanwhile.",
            ],
            Expect::one("lock.database", Who::Holder),
            materialized_view,
        ),
        cause(
            [
                "mariadb-far-transactions",
                "long way that each statement of a transaction goes again",
                "Four sysbench threads ask MariaDB, which is 2 ms away in each direction, for \
                 transactions of sixteen statements, one after the other.",
            ],
            Expect::one("net.rtt", Who::Peer),
            far_transactions,
        ),
    ]
}

fn new_sessions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let dsn = stage.postgres(&["max_connections=100"])?.dsn();
    // A thread for each: else clients would connect one after the other.
    let mut words = vec!["-c", "8", "-j", "8"];
    if cause == Cause::Made {
        words.push("-C");
    }
    let read = "SELECT abalance FROM pgbench_accounts WHERE aid = 1;\n";
    let load = pgbench_script(stage, &words, read)?;
    load.with("--postgres", dsn).ready()
}

fn materialized_view(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP MATERIALIZED VIEW IF EXISTS lab_view")?;
    server.execute(VIEW)?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let holder = third_databases::session(stage, "refresh.sql", &refreshing())?;
        stage.cast.insert(Who::Holder, format!("pid:{holder}@"));
    }
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], READ)?;
    load.with("--postgres", dsn).ready()
}

fn refreshing() -> String {
    "REFRESH MATERIALIZED VIEW lab_view;\n\\! sleep 0.05\n".repeat(ROUNDS)
}

fn far_transactions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let mariadb = servers::mariadb_for_all(stage)?;
    let (server, _) = match far(stage, &mariadb, cause, 2)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    asked_from_far(stage, "oltp_read_only", server)
}

/// A sysbench test of four threads on a MariaDB behind the relay, whose process is `server`.
pub(in crate::scenarios) fn asked_from_far(
    stage: &mut Stage,
    test: &str,
    server: u32,
) -> Result<SetUp> {
    let mut create = Command::new("mariadb");
    create.args(["--no-defaults", "-h", DELAYED_SERVER, "-P", "7000"]);
    create.args(["-u", "root", "-e", "CREATE DATABASE sbtest"]);
    stage.step(create)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(far_words(test, "1", "prepare"));
    stage.step(prepare)?;
    // Sockets of another network namespace cannot be followed from here.
    sysbench_load(stage, far_words(test, "4", "run"))
        .with("--target", format!("pid:{server}"))
        .ready()
}

/// The words of a sysbench test on that server.
fn far_words(test: &str, threads: &str, verb: &str) -> Vec<String> {
    let mut words = sysbench(test, "7000", threads, verb);
    words.push(format!("--mysql-host={DELAYED_SERVER}"));
    words
}
