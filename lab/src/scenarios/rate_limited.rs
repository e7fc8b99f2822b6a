//! Healthy: the load asks for far less than the server can do, and gets it.

use crate::postgres::DATABASE;
use crate::scenario::{Expect, SECONDS, Scenario, SetUp, Who, command};

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "rate-limited",
        about: "pgbench asks for 500 reads per second, a small part of what the server can do.",
        expect: Expect {
            cause: "healthy",
            entity: Who::Target,
            also: Some("load.rate"),
        },
        set_up: |_| {
            Ok(SetUp::Ready(command(&[
                "pgbench", "-n", "-c", "10", "-j", "2", "-R", "500", "-S", "-T", SECONDS, DATABASE,
            ])))
        },
    }
}
