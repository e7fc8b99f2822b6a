//! More runnable backends than CPUs: reads from memory, in a closed loop without think time, wait
//! for nothing but a CPU.

use super::loads::pgbench;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, Who};

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "cpu-saturated",
        about: "Ten pgbench clients read single rows from memory as fast as they can, without any \
                limit but the CPUs.",
        set: Set::Tuned,
        mechanism: "full CPUs",
        kind: Kind::Cause,
        expect: Expect::one("cpu.saturated", Who::Target),
        seconds: SECONDS,
        // There is no giving it more CPUs: a load that fits them takes the cause away.
        costs: Costs::Latency,
        set_up: |stage, cause| {
            stage.postgres(&[])?;
            let clients = match cause {
                Cause::Made => ["-c", "10", "-j", "2", "-S"],
                Cause::Removed => ["-c", "1", "-j", "1", "-S"],
            };
            pgbench(stage, &clients).ready()
        },
    }
}
