//! PostgreSQL, MariaDB and Redis.

use std::process::Command;

use anyhow::{Context, Result};

use super::programs::{REDIS, missing};
use super::{cause, first, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_server, sysbench, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage, device_of};

/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// So many reads per second.
const READS: u32 = 300;
/// So few that it does not hold the table.
const BUFFER_POOL: &str = "--innodb-buffer-pool-size=8M";

/// What Redis is asked by the load.
const GET: [&str; 4] = ["--text", "GET key\r\n", "--ends", "\r\n"];
/// What its keys are made by: names that nobody asks for.
const FILL: &str = "for i = 1, 300000 do redis.call('SET', 'k' .. i, i) end";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-alter-queue",
                "table lock that is waited for and makes others wait",
                "A session of PostgreSQL has read a table and is idle inside its transaction for 200 \
                 of every 250 ms, another wants to alter that table and waits for it, and eight \
                 pgbench clients, who could read beside the first, wait behind the second.",
            ],
            Expect {
                // To end either of the two takes the wait away.
                or: &[("lock.database", Who::Peer)],
                ..Expect::one("lock.database", Who::Holder)
            },
            alter_queue,
        ),
        cause(
            [
                "mariadb-reads-limited",
                "limited reads",
                "Eight sysbench threads read single rows of 50 MB from MariaDB, which keeps 8 MB of \
                 them and whose group may read 300 times per second.",
            ],
            Expect::one("io.throttled", Who::LimitedGroup),
            reads_limited,
        ),
        cause(
            [
                "redis-keys-of-another",
                "one thread kept busy by somebody else's command",
                "Four connections get a key from Redis, and another client makes it look through all \
                 of its 300,000 keys, again and again.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            keys_of_another,
        ),
    ]
}

fn alter_queue(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_list")?;
    server.execute("CREATE TABLE lab_list AS SELECT n FROM generate_series(1, 100) AS n")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let reader = session(stage, "reader.sql", &reading())?;
        stage.cast.insert(Who::Holder, format!("pid:{reader}@"));
        let changer = session(stage, "changer.sql", &changing())?;
        stage.cast.insert(Who::Peer, format!("pid:{changer}@"));
    }
    let count = "SELECT count(*) FROM lab_list;\n";
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], count)?;
    load.with("--postgres", dsn).ready()
}

/// Starts a session with a script that says its process first; that process.
pub fn session(stage: &mut Stage, name: &str, rounds: &str) -> Result<u32> {
    let text = format!("SELECT pg_backend_pid();\n\\o /dev/null\n{rounds}");
    let path = stage.script(name, &text)?;
    let mut psql: Command = stage.started()?.client("psql");
    psql.args(["-q", "-A", "-t", "-f"]).arg(path).arg(DATABASE);
    let (_, line) = stage.beside_that_speaks(psql)?;
    line.parse()
        .with_context(|| format!("psql said {line} for the process of its session"))
}

/// The sleeps are the client's.
fn reading() -> String {
    let round = "BEGIN;\nSELECT n FROM lab_list LIMIT 1;\n\\! sleep 0.2\nCOMMIT;\n\\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

fn changing() -> String {
    "ALTER TABLE lab_list ALTER COLUMN n SET DEFAULT 0;\n\\! sleep 0.02\n".repeat(ROUNDS)
}

fn reads_limited(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = large_table(stage)?;
    if cause == Cause::Made {
        let device = device_of(stage.folder());
        let limit = device.map(|device| Limit::ReadsPerSecond(device, READS));
        match limit.and_then(|limit| stage.confine("limited", pid, &[limit])) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    Ok(SetUp::Ready(sysbench_load(stage, rows(&port, "8", "run"))))
}

/// MariaDB with 50 MB of rows, of which it keeps 8 MB; its process and its port.
pub fn large_table(stage: &mut Stage) -> Result<(u32, String)> {
    // It reads past the page cache, and writes nothing that waits.
    let settings = [BUFFER_POOL, "--innodb-flush-method=O_DIRECT"];
    let settings = [&settings[..], &["--innodb-flush-log-at-trx-commit=0"]].concat();
    let (pid, port) = mariadb_server(stage, &settings, None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(rows(&port, "1", "prepare"));
    stage.step(prepare)?;
    Ok((pid, port))
}

/// The words of a sysbench test on that table.
pub fn rows(port: &str, threads: &str, verb: &str) -> Vec<String> {
    let mut words = sysbench("oltp_point_select", port, threads, verb);
    words.push("--table-size=200000".to_owned());
    words.push("--rand-type=uniform".to_owned());
    words
}

fn keys_of_another(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &[])?;
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let mut fill = Command::new("redis-cli");
    fill.args(["-p", &port, "EVAL", FILL, "0"]);
    stage.step(fill)?;
    if cause == Cause::Made {
        let mut other = Command::new("redis-cli");
        other.args(["-p", &port, "-r", "-1", "-i", "0.001"]);
        stage.beside({
            other.args(["KEYS", "nobody*"]);
            other
        })?;
    }
    let address = here(&port);
    let words = [&["load", &address, "--connections", "4"][..], &GET].concat();
    unknown(stage, &words)?.ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_ends_its_transaction() {
        let text = reading();
        assert_eq!(text.matches("BEGIN;").count(), ROUNDS);
        assert_eq!(text.matches("COMMIT;").count(), ROUNDS);
        assert_eq!(changing().matches("ALTER TABLE").count(), ROUNDS);
    }
}
