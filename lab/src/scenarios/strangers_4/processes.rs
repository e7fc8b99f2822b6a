//! Servers in C: processes that share memory, and a file that is mapped into it. Both are seen by `record`
//! alone.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};

use super::programs::{CC, missing};
use super::{beside, cause, second, servers};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// What is mapped.
const FILE: usize = 128 << 20;
/// What of it may be in memory.
const MEMORY: u64 = 32 << 20;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "c-shared-mutex",
                "one mutex among processes",
                "Twelve connections, each with a process of a server in C, whose requests sleep 0.5 ms \
                 while they hold the one mutex, which is in memory that the processes share; recorded \
                 without its load.",
            ],
            Expect::one("lock.futex", Who::Target),
            shared_mutex,
        ),
        cause(
            [
                "c-mapped-file",
                "memory limit under a mapped file",
                "Two connections, each with a thread of a server in C, whose requests look at 64 pages \
                 of a mapped file of 128 MB, and its group may keep 32 MB in memory; recorded without \
                 its load.",
            ],
            Expect::one("memory.limit", Who::LimitedGroup),
            mapped_file,
        ),
    ]
}

fn shared_mutex(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "locked",
        Cause::Removed => "beside",
    };
    let (pid, port) = servers::sharing(stage, ["16", "500", word])?;
    let address = here(&port);
    beside(stage, pid, &["load", &address, "--connections", "12"])?.ready()
}

fn mapped_file(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let (pid, port) = servers::mapping(stage, &file)?;
    if cause == Cause::Made {
        match stage.confine("limited", pid, &[Limit::Memory(MEMORY)]) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    } else {
        // Else it would be read in page by page.
        read(&file)?;
    }
    let address = here(&port);
    beside(stage, pid, &["load", &address, "--connections", "2"])?.ready()
}

/// Reads a file into the page cache.
fn read(file: &Path) -> Result<()> {
    let mut opened = File::open(file).context("cannot open a file")?;
    std::io::copy(&mut opened, &mut std::io::sink()).context("cannot read a file")?;
    Ok(())
}
