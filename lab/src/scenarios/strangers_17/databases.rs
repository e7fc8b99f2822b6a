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

/// Payments with a code, which has an index for searches by how it begins.
const PAYMENTS: &str = "CREATE TABLE lab_payment AS SELECT n AS id, 'pay-' || n || '-' || md5(n::text) AS code \
    FROM generate_series(1, 30000) AS n";
const INDEX: &str = "CREATE INDEX lab_payment_code ON lab_payment (code text_pattern_ops)";
/// A search for a part of a code, and one for its beginning.
const PART: &str =
    "\\set id random(1, 30000)\nSELECT id FROM lab_payment WHERE code LIKE '%-:id-%';\n";
const BEGINNING: &str =
    "\\set id random(1, 30000)\nSELECT id FROM lab_payment WHERE code LIKE 'pay-:id-%';\n";
/// Articles of a shop.
const STOCK: &str = "CREATE TABLE lab_stock (id INT PRIMARY KEY, amount INT NOT NULL); \
    INSERT INTO lab_stock SELECT seq, 1000000 FROM seq_1_to_50";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-leading-wildcard",
                "CPUs full of a search for a part of a text, which no index helps",
                "Eight pgbench clients search payments in PostgreSQL for a part of their code, so that each \
                 time it looks at all 30,000, where the index would find its beginning.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            leading_wildcard,
        ),
        cause(
            [
                "mariadb-last-article",
                "row lock that all clients want and hold while they do something else",
                "Eight sysbench threads take the same article of MariaDB from stock, and each works on its \
                 order for 3 ms before it commits, while the others wait for the row.",
            ],
            Expect {
                // Each thread has the row in turn; without asking the server, nobody knows of its locks.
                or: &[
                    ("lock.database", Who::Generator),
                    ("lock.futex", Who::Target),
                ],
                ..Expect::one("lock.database", Who::Target)
            },
            last_article,
        ),
    ]
}

/// From <https://ivanluminaria.com/en/posts/postgresql/like-optimization-postgresql>, where the search of an admin console was
/// slow since `LIKE '%value%'` had PostgreSQL read all of a table, and
/// <https://eka-blog.pages.dev/posts/connection-pool-exhaustion>, where the same kept all others out.
fn leading_wildcard(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_payment")?;
    server.execute(PAYMENTS)?;
    server.execute(INDEX)?;
    server.execute("VACUUM ANALYZE lab_payment")?;
    let dsn = server.dsn();
    let search = match cause {
        Cause::Made => PART,
        Cause::Removed => BEGINNING,
    };
    let load = pgbench_script(stage, &["-c", "8", "-j", "1"], search)?;
    load.with("--postgres", dsn).ready()
}

/// From <https://learnworld.net/docs/geek/mysql-practical-45-lessons/07-row-locks-how-to-reduce-row-lock-impact-on-performance>,
/// where a transaction keeps the row that all want until it commits, and
/// <https://sysdesign-wiki.pages.dev/concepts/row-level-lock-contention/>, which has two companies' reports of one counter that
/// all transactions waited for.
fn last_article(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    // Waits for the disk would be another cause.
    let settings = ["--innodb-flush-log-at-trx-commit=0"];
    let (_, port) = mariadb_server(stage, &settings, None)?;
    let mut client = mariadb_client(&port);
    client.args(["sbtest", "-e", STOCK]);
    stage.step(client)?;
    let article = match cause {
        Cause::Made => "--article=one",
        Cause::Removed => "--article=own",
    };
    let script = stage.script("stock.lua", include_str!("../../../programs/stock.lua"))?;
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
    sysbench_load(stage, words.map(str::to_owned).to_vec()).ready()
}
