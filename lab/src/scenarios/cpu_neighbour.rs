//! Somebody else's computing takes most of the CPUs from a server that could use them.

use anyhow::Result;

use super::loads::pgbench;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage};

/// Against the 1024 of the session in which server and load run: nearly all, on any number of CPUs.
const SHARES: u32 = 65_536;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "cpu-neighbour",
        about: "Ten pgbench clients read from memory while another group with a far higher weight \
                computes on every CPU.",
        set: Set::Tuned,
        mechanism: "CPUs taken by a neighbour",
        kind: Kind::Cause,
        expect: Expect::one("cpu.neighbour", Who::NeighbourGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    if cause == Cause::Made {
        let threads = std::thread::available_parallelism()?.to_string();
        let hog = stage.beside(stage.own(&["burn", "--threads", &threads])?)?;
        match stage.confine("hog", hog, &[Limit::CpuShares(SHARES)]) {
            Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    pgbench(stage, &["-c", "10", "-j", "2", "-S"]).ready()
}
