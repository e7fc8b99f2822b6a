//! A server far away: each request waits for its packets to travel, and nothing else.

use anyhow::Result;

use super::loads::own;
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::{DELAYED_SERVER, Stage};

/// The scenario.
pub fn scenario() -> Scenario {
    Scenario {
        name: "network-delay",
        about: "Eight connections ask one request at a time of a server that packets need 15 ms to \
                reach and 15 ms to come back from.",
        set: Set::Tuned,
        mechanism: "long way to the client",
        kind: Kind::Cause,
        expect: Expect::one("net.rtt", Who::Anyone),
        seconds: SECONDS,
        costs: Costs::Throughput,
        set_up,
    }
}

fn set_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let one_way_ms = match cause {
        Cause::Made => 15,
        Cause::Removed => 0,
    };
    let serve = [
        "serve",
        "single-thread",
        "--work",
        "50",
        "--listen",
        "0.0.0.0:7000",
    ];
    let server = match stage.at_a_distance(&serve, one_way_ms) {
        Ok(server) => server,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = format!("{DELAYED_SERVER}:7000");
    // Sockets of another network namespace cannot be followed from here.
    own(stage, &["load", &address, "--connections", "8"])?
        .with("--target", format!("pid:{server}"))
        .ready()
}
