//! Healthy: the load asks for far less than the server can do, and gets it.

use super::loads::pgbench;
use crate::scenario::{Costs, Expect, Kind, SECONDS, Scenario, Set};

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "rate-limited",
        about: "pgbench asks for 500 reads per second, a small part of what the server can do.",
        set: Set::Tuned,
        mechanism: "load that asks for little",
        kind: Kind::Healthy,
        expect: Expect::healthy(),
        seconds: SECONDS,
        costs: Costs::NotAsked("nothing is wrong in it"),
        set_up: |stage, _| {
            stage.postgres(&[])?;
            pgbench(stage, &super::decoys::ASKED).ready()
        },
    }
}
