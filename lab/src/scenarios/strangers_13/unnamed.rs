//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{NODE, missing};
use super::{cause, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Requests of an address per second that are let through; all of them for 0.
const RATE: &str = "100";

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "node-slowed-down",
                "requests that the server itself lets through one by one",
                "Four connections from one address ask Node.js, which is to slow down who asks too often: it \
                 lets 100 requests of an address through per second, and a timer holds each other one back \
                 until it is due.",
            ],
            Expect::undetermined_or(&[]),
            slowed_down,
        )
    }
}

/// From <https://serverfault.com/questions/936670/nginx-rate-limiting-only-slowdown-if-ceiling-hit>, where somebody was surprised
/// that a limit of requests spaces out all that come early, and <https://npmjs.com/package/express-slow-down>, which does the like
/// in Express: all users behind a proxy are one address.
fn slowed_down(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let rate = match cause {
        Cause::Made => RATE,
        Cause::Removed => "0",
    };
    let (_, port) = servers::slowing_down(stage, rate)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
