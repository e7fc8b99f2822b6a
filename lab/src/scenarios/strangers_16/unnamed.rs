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
                "c-two-sends",
                "answers held back until the client acknowledges",
                "Four connections ask a server in C, which sends head and body of an answer by a call \
                 each, so that the kernel keeps the second until the client has acknowledged the first, \
                 40 ms later.",
            ],
            Expect::undetermined_or(&[]),
            two_sends,
        )
    }
}

/// From <https://stackoverflow.com/questions/17842406/how-would-one-disable-nagles-algorithm-in-linux> and Red Hat's guide to
/// low latency, which both say what `TCP_NODELAY` is for: two small writes and a delayed acknowledgement, and each call takes
/// 40 ms with everything idle.
fn two_sends(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "later",
        Cause::Removed => "at-once",
    };
    let (_, port) = servers::in_two_sends(stage, word)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
