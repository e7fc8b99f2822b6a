//! PostgreSQL and MariaDB.

use std::path::Path;

use anyhow::Result;

use super::cause;
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, mariadb_client, mariadb_server, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// Users, and what they log in by.
const USERS: &str = "CREATE TABLE lab_user AS \
    SELECT n AS id, 'User' || n || '@Example.com' AS address FROM generate_series(1, 30000) AS n";
const LOG_IN: &str = "\\set n random(1, 30000)\n\
    SELECT id FROM lab_user WHERE lower(address) = 'user' || :n || '@example.com';\n";
/// Articles of a shop: one for each of sysbench's threads.
const STOCK: &str = "CREATE TABLE lab_stock (id INT PRIMARY KEY, sold INT NOT NULL); \
    INSERT INTO lab_stock SELECT seq, 0 FROM seq_1_to_8";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-lower-case-address",
                "CPUs full of looking at all rows, since a function around the column keeps its index away",
                "Eight pgbench clients look up users of PostgreSQL by their address in small letters, and the index is on the \
                 address as it was written.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            lower_case_address,
        ),
        cause(
            [
                "mariadb-hot-article",
                "row lock that all clients want and hold while they do something else",
                "Eight sysbench threads sell the same article in MariaDB, and each takes 5 ms for the rest of the order before \
                 it commits.",
            ],
            Expect {
                // Each of them has the row in turn; without asking the server, nobody knows of its locks.
                or: &[
                    ("lock.database", Who::Generator),
                    ("lock.futex", Who::Target),
                ],
                ..Expect::one("lock.database", Who::Target)
            },
            hot_article,
        ),
    ]
}

/// From <https://use-the-index-luke.com/sql/where-clause/functions/case-insensitive-search> and
/// <https://monpg.app/blog/postgresql-expression-indexes>: logins were slow, since there was an index on the address and the
/// statement asked for `lower(address)`.
fn lower_case_address(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_user")?;
    server.execute(USERS)?;
    let column = match cause {
        Cause::Made => "address",
        Cause::Removed => "lower(address)",
    };
    server.execute(&format!("CREATE INDEX ON lab_user ({column})"))?;
    server.execute("VACUUM ANALYZE lab_user")?;
    let dsn = server.dsn();
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], LOG_IN)?;
    load.with("--postgres", dsn).ready()
}

/// From <https://learnworld.net/docs/geek/mysql-practical-45-lessons/07-row-locks-how-to-reduce-row-lock-impact-on-performance>
/// and <https://sysdesign-wiki.pages.dev/concepts/row-level-lock-contention/>: all orders change the same row, and each keeps
/// it until it commits, so that the database does one after the other.
fn hot_article(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    // Waits for the disk would be a second cause.
    let settings = ["--innodb-flush-log-at-trx-commit=0"];
    let (_, port) = mariadb_server(stage, &settings, None)?;
    let mut client = mariadb_client(&port);
    client.args(["sbtest", "-e", STOCK]);
    stage.step(client)?;
    let article = match cause {
        Cause::Made => "--article=one",
        Cause::Removed => "--article=own",
    };
    let text = include_str!("../../../programs/hot_row.lua");
    let script = stage.script("hot_row.lua", text)?;
    let words = [
        &Path::new(&script).display().to_string(),
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &format!("--mysql-port={port}"),
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--threads=8",
        article,
        "run",
    ];
    let words = words.map(str::to_owned).to_vec();
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}
