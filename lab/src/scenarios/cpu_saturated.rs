//! More runnable backends than CPUs: reads from memory, in a closed loop without think time, wait
//! for nothing but a CPU.

use crate::postgres::DATABASE;
use crate::scenario::{Expect, SECONDS, Scenario, SetUp, Who, command};

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "cpu-saturated",
        about: "Ten pgbench clients read single rows from memory as fast as they can, without any \
                limit but the CPUs.",
        expect: Expect {
            cause: "cpu.saturated",
            entity: Who::Target,
            also: None,
        },
        set_up: |_| {
            Ok(SetUp::Ready(command(&[
                "pgbench", "-n", "-c", "10", "-j", "2", "-S", "-T", SECONDS, DATABASE,
            ])))
        },
    }
}
