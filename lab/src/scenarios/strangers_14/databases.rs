//! PostgreSQL, MariaDB and Redis.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

use super::programs::{PYTHON, REDIS, missing};
use super::{cause, far, first, ninth};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, mariadb_client, mariadb_server, sysbench_load,
};
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// Articles, of which a list shows twenty and how many pages there are.
const ARTICLES: &str = "CREATE TABLE lab_article AS SELECT n AS id, n % 10 <> 0 AS published, \
    repeat('x', 100) AS text FROM generate_series(1, 50000) AS n";
/// Pages with how often they were looked at.
const PAGES: &str = "CREATE TABLE lab_page (id INT PRIMARY KEY, visits INT NOT NULL) ENGINE =";
/// What reads all of them, again and again.
const REPORT: &str = "DELIMITER //\nCREATE PROCEDURE report() BEGIN LOOP SELECT MAX(MD5(CONCAT(id, visits))) \
    INTO @most FROM lab_page; DO SLEEP(0.02); END LOOP; END//\n";
/// Processes of the web application.
const PROCESSES: &str = "4";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "postgres-counted-articles",
                "CPUs full of counting the rows of a table for each page of a list",
                "Eight pgbench clients ask PostgreSQL how many articles there are, as a list with \
                 numbers of pages does, and it looks at each of 50,000 to tell.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            counted_articles,
        ),
        cause(
            [
                "mariadb-myisam-report",
                "table lock of an engine that knows no locks of rows, held by a report",
                "Eight sysbench threads count visits of pages in a MyISAM table of MariaDB, and wait \
                 while a report of another session reads all of the table, nine tenths of the time.",
            ],
            Expect {
                // Without asking the server, nobody knows of its locks.
                or: &[("lock.database", Who::Target), ("lock.futex", Who::Target)],
                ..Expect::one("lock.database", Who::Holder)
            },
            myisam_report,
        ),
        cause(
            [
                "redis-question-by-question",
                "long way that each of many small questions of a page goes again",
                "Four processes of a web application ask Redis, which is 1 ms away in each direction, \
                 for the price of each of twenty articles in a basket, one after the other.",
            ],
            Expect::one("net.rtt", Who::Peer),
            question_by_question,
        ),
    ]
}

/// From <https://stackoverflow.com/questions/7943233> (fast way to discover the row count of a table in PostgreSQL) and
/// <https://www.cybertec-postgresql.com/en/count-made-fast/>: it is a frequent complaint that `count(*)` is slow, since each
/// row is looked at; the estimate of the catalogue is the usual remedy.
fn counted_articles(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?;
    server.execute("DROP TABLE IF EXISTS lab_article")?;
    server.execute(ARTICLES)?;
    server.execute("VACUUM ANALYZE lab_article")?;
    let script = match cause {
        Cause::Made => "SELECT count(*) FROM lab_article WHERE published;\n",
        Cause::Removed => "SELECT reltuples FROM pg_class WHERE oid = 'lab_article'::regclass;\n",
    };
    pgbench_script(stage, &["-c", "8", "-j", "2"], script)?.ready()
}

/// From <https://thisinterestsme.com/myisam-locking/>, where forms took up to 15 s to be saved since statements that read a
/// MyISAM table had it locked ("Waiting for table level lock"); InnoDB was the remedy.
fn myisam_report(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    // Waits for the disk would be a second cause.
    let (_, port) = mariadb_server(stage, &["--innodb-flush-log-at-trx-commit=0"], None)?;
    let engine = match cause {
        Cause::Made => "MyISAM",
        Cause::Removed => "InnoDB",
    };
    let rows = "INSERT INTO lab_page SELECT seq, 0 FROM seq_1_to_1000000;";
    let path = stage.script("fill.sql", &format!("{PAGES} {engine};\n{rows}\n{REPORT}"))?;
    let mut fill = mariadb_client(&port);
    fill.args(["sbtest", "-e"]);
    fill.arg(format!("source {}", Path::new(&path).display()));
    stage.step(fill)?;
    let mut report = mariadb_client(&port);
    report.args(["sbtest", "-e", "CALL report()"]);
    // It complains when the server is gone.
    report.stderr(std::process::Stdio::null());
    let report = stage.beside(report)?;
    stage.cast.insert(Who::Holder, format!("pid:{report}@"));
    let script = stage.script("visits.lua", include_str!("../../../programs/visits.lua"))?;
    let words = [
        &Path::new(&script).display().to_string(),
        "--db-driver=mysql",
        "--mysql-host=127.0.0.1",
        &format!("--mysql-port={port}"),
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--threads=8",
        "run",
    ];
    Ok(SetUp::Ready(sysbench_load(
        stage,
        words.map(str::to_owned).to_vec(),
    )))
}

/// From <https://redis.io/docs/latest/develop/using-commands/pipelining/>, which says why applications that ask for one key
/// after the other are slow, and <https://hivebook.wiki/wiki/redis-pipelining-vs-round-trips-n-1-latency-and-multi-exec>: most
/// reports of a slow Redis are of the way there, gone once for each command.
fn question_by_question(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let redis = ninth::redis_for_all(stage)?;
    let (server, address) = match far(stage, &redis, cause, 1)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let program = stage.script("baskets.py", include_str!("../../../programs/baskets.py"))?;
    let seconds = stage.seconds.to_string();
    let (host, port) = address.split_once(':').unwrap_or((&address, ""));
    let words = [host, port, PROCESSES, &seconds].map(OsString::from);
    let command = [OsString::from(first::PYTHON), program];
    // Sockets of another network namespace cannot be followed from here.
    Load::new(command.into_iter().chain(words))
        .with("--target", format!("pid:{server}"))
        .ready()
}
