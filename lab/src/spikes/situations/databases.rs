//! What clients of a database do to each other: rights that are granted, a lock that is held, sessions that come all at
//! once.

use std::process::Command;

use anyhow::Result;

use super::{pgbench, script, target};
use crate::postgres::DATABASE;
use crate::scenarios::free_port;
use crate::spikes::situation::{Answer, By, Made, Named, Situation, Timing, Variant};
use crate::stage::Stage;

/// Transactions per second, far from what the server can do.
const RATE: &str = "300";
const READS: [&str; 3] = ["-S", "-R", RATE];

/// The demonstration's, smaller.
pub fn grants() -> Situation {
    Situation {
        name: "grants",
        about: "A script grants 60 rights that everybody has, and each backend fetches the catalogue \
                again from one server.",
        timing: Timing::Recurring(6.0),
        follows: 1.0,
        answer: Answer::any_of(&[
            Named::Program("sync-permissions"),
            Named::Program("psql"),
            Named::Process("psql"),
        ]),
        set_up: set_up_grants,
    }
}

const TABLES: u32 = 60;
/// What each backend asks for.
const SCHEMAS: &str = "metadata.tables=150";

fn set_up_grants(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    if let Err(error) = build_metadata(stage) {
        return Ok(Err(format!(
            "the extension cannot be built (apt-get install gcc postgresql-server-dev-all): {error:#}"
        )));
    }
    let port = free_port()?.to_string();
    let calls = stage.folder().join("calls.log");
    let mut server = Command::new(stage.folder().join("master"));
    server.arg(&port).arg(&calls);
    stage.beside(server)?;
    let library = stage.folder().join("metadata.so");
    let server = stage.postgres(&[
        &format!("shared_preload_libraries={}", library.display()),
        &format!("metadata.port={port}"),
        SCHEMAS,
    ])?;
    let mut sql = String::from("SET client_min_messages = error;");
    for number in 1..=TABLES {
        sql +=
            &format!("DROP TABLE IF EXISTS orders_{number};CREATE TABLE orders_{number} (id int);");
    }
    server.execute(&(sql + "DROP ROLE IF EXISTS reader; CREATE ROLE reader"))?;
    let grant =
        "seq 1 60 | sed 's/.*/GRANT SELECT ON orders_& TO reader;/' | psql --quiet --no-psqlrc\n";
    let action = script(stage, "sync-permissions", grant)?;
    Ok(Ok(Made {
        target: target(stage)?,
        load: pgbench(stage, &READS)?,
        logs: vec![calls],
        by: By::Process("lab-timer", vec![action]),
    }))
}

fn build_metadata(stage: &Stage) -> Result<()> {
    let source = stage.script(
        "metadata.c",
        include_str!("../../../demo-spikes/metadata.c"),
    )?;
    let server = stage.script("master.c", include_str!("../../../demo-spikes/master.c"))?;
    let mut include = Command::new("pg_config");
    include.arg("--includedir-server");
    let include = String::from_utf8(include.output()?.stdout)?;
    let mut library = Command::new("cc");
    library.args(["-O2", "-shared", "-fPIC", "-o", "metadata.so"]);
    library.arg(format!("-I{}", include.trim())).arg(source);
    stage.step(library)?;
    let mut program = Command::new("cc");
    program.args(["-O2", "-o", "master"]).arg(server);
    stage.step(program)
}

/// A job that locks the table which everybody reads.
pub fn batch() -> Situation {
    Situation {
        name: "batch-lock",
        about: "A script locks the table that everybody reads, and keeps it for 0.6 s.",
        timing: Timing::Recurring(5.5),
        follows: 1.0,
        answer: Answer::any_of(&[
            Named::Program("close-day"),
            Named::Program("psql"),
            Named::Process("psql"),
        ]),
        set_up: set_up_batch,
    }
}

fn set_up_batch(stage: &mut Stage, _: Variant) -> Result<Result<Made, String>> {
    stage.postgres(&[])?;
    let lock = "psql --quiet --no-psqlrc -c 'BEGIN; LOCK TABLE pgbench_accounts IN ACCESS EXCLUSIVE MODE; \
                SELECT pg_sleep(0.6); COMMIT' >/dev/null\n";
    let action = script(stage, "close-day", lock)?;
    Ok(Ok(Made {
        target: target(stage)?,
        load: pgbench(stage, &READS)?,
        logs: Vec::new(),
        by: By::Process("lab-timer", vec![action]),
    }))
}

/// An application that opens all its sessions at once. Nothing is started for it.
pub fn connections() -> Situation {
    Situation {
        name: "new-connections",
        about: "An application that runs all the time opens 200 sessions at once, and closes them.",
        timing: Timing::Recurring(6.5),
        follows: 2.0,
        answer: POOL,
        set_up: |stage, _| set_up_connections(stage),
    }
}

const POOL: Answer = Answer::any_of(&[Named::Process("lab-pool")]);

fn set_up_connections(stage: &mut Stage) -> Result<Result<Made, String>> {
    let server = stage.postgres(&["max_connections=300"])?;
    let action = format!(
        "sessions 127.0.0.1:{} 200 {} {DATABASE}",
        server.port(),
        server.user()
    );
    Ok(Ok(Made {
        target: target(stage)?,
        load: pgbench(stage, &READS)?,
        logs: Vec::new(),
        by: By::Process("lab-pool", vec![action]),
    }))
}

/// The same at random times.
pub fn random_connections() -> Situation {
    Situation {
        name: "random-connections",
        about: "The sessions of new-connections at random times.",
        timing: Timing::Random(5.0),
        ..connections()
    }
}
