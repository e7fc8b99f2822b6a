//! PostgreSQL behind PgBouncer, and MariaDB.

use std::ffi::OsString;

use anyhow::{Context, Result};

use super::programs::{PGBOUNCER, PYTHON, missing};
use super::{cause, first};
use crate::postgres::DATABASE;
use crate::scenario::{AROUND, Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{MARIADB, MARIADB_PACKAGES, mariadb_client, mariadb_server};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// More rounds than any run is long.
const ROUNDS: usize = 400;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "pgbouncer-table-lock",
                "table lock held by a session that works",
                "Eight pgbench clients with 5 ms to think read a table of PostgreSQL through \
                 PgBouncer, and a job keeps all of it locked while it adds up another, again and \
                 again; PostgreSQL is recorded without its load.",
            ],
            Expect {
                // What can be seen without asking the server, as nobody does here.
                or: &[("lock.database", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            table_lock,
        ),
        cause(
            [
                "mariadb-no-more-connections",
                "connections used up",
                "Thirty workers without a connection pool each want a session of MariaDB for 0.2 s, \
                 which admits ten at a time.",
            ],
            Expect::one("limit.connections", Who::Target),
            no_more_connections,
        ),
    ]
}

fn table_lock(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    let server = stage.postgres(&[])?;
    let pid = server.pid();
    server.execute("DROP TABLE IF EXISTS lab_list")?;
    server.execute("CREATE TABLE lab_list AS SELECT n FROM generate_series(1, 100) AS n")?;
    if cause == Cause::Made {
        let holder = job(stage)?;
        stage.cast.insert(Who::Holder, format!("pid:{holder}@"));
    }
    let (_, port) = first::pgbouncer(stage, 8)?;
    let user = stage.started()?.user().to_owned();
    let server = ["-h", "127.0.0.1", "-p", &port, "-U", &user];
    let words = [&server[..], &["-c", "8", "-j", "1"]].concat();
    let recorded = stage.seconds;
    stage.seconds += 2 * u32::try_from(AROUND.as_secs())?;
    let load = pgbench_script(
        stage,
        &words,
        "SELECT count(*) FROM lab_list;\n\\sleep 5 ms\n",
    );
    stage.seconds = recorded;
    load?.recorded_beside(pid).ready()
}

/// Starts the session that holds the lock and works; the process that serves it.
fn job(stage: &mut Stage) -> Result<u32> {
    let path = stage.script("job.sql", &rounds())?;
    let mut psql = stage.started()?.client("psql");
    psql.args(["-q", "-A", "-t", "-f"]).arg(path).arg(DATABASE);
    let (_, line) = stage.beside_that_speaks(psql)?;
    line.parse()
        .with_context(|| format!("psql said {line} for the process of its session"))
}

/// What it adds up is in memory, and some 100 ms of CPU of its one process each time.
fn rounds() -> String {
    let mut text = "SELECT pg_backend_pid();\n\\o /dev/null\n".to_owned();
    text.push_str("SET max_parallel_workers_per_gather = 0;\n");
    for _ in 0..ROUNDS {
        text.push_str("BEGIN;\nLOCK TABLE lab_list IN ACCESS EXCLUSIVE MODE;\n");
        text.push_str(&"SELECT sum(abalance) FROM pgbench_accounts;\n".repeat(2));
        text.push_str("COMMIT;\n\\! sleep 0.03\n");
    }
    text
}

fn no_more_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    if let Some(why) = super::super::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let limit = match cause {
        Cause::Made => "--max-connections=10",
        Cause::Removed => "--max-connections=100",
    };
    let (_, port) = mariadb_server(stage, &[limit], None)?;
    // One place is kept for administrators, so that one can look.
    let mut create = mariadb_client(&port);
    create.args(["-e", "CREATE USER application@'127.0.0.1'"]);
    stage.step(create)?;
    let file = stage.script("sessions.py", include_str!("../../../programs/sessions.py"))?;
    let seconds = stage.seconds.to_string();
    let words = ["--port", &port, "--user", "application"];
    let words = [&words[..], &["--seconds", &seconds]].concat();
    let command = [OsString::from(first::PYTHON), file];
    Load::new(
        command
            .into_iter()
            .chain(words.into_iter().map(OsString::from)),
    )
    .ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = rounds();
        assert_eq!(text.matches("BEGIN;").count(), ROUNDS);
        assert_eq!(text.matches("COMMIT;").count(), ROUNDS);
    }
}
