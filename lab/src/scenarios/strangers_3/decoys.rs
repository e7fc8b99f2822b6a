//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::Command;

use anyhow::{Context, Result};

use super::databases::session;
use super::programs::{MEMCACHED, NGINX, PYTHON, missing};
use super::{cause, downstream, first, unknown};
use crate::postgres::DATABASE;
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with, sysbench_load};
use crate::stage::Stage;

/// A call that is answered after the run is over.
const LONG_US: u32 = 600_000_000;
/// What is asked of nginx: enough for sending it to take a while.
const FILE: usize = 4 << 20;
/// What is asked of memcached: for a key that is not there.
const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];
/// A lock that is never given back.
const HOLD: &str = "BEGIN;\nLOCK TABLE lab_other IN ACCESS EXCLUSIVE MODE;\n\\! sleep 600\n";

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
                "postgres-blocked-sessions",
                "sessions of others that wait for a lock",
                "Six sessions of PostgreSQL wait for a table that another one keeps locked, while \
                 one sysbench thread reads rows of something else, one after the other.",
            ],
            blocked_sessions,
        ),
        decoy(
            [
                "nginx-long-polls",
                "calls of others that take long on purpose",
                "Forty connections wait for an answer that nginx gets from a service behind it when \
                 there is news, while two connections with 6 ms to think ask it for 4 MB.",
            ],
            long_polls,
        ),
        decoy(
            [
                "memcached-full-queue-elsewhere",
                "connections that another service refuses",
                "Clients of another service find its queue of connections full, two hundred times per \
                 second, while four connections with 1 ms to think ask memcached.",
            ],
            full_queue_elsewhere,
        ),
    ]
}

fn blocked_sessions(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&["sysbench"], "sysbench") {
        return Ok(SetUp::NotHere(why));
    }
    let server = stage.postgres(&["max_connections=100"])?;
    server.execute("DROP TABLE IF EXISTS lab_other")?;
    server.execute("CREATE TABLE lab_other (n int)")?;
    server.execute("DROP TABLE IF EXISTS sbtest1")?;
    let dsn = server.dsn();
    let mut prepare = Command::new("sysbench");
    prepare.args(on_postgres(stage, "prepare")?);
    stage.step(prepare)?;
    if cause == Cause::Made {
        session(stage, "hold.sql", HOLD)?;
        for _ in 0..6 {
            let mut waiting: Command = stage.started()?.client("psql");
            waiting.args(["-q", "-c", "SELECT count(*) FROM lab_other", DATABASE]);
            stage.beside(waiting)?;
        }
    }
    let mut words = on_postgres(stage, "run")?;
    // pgbench says no quantile.
    words.push("--percentile=99".to_owned());
    sysbench_load(stage, words).with("--postgres", dsn).ready()
}

/// The words of a sysbench test on the started PostgreSQL.
fn on_postgres(stage: &Stage, verb: &str) -> Result<Vec<String>> {
    let server = stage.started()?;
    let (port, user) = (server.port(), server.user());
    Ok(vec![
        "oltp_read_only".to_owned(),
        "--db-driver=pgsql".to_owned(),
        "--pgsql-host=127.0.0.1".to_owned(),
        format!("--pgsql-port={port}"),
        format!("--pgsql-user={user}"),
        format!("--pgsql-db={DATABASE}"),
        "--table-size=10000".to_owned(),
        verb.to_owned(),
    ])
}

fn long_polls(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, service) = downstream(stage, LONG_US)?;
    let port = free_port()?.to_string();
    let folder = stage.unprivileged_folder("nginx")?;
    std::fs::write(folder.join("file"), "x".repeat(FILE)).context("cannot write a file")?;
    let places = format!(
        "root {}; location /news {{ proxy_pass http://{service}; proxy_read_timeout 900s; }}",
        folder.display()
    );
    nginx_with(stage, 2, &port, "", &places)?;
    let address = here(&port);
    if cause == Cause::Made {
        let words = ["load", &address, "--http", "/news", "--seconds", "600"];
        let news = stage.own(&[&words[..], &["--connections", "40"]].concat())?;
        stage.beside(news)?;
    }
    let words = ["load", &address, "--http", "/file", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "6000"]].concat())?.ready()
}

fn full_queue_elsewhere(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    if cause == Cause::Made {
        let program = ["overflow.py", include_str!("../../../programs/overflow.py")];
        let other = first::interpreted(stage, first::PYTHON, program)?;
        stage.beside_that_speaks(other)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    unknown(stage, &[&words[..], &GET].concat())?.ready()
}
