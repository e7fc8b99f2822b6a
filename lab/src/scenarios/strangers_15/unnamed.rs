//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{PERL, missing};
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
                "perl-two-pieces",
                "answers held back until the client acknowledges",
                "Four connections ask a service in Perl, which sends head and body of an answer by a call \
                 each, so that the kernel keeps the second until the client has acknowledged the first, \
                 40 ms later.",
            ],
            Expect::undetermined_or(&[]),
            two_pieces,
        )
    }
}

/// From <https://www.besthub.dev/articles/why-your-http-calls-take-40-ms-uncovering-tcp-nodelay-nagle-and-delayed-ack-6b2933584252>
/// and <https://hivebook.wiki/wiki/tcp-nagle-vs-delayed-ack-the-40ms-latency-deadlock>: calls took 40 ms with everything idle,
/// until the server set `TCP_NODELAY`.
fn two_pieces(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PERL]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "later",
        Cause::Removed => "at-once",
    };
    let (_, port) = servers::in_two_pieces(stage, word)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
