//! One mutex in the server, held for most of each request by a thread that sleeps: nothing is busy,
//! and nothing goes faster.

use anyhow::Result;

use super::loads;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "hot-mutex",
        about: "Eight connections, each with a thread of the server, and every request sleeps 0.3 \
                ms while it holds the server's one mutex.",
        set: Set::Tuned,
        mechanism: "one mutex among threads",
        kind: Kind::Cause,
        expect: Expect::one("lock.futex", Who::Target),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    loads::of_one_lock(stage, cause, "hot-mutex")
}
