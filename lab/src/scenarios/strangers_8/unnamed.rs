//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{PYTHON, missing};
use super::{cause, third, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "python-polling",
                "results that are there at once and looked for every 20 ms",
                "Four connections, each with a thread of a Python server, which leaves the work of a \
                 request to another thread, that has done it at once, and looks every 20 ms whether it \
                 is done.",
            ],
            Expect::undetermined_or(&[]),
            polling,
        )
    }
}

fn polling(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "looks",
        Cause::Removed => "woken",
    };
    let program = ["polling.py", include_str!("../../../programs/polling.py")];
    let (_, port) = third::python(stage, program, &[word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
