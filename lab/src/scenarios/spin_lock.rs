//! A lock that waits in a loop: the CPUs are full, and one thread of them works.

use anyhow::Result;

use super::loads;
use crate::scenario::{Cause, Expect, Scenario, Set, SetUp, Who};
use crate::stage::Stage;

/// The scenario.
pub fn scenario() -> Scenario {
    let names = [
        "spin-lock",
        "one spin lock among threads",
        "Eight connections, each with a thread of the server, and every request computes 0.2 ms while it holds the \
         server's one lock, for which the others wait in a loop.",
    ];
    let expect = Expect::one("lock.spin", Who::Target);
    Scenario::of_one_cause(Set::Tuned, names, expect, set_up)
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if std::thread::available_parallelism()?.get() < 2 {
        return Ok(SetUp::NotHere("it needs a second CPU".to_owned()));
    }
    loads::of_one_lock(stage, cause, "spin-lock")
}
