//! A CPU quota on the server's group, on a machine that is otherwise idle: the server waits although
//! CPUs are free.

use anyhow::Result;

use super::loads::pgbench;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage};

/// 0.4 of one CPU, in us per 100 ms.
const QUOTA: u32 = 40_000;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "cpu-quota",
        about: "Ten pgbench clients read from a server whose control group may use 0.4 of one CPU, \
                on a machine that is otherwise idle.",
        set: Set::Tuned,
        mechanism: "CPU quota",
        kind: Kind::Cause,
        expect: Expect::one("cpu.quota", Who::LimitedGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?.pid();
    let quota = match cause {
        Cause::Made => Some(QUOTA),
        Cause::Removed => None,
    };
    match stage.confine("limited", server, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    pgbench(stage, &["-c", "10", "-j", "2", "-S"]).ready()
}
