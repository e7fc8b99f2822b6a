//! A memory limit far below what the load touches: pages are thrown out and read again all the time.

use anyhow::Result;

use super::loads::pgbench;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, SetUp, Who};
use crate::stage::{Limit, Stage, forget_cached};

/// The server's own memory and a small part of the 150 MB that the load reads.
const LIMIT: u64 = 48 << 20;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "memory-thrash",
        about: "Ten pgbench clients read from 150 MB of tables, and the server's control group may \
                keep 48 MB in memory, page cache included.",
        kind: Kind::Cause,
        expect: Expect::one("memory.limit", Who::LimitedGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&["shared_buffers=8MB"])?;
    let (pid, data) = (server.pid(), server.data());
    if cause == Cause::Made {
        // Pages that others have read would be charged to nobody here.
        forget_cached(&data)?;
        match stage.confine("limited", pid, &[Limit::Memory(LIMIT)]) {
            Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
            Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
        };
    }
    pgbench(stage, &["-c", "10", "-j", "2", "-S"]).ready()
}
