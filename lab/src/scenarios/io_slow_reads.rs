//! Reads that must come from the disk, of which the server's group may do only a few per second.

use anyhow::Result;

use super::loads::pgbench;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage, device_of, forget_cached};

/// So few that the 19,000 pages of the table are not in memory before the run ends.
const READS: u32 = 400;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "io-slow-reads",
        about: "Ten pgbench clients read rows that are not in memory from a server whose control \
                group may read 400 times per second.",
        set: Set::Tuned,
        mechanism: "limited reads",
        kind: Kind::Cause,
        expect: Expect::one("io.throttled", Who::LimitedGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&["shared_buffers=16MB"])?;
    let (pid, data) = (server.pid(), server.data());
    forget_cached(&data)?;
    if cause == Cause::Made {
        let limit = device_of(&data).map(|device| Limit::ReadsPerSecond(device, READS));
        let confined = limit.and_then(|limit| stage.confine("limited", pid, &[limit]));
        match confined {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    pgbench(stage, &["-c", "10", "-j", "2", "-S"]).ready()
}
