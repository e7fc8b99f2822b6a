//! One mutex in the server, held for most of each request by a thread that sleeps: nothing is busy,
//! and nothing goes faster.

use anyhow::{Context, Result};

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::server::said;
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
    let words = ["serve", "hot-mutex", "--outside"];
    let words = match cause {
        Cause::Made => &words[..2],
        Cause::Removed => &words[..],
    };
    let (_, line) = stage.beside_that_speaks(stage.own(words)?)?;
    let (address, _) = said(&line).context("the server says where it is")?;
    own(stage, &["load", address, "--connections", "8"])?.ready()
}
