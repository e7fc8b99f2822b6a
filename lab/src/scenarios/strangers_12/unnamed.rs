//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{JAVA, missing};
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
                "java-delayed-answers",
                "answers held back until the client acknowledges",
                "Four connections ask the web server of the JDK, which writes head and text of each \
                 small answer apart, so that the kernel holds the text back until the client, which \
                 takes 40 ms for that, has acknowledged the head.",
            ],
            Expect::undetermined_or(&[]),
            delayed_answers,
        )
    }
}

/// From <https://stackoverflow.com/questions/42426206/httpserver-very-slow-with-keepalive>: the web server of the JDK
/// answered 22 requests per second over a connection that is kept, each 40 ms after the head; JDK-6968351 is about it.
fn delayed_answers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "false",
        Cause::Removed => "true",
    };
    let (_, port) = servers::with_delay(stage, word)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
