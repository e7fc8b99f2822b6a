//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::programs::{HAPROXY, PYTHON, REDIS, missing};
use super::{cause, first, seventh, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, here, mariadb_client, mariadb_server, sysbench, sysbench_load,
};
use crate::stage::Stage;

/// So many connections are forgotten.
const FORGOTTEN: &str = "1500";
/// So many sessions sleep in a statement that outlives the run.
const SLEEPING: usize = 16;
const SLEEP: &str = "SELECT SLEEP(600)";
/// Bytes that are left on the disk, of some 700 MB.
const LEFT: u64 = 24 << 20;
/// What is asked of Redis: for a key that is not there.
const GET: [&str; 4] = ["--text", "GET key\r\n", "--ends", "\r\n"];

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
                "haproxy-forgotten-connections",
                "connections of others that their clients have closed and nobody else has",
                "A program beside HAProxy has forgotten to close 1,500 connections that their clients \
                 have closed, while two connections with 3 ms to think ask HAProxy, which answers at \
                 once.",
            ],
            forgotten_connections,
        ),
        decoy(
            [
                "mariadb-sleeping-statements",
                "statements of others that sleep for minutes and hold nothing",
                "Sixteen sessions of MariaDB sleep in a statement that takes ten minutes, while two \
                 sysbench threads are asked for 60 read-only transactions per second.",
            ],
            sleeping_statements,
        ),
        decoy(
            [
                "redis-nearly-full-disk",
                "disk that is nearly full and has room enough",
                "The disk on which Redis has its append-only file is full but for 24 MB, of which \
                 nobody needs one, while two connections with 1 ms to think get a key.",
            ],
            nearly_full_disk,
        ),
    ]
}

fn forgotten_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::haproxy(stage)?;
    if cause == Cause::Made {
        let program = ["leaking.py", include_str!("../../../programs/leaking.py")];
        seventh::staying(stage, program, &[FORGOTTEN])?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "3000"]].concat())?.ready()
}

fn sleeping_statements(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = mariadb_server(stage, &[], None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_read_only", &port, "1", "prepare"));
    stage.step(prepare)?;
    if cause == Cause::Made {
        for _ in 0..SLEEPING {
            let mut session = mariadb_client(&port);
            session.args(["-e", SLEEP]);
            stage.beside(session)?;
        }
    }
    let mut words = sysbench("oltp_read_only", &port, "2", "run");
    words.extend(["--rate=60", "--percentile=99"].map(str::to_owned));
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

fn nearly_full_disk(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.give_away(&disk)?;
    if cause == Cause::Made {
        nearly_fill(&disk)?;
    }
    let (_, port) = first::redis(stage, &[], &disk, &["--appendonly", "yes"])?;
    let address = here(&port);
    let words = ["load", &address, "--connections", "2", "--think", "1000"];
    unknown(stage, &[&words[..], &GET].concat())?.ready()
}

/// Takes the room of a disk but for a little.
fn nearly_fill(disk: &Path) -> Result<()> {
    let about = statvfs(disk).with_context(|| format!("cannot look at {}", disk.display()))?;
    let room = about.f_bavail * about.f_frsize;
    let ballast = File::create(disk.join("ballast")).context("cannot make a file")?;
    let length = room.saturating_sub(LEFT);
    fallocate(&ballast, FallocateFlags::empty(), 0, length)
        .with_context(|| format!("cannot fill {}", disk.display()))
}
