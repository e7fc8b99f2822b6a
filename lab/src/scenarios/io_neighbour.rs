//! Somebody else keeps the disk busy that the server reads from for each request.

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::server::said;
use crate::stage::{Limit, Stage, device_of};

/// More than any disk can do: the group is there to have a name, and limits nothing.
const READS: u32 = 100_000_000;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "io-neighbour",
        about: "Four connections to a server that reads from the disk for each request, while another \
                group reads and writes the same disk as fast as it can.",
        set: Set::Tuned,
        mechanism: "disk taken by a neighbour",
        kind: Kind::Cause,
        expect: Expect::one("io.neighbour", Who::NeighbourGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let mut server = stage.own(&["serve", "disk-reads", "--file"])?;
    server.arg(stage.folder().join("data"));
    let (_, line) = stage.beside_that_speaks(server)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    if cause == Cause::Made {
        let mut hammer = stage.own(&["storage", "--threads", "8", "--file"])?;
        hammer.arg(stage.folder().join("storage"));
        // Speaks once its file is there.
        let (hammer, _) = stage.beside_that_speaks(hammer)?;
        let limit = device_of(stage.folder()).map(|device| Limit::ReadsPerSecond(device, READS));
        match limit.and_then(|limit| stage.confine("hammer", hammer, &[limit])) {
            Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    own(stage, &["load", address, "--connections", "4"])?.ready()
}
