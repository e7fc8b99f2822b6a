//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{CC, missing};
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
                "c-two-pieces",
                "answers held back until the client acknowledges",
                "Four connections ask a server in C, which writes head and body of an answer by a call each, \
                 so that the kernel keeps the second until the client has acknowledged the first, 40 ms \
                 later.",
            ],
            Expect::undetermined_or(&[]),
            two_pieces,
        )
    }
}

/// From <https://brooker.co.za/blog/2024/05/09/nagle.html> ("It's always `TCP_NODELAY`. Every damn time."): what Nagle's algorithm
/// and delayed acknowledgements do to each other is the first thing to look for when a distributed system is slow and idle.
fn two_pieces(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "later",
        Cause::Removed => "at-once",
    };
    let (_, port) = servers::in_two_pieces(stage, word)?;
    let address = here(&port);
    unknown(stage, &["load", &address, "--connections", "4"])?.ready()
}
