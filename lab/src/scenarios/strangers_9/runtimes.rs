//! Servers in Go, Java and Python.

use std::fs;

use anyhow::{Context, Result};

use super::programs::{AB, GO, HEY, JAVA, PYTHON, ab, hey, missing};
use super::{beside, cause, fifth, first, limited, servers, seventh};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Connections that others keep and do nothing with.
const KEPT: &str = "20";
/// Files that may be opened beside those that are open: so many connections at a time.
const LEFT: usize = 2;
/// Rows of a database, each with three pages of 4 KB: 96 MB.
const ROWS: &str = "8000";
/// What its server may keep in memory, with page cache.
const MEMORY: u64 = 32 << 20;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "go-open-files",
                "limit of open files that idle connections have nearly used up",
                "Twenty connections that have asked once and ask no more leave a Go server room for \
                 two more files by its limit of open files, while ab asks it over sixteen \
                 connections, a new one for each request, for what takes 10 ms.",
            ],
            Expect::one("limit.connections", Who::Target),
            open_files,
        ),
        cause(
            [
                "java-small-young-generation",
                "collections that come with every request since a generation is small",
                "hey asks a Java service over eight connections for what makes 1 MB of garbage, \
                 and by its settings the young generation has 1 MB.",
            ],
            Expect::one("lock.runtime", Who::Target),
            small_young_generation,
        ),
        cause(
            [
                "python-sqlite-lookups",
                "memory limit under the database of a library",
                "Four connections ask a Python server, each thread of which looks up 16 rows of a \
                 SQLite database of 96 MB, and its group may keep 32 MB in memory, page cache \
                 included; recorded without its load.",
            ],
            Expect::one("memory.limit", Who::LimitedGroup),
            sqlite_lookups,
        ),
    ]
}

fn open_files(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO, AB, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::of_descriptors(stage)?;
    let program = [
        "kept_alive.py",
        include_str!("../../../programs/kept_alive.py"),
    ];
    seventh::staying(stage, program, &[port.as_str(), KEPT])?;
    if cause == Cause::Made {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        let most = open.context("a server has files open")?.count() + LEFT;
        // Whose own it is may lower it.
        let mut limit = stage.unprivileged("prlimit");
        limit.args(["--pid", &pid.to_string(), &format!("--nofile={most}")]);
        stage.step(limit)?;
    }
    let url = format!("http://127.0.0.1:{port}/");
    ab(stage, &["-c", "16"], &url).ready()
}

fn small_young_generation(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let young = match cause {
        Cause::Made => "-Xmn1m",
        Cause::Removed => "-Xmn128m",
    };
    let options = ["-XX:+UseSerialGC", "-Xms256m", "-Xmx256m", young];
    let (_, port) = first::java(stage, &options, ["8", "0", "0", "1024", "20000"])?;
    hey(stage, &port, 8).ready()
}

fn sqlite_lookups(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = servers::items(stage, ROWS)?;
    let (pid, port) = servers::looking_up(stage, &file, ROWS)?;
    match cause {
        Cause::Made => {
            if let Some(why) = limited(stage, pid, Limit::Memory(MEMORY)) {
                return Ok(SetUp::NotHere(why));
            }
        }
        Cause::Removed => fifth::keep_in_memory(&file)?,
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    beside(stage, pid, &words)?.ready()
}
