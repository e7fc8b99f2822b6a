//! A server that writes to a disk without room: each request tries for a while and is given up.

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::server::said;
use crate::stage::Stage;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "full-disk",
        about: "Four connections to a server that writes a file for each request, on a disk without \
                room, so that it tries three times and gives up.",
        set: Set::Tuned,
        mechanism: "full file system",
        kind: Kind::Cause,
        expect: Expect::one("io.full_disk", Who::Filesystem),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    if cause == Cause::Made {
        stage.fill_disk(&disk)?;
        stage
            .cast
            .insert(Who::Filesystem, disk.display().to_string());
    }
    let mut server = stage.own(&["serve", "spool", "--folder"])?;
    server.arg(&disk);
    let (_, line) = stage.beside_that_speaks(server)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    own(stage, &["load", address, "--connections", "4"])?.ready()
}
