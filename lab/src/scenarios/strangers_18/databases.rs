//! PostgreSQL and MariaDB.

use std::path::Path;

use anyhow::Result;

use super::{cause, third_databases};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, mariadb_client, mariadb_server, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// Orders, of which a list shows ten at a time.
const ORDERS: &str = "CREATE TABLE lab_order (id INT PRIMARY KEY, note VARCHAR(100) NOT NULL); \
    INSERT INTO lab_order SELECT seq, REPEAT('n', 60) FROM seq_1_to_30000; \
    ANALYZE TABLE lab_order";
/// Customers, and what the application asks for.
const CUSTOMERS: &str = "CREATE TABLE lab_customer AS \
    SELECT n AS id, 'customer ' || n AS name FROM generate_series(1, 1000) AS n";
const LOOK_UP: &str = "\\set id random(1, 1000)\nSELECT name FROM lab_customer WHERE id = :id;\n";
/// Longer than any run.
const ROUNDS: usize = 400;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-open-migration",
                "table lock of a session that has changed the table and is idle in its transaction",
                "Eight pgbench clients look up customers in PostgreSQL, and wait while a session that has added a \
                 column to their table does nothing in its open transaction, for 200 of every 250 ms.",
            ],
            Expect {
                // Without asking the server, nobody knows who holds the lock.
                or: &[("lock.database", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            open_migration,
        ),
        cause(
            [
                "mariadb-far-pages",
                "CPUs full of reading all rows before the page of a list that is asked for",
                "Eight sysbench threads ask MariaDB for pages far down in a list of orders, by an offset, so \
                 that it reads and forgets 20,000 orders for ten.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            far_pages,
        ),
    ]
}

/// From <https://thesev1database.com/cookbook/long-running-lock-wait-blocked-queries/>, where a connection idle in its transaction
/// held an ACCESS EXCLUSIVE lock on a table and all queries queued behind it, and
/// <https://hivebook.wiki/wiki/postgresql-idle-in-transaction-lock-pileups-and-connection-exhaustion>: "one of the most common
/// ways a healthy PostgreSQL instance grinds to a halt".
fn open_migration(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Waits for the disk would be a second cause.
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_customer")?;
    server.execute(CUSTOMERS)?;
    server.execute("ALTER TABLE lab_customer ADD PRIMARY KEY (id)")?;
    server.execute("VACUUM ANALYZE lab_customer")?;
    let dsn = server.dsn();
    if cause == Cause::Made {
        let migration = third_databases::session(stage, "migration.sql", &migrating())?;
        stage.cast.insert(Who::Holder, format!("pid:{migration}@"));
    }
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], LOOK_UP)?;
    load.with("--postgres", dsn).ready()
}

/// The sleeps are the client's.
fn migrating() -> String {
    let change = "ALTER TABLE lab_customer ADD COLUMN note text";
    let round = format!("BEGIN;\n{change};\n\\! sleep 0.2\nROLLBACK;\n\\! sleep 0.05\n");
    round.repeat(ROUNDS)
}

/// From <https://www.besthub.dev/articles/analyzing-and-optimizing-mysql-pagination-performance-with-large-offsets-d0816ef1373e>,
/// where 8,000 calls for page 3,601 of a list slowed a whole cluster down, and
/// <https://www.chatdba.com/blog/optimizing-mysql-deep-pagination-limit-performance>: all rows before the offset are read and
/// thrown away.
fn far_pages(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = mariadb_server(stage, &[], None)?;
    let mut client = mariadb_client(&port);
    client.args(["sbtest", "-e", ORDERS]);
    stage.step(client)?;
    let page = match cause {
        Cause::Made => "--page=offset",
        Cause::Removed => "--page=key",
    };
    let text = include_str!("../../../programs/far_pages.lua");
    let script = stage.script("far_pages.lua", text)?;
    let words = [
        &Path::new(&script).display().to_string(),
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &format!("--mysql-port={port}"),
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--threads=8",
        page,
        "run",
    ];
    sysbench_load(stage, words.map(str::to_owned).to_vec()).ready()
}
