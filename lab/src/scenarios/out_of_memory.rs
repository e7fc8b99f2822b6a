//! Workers that keep memory until the kernel ends them, one after the other.

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::server::said;
use crate::stage::{Limit, Stage};

/// Much more than workers need that do not leak; reached within a second or two by those that do.
const LIMIT: u64 = 96 << 20;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "out-of-memory",
        about: "Four connections to a server with a process for each, three of which take more and \
                more of the 96 MB of their control group until the kernel kills them.",
        set: Set::Tuned,
        mechanism: "memory limit with kills",
        kind: Kind::Cause,
        expect: Expect::one("memory.oom", Who::LimitedGroup),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let leaking = match cause {
        Cause::Made => "3",
        Cause::Removed => "0",
    };
    // After a third of the run: what was before is seen too.
    let after = (f64::from(stage.seconds) / 3.0).to_string();
    let words = ["serve", "workers", "--leaking", leaking, "--after", &after];
    let (server, line) = stage.beside_that_speaks(stage.own(&words)?)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    match stage.confine("limited", server, &[Limit::Memory(LIMIT)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    own(stage, &["load", address, "--connections", "4"])?.ready()
}
