//! PostgreSQL, PgBouncer, MariaDB and Redis.

use std::process::{Command, Stdio};

use anyhow::Result;

use super::programs::{PGBOUNCER, REDIS, missing};
use super::{cause, first, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_client, mariadb_server, sysbench, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// More rounds than any run is long.
const ROUNDS: usize = 1000;
/// For large reports compiling is worth its time; here it was asked for whatever a query costs.
const COMPILED: [&str; 2] = ["jit=on", "jit_above_cost=0"];
const INTERPRETED: [&str; 2] = ["jit=off", "jit_above_cost=0"];
/// Sales of a day, by shop.
const SALES: &str = "SELECT shop, count(*), sum(amount), max(amount) FROM lab_sale WHERE day = 7 \
    AND amount > 5 GROUP BY shop ORDER BY shop;\n";
/// A report waits for something else for most of its time.
const REPORT: &str = "SELECT pg_sleep(0.2);\n";
/// Connections of PgBouncer to PostgreSQL, and how many of them reports take.
const POOL: u32 = 4;
const REPORTS: &str = "3";
/// A ranking, and ten of it from a place on.
const RANKING: &str =
    "for i = 0, 99999 do redis.call('ZADD', 'rank', i, string.format('m%06d', i)) end";
const PAGES: [[&str; 4]; 2] = [
    [
        "--text",
        "ZRANGEBYSCORE rank -inf +inf LIMIT 90000 10\r\n",
        "--ends",
        "m090009\r\n",
    ],
    [
        "--text",
        "ZRANGEBYSCORE rank -inf +inf LIMIT 0 10\r\n",
        "--ends",
        "m000009\r\n",
    ],
];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-compiled-queries",
                "CPUs full of compiling each small query to machine code",
                "Eight pgbench clients ask PostgreSQL for the sales of a day, some hundred rows, and by \
                 its settings it compiles each query to machine code before it runs it.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            compiled_queries,
        ),
        cause(
            [
                "pgbouncer-reports-in-pool",
                "pool of connections that long reports of others hold",
                "Eight pgbench clients ask PostgreSQL for 2 ms of sleep through PgBouncer, which has \
                 four connections, and three of these are with reports of others that take 200 ms.",
            ],
            Expect::one("limit.pool", Who::Target),
            reports_in_pool,
        ),
        cause(
            [
                "mariadb-counted-keys",
                "counter of keys that an import keeps for as long as its statement takes",
                "Eight sysbench threads insert rows into MariaDB, and an import inserts twenty rows by \
                 one statement that takes 200 of every 250 ms, during which by the settings nobody \
                 else gets a key from the table's counter.",
            ],
            Expect {
                // What can be seen from outside: without asking the server, nobody knows of its locks.
                or: &[("lock.database", Who::Target), ("lock.futex", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            counted_keys,
        ),
        cause(
            [
                "redis-deep-pages",
                "one thread that counts through a ranking up to the page that is asked for",
                "Eight connections ask Redis for ten members of a ranking behind the first 90,000, \
                 which it counts through one by one.",
            ],
            Expect::one("cpu.single_thread", Who::Thread),
            deep_pages,
        ),
    ]
}

fn compiled_queries(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let settings = match cause {
        Cause::Made => COMPILED,
        Cause::Removed => INTERPRETED,
    };
    let server = stage.postgres(&settings)?;
    server.execute("DROP TABLE IF EXISTS lab_sale")?;
    server.execute(
        "CREATE TABLE lab_sale AS SELECT n % 30 AS day, n % 12 AS shop, n % 97 AS amount FROM \
         generate_series(1, 9000) AS n",
    )?;
    server.execute("CREATE INDEX ON lab_sale (day)")?;
    server.execute("VACUUM ANALYZE lab_sale")?;
    pgbench_script(stage, &["-c", "8", "-j", "1"], SALES)?.ready()
}

fn reports_in_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PGBOUNCER]) {
        return Ok(SetUp::NotHere(why));
    }
    stage.postgres(&[])?;
    let (_, port) = first::pgbouncer(stage, POOL)?;
    let user = stage.started()?.user().to_owned();
    let pooled = ["-h", "127.0.0.1", "-p", &port, "-U", &user];
    let mut reports = Command::new("pgbench");
    stage.serve_command(&mut reports);
    reports.args(["-n", "-c", REPORTS, "-j", "1", "-T", "600", "-f"]);
    reports.arg(stage.script("report.sql", REPORT)?);
    if cause == Cause::Made {
        reports.args(pooled);
    }
    // It complains when the server is gone.
    reports.arg(DATABASE).stderr(Stdio::null());
    stage.beside(reports)?;
    let words = [&pooled[..], &["-c", "8", "-j", "1"]].concat();
    let load = pgbench_script(stage, &words, "SELECT pg_sleep(0.002);\n")?;
    load.with_flag("--no-adjust").ready()
}

fn counted_keys(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let mode = match cause {
        Cause::Made => "--innodb-autoinc-lock-mode=1",
        Cause::Removed => "--innodb-autoinc-lock-mode=2",
    };
    // Waits for the disk would be a second cause.
    let settings = [mode, "--innodb-flush-log-at-trx-commit=0"];
    let (_, port) = mariadb_server(stage, &settings, None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_insert", &port, "1", "prepare"));
    stage.step(prepare)?;
    let path = stage.script("import.sql", &importing())?;
    let mut import = mariadb_client(&port);
    import.stderr(Stdio::null());
    import.args(["sbtest", "-e"]);
    import.arg(format!("source {}", std::path::Path::new(&path).display()));
    let pid = stage.beside(import)?;
    stage.cast.insert(Who::Holder, format!("pid:{pid}@"));
    let words = sysbench("oltp_insert", &port, "8", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

/// Each row takes its time, as one does that comes from another server.
fn importing() -> String {
    let round = "INSERT INTO sbtest1 (k, c, pad) SELECT SLEEP(0.01), 'c', 'pad' FROM \
                 seq_1_to_20;\n\\! sleep 0.05\n";
    round.repeat(ROUNDS)
}

fn deep_pages(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let [deep, top] = PAGES;
    let page = match cause {
        Cause::Made => deep,
        Cause::Removed => top,
    };
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &[])?;
    // The first thread of Redis is the one that runs commands.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let mut fill = Command::new("redis-cli");
    fill.args(["-p", &port, "EVAL", RANKING, "0"]);
    stage.step(fill)?;
    let address = here(&port);
    let words = [&["load", &address, "--connections", "8"][..], &page].concat();
    unknown(stage, &words)?.ready()
}
