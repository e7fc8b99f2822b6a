//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::Command;

use anyhow::Result;

use super::programs::{HAPROXY, LIGHTTPD, MEMCACHED, missing};
use super::{cause, first, third, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::Stage;

/// A table of settings, and what is read of it, with 4 ms to think.
const SETTINGS: &str =
    "CREATE TABLE lab_setting AS SELECT n AS id, n * 7 AS value FROM generate_series(1, 40) AS n";
const READ: &str =
    "\\set id random(1, 40)\n\\sleep 4 ms\nSELECT value FROM lab_setting WHERE id = :id;\n";
/// Longer than any run.
const LONG: &str = "600";
/// Bytes of a package.
const PACKAGE: u64 = 32 << 20;
/// A value of memcached, how it is put there, and how it is asked for.
const SET: [&str; 4] = ["--text", "set page 0 0 2\r\nok\r\n", "--ends", "STORED\r\n"];
const GET: [&str; 4] = ["--text", "get page\r\n", "--ends", "END\r\n"];
/// A page that is not there, and how lighttpd's answer to that ends.
const SCAN: [&str; 4] = [
    "--text",
    "GET /wp-login.php HTTP/1.1\r\nHost: lab\r\n\r\n",
    "--ends",
    "</html>\n",
];
const MISS: [&str; 4] = ["--text", "get user:404\r\n", "--ends", "END\r\n"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "postgres-small-table-scans",
                "table without an index that is read from one end to the other and has one page",
                "Two pgbench clients with 4 ms to think look up settings in PostgreSQL, in a table of 40 rows \
                 without an index, which is read as a whole each time.",
            ],
            small_table_scans,
        ),
        decoy(
            [
                "lighttpd-scanners",
                "requests of scanners for pages that are not there",
                "Scanners ask lighttpd for a page of WordPress, which is not there, a hundred times per second, \
                 while two connections with 4 ms to think ask for a list.",
            ],
            scanners,
        ),
        decoy(
            [
                "memcached-misses",
                "cache that has not got most of what others ask it for",
                "Others ask memcached for users that it does not know, more than once for each two that it \
                 does, while two connections with 4 ms to think ask for a page that it has.",
            ],
            misses,
        ),
        decoy(
            [
                "haproxy-full-package",
                "file system of a mounted package, which is full by its nature",
                "A package is mounted from an image beside HAProxy, and no byte of it is free, while two \
                 connections with 4 ms to think ask for a small answer.",
            ],
            full_package,
        ),
    ]
}

/// From <https://openillumi.com/en/en-postgresql-seqscan-why-and-optimize>, after a question that is asked again and again: a
/// plan with `Seq Scan` alarms who reads it, and on a small table it is the best that there is.
fn small_table_scans(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    // Else it would leave the index aside.
    let settings: &[&str] = match cause {
        Cause::Made => &[],
        Cause::Removed => &["enable_seqscan=off"],
    };
    let server = stage.postgres(settings)?;
    server.execute("DROP TABLE IF EXISTS lab_setting")?;
    server.execute(SETTINGS)?;
    if cause == Cause::Removed {
        server.execute("ALTER TABLE lab_setting ADD PRIMARY KEY (id)")?;
    }
    server.execute("VACUUM ANALYZE lab_setting")?;
    let dsn = server.dsn();
    let load = pgbench_script(stage, &["-c", "2", "-j", "1"], READ)?;
    load.with("--postgres", dsn).ready()
}

/// From <https://blog.wedos.com/one-day-with-wp-login-php-4-3-million-blocked-requests-in-24-hours>: whoever reads the log of a
/// server that is new to the internet finds it full of requests for what it has not got.
fn scanners(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = third::lighttpd(stage, "")?;
    let address = here(&port);
    if cause == Cause::Made {
        others(stage, &address, "20000", &SCAN)?;
    }
    thinking(stage, &address, &["--http", "/list.txt"])
}

/// From <http://cachesight.com/blog/2021/05/13/what-is-going-on-with-my-cache-hit-rate>, where the rate of hits of a whole cache
/// says little of any part of it; that it is below what a checklist wants makes memcached no slower.
fn misses(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    let address = here(&port);
    let once = ["load", &address, "--connections", "1", "--seconds", "1"];
    stage.step(stage.own(&[&once[..], &["--think", "1000"], &SET].concat())?)?;
    if cause == Cause::Made {
        others(stage, &address, "7000", &MISS)?;
    }
    thinking(stage, &address, &GET)
}

/// From <https://iq.opengenus.org/dev-loop/>, after a question that thousands have had: `df` says that `/dev/loop0` is full to
/// 100 %, which is how packages of snap are made.
fn full_package(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::haproxy(stage)?;
    if cause == Cause::Made {
        let image = stage.image("package.image", PACKAGE)?;
        let mount = match stage.mount_image(&image, "") {
            Ok(mount) => mount,
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
        stage.fill_disk(&mount)?;
        let mut read_only = Command::new("mount");
        read_only.args(["-o", "remount,ro"]).arg(&mount);
        stage.step(read_only)?;
    }
    thinking(stage, &here(&port), &["--http", "/"])
}

/// Two connections of others that ask for this with so many us to think, until the end.
fn others(stage: &mut Stage, address: &str, think: &str, words: &[&str]) -> Result<u32> {
    let first = ["load", address, "--connections", "2", "--think", think];
    let rest = ["--seconds", LONG, "--quiet"];
    stage.beside(stage.own_as("scanner", &[&first[..], &rest, words].concat())?)
}

/// Two connections with 4 ms to think that ask for this.
fn thinking(stage: &Stage, address: &str, words: &[&str]) -> Result<SetUp> {
    let first = ["load", address, "--connections", "2", "--think", "4000"];
    unknown(stage, &[&first[..], words].concat())?.ready()
}
