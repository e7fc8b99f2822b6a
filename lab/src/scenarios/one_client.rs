//! Healthy: a single client gets each answer at once, and asks for the next only then.

use super::loads::pgbench;
use crate::scenario::{Costs, Expect, Kind, SECONDS, Scenario, Set};

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "one-client",
        about: "One pgbench client reads single rows from memory, each after the answer to the one \
                before, on a machine that is otherwise idle.",
        set: Set::Tuned,
        mechanism: "one client",
        kind: Kind::Healthy,
        expect: Expect::few_clients(),
        seconds: SECONDS,
        costs: Costs::NotAsked("nothing is wrong in it"),
        set_up: |stage, _| {
            stage.postgres(&[])?;
            pgbench(stage, &["-c", "1", "-j", "1", "-S"]).ready()
        },
    }
}
