//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{NODE, missing};
use super::{cause, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "node-batch-window",
                "requests that the server collects for a while and answers together",
                "Four connections ask Node.js, which collects what comes within 25 ms of a first \
                 request and answers all of it at once.",
            ],
            Expect::undetermined_or(&[]),
            batch_window,
        )
    }
}

fn batch_window(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let window_ms = match cause {
        Cause::Made => "25",
        Cause::Removed => "0",
    };
    let (_, port) = servers::batching(stage, window_ms)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
