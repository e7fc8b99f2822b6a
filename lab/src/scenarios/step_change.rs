//! One load, two causes: the CPUs in the first half, a quota in the second.

use std::time::Duration;

use anyhow::Result;

use super::loads::pgbench;
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage};

/// 0.4 of one CPU, in us per 100 ms.
const QUOTA: u32 = 40_000;
/// Two halves that are each long enough for a phase.
const SECONDS: u32 = 20;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "step-change",
        about: "Ten pgbench clients fill the CPUs for ten seconds, then the server's control group \
                gets a quota of 0.4 of one CPU.",
        set: Set::Tuned,
        mechanism: "quota that begins in the middle",
        kind: Kind::Cause,
        expect: Expect {
            phases: &[
                ("cpu.saturated", Who::Target),
                ("cpu.quota", Who::LimitedGroup),
            ],
            ..Expect::one("cpu.quota", Who::LimitedGroup)
        },
        seconds: SECONDS,
        costs: Costs::NotAsked("it is made of cpu-saturated and cpu-quota"),
        set_up,
    }
}

fn set_up(stage: &mut Stage, _: Cause) -> Result<SetUp> {
    let server = stage.postgres(&[])?.pid();
    let group = match stage.confine("limited", server, &[Limit::CpuQuota(None)]) {
        Ok(group) => group,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let half = Duration::from_secs(u64::from(stage.seconds) / 2);
    let mut load = pgbench(stage, &["-c", "10", "-j", "2", "-S"]);
    load.later = Some(group.later(half, &Limit::CpuQuota(Some(QUOTA))));
    stage.cast.insert(Who::LimitedGroup, group.path);
    load.ready()
}
