//! A cause for which the diagnosis has no name: to say that it cannot tell is right.

use std::process::Command;

use anyhow::Result;

use super::programs::{PYTHON, missing};
use super::{cause, first, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::{free_port, here};
use crate::stage::Stage;

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "python-two-writes",
                "answers held back until the client acknowledges",
                "Four connections ask Python's own web server, which sends head and body of an answer \
                 by two writes, and the kernel holds the second back until the first was acknowledged, \
                 which the client delays.",
            ],
            Expect::undetermined_or(&[]),
            two_writes,
        )
    }
}

fn two_writes(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "held-back",
        Cause::Removed => "at-once",
    };
    let port = free_port()?.to_string();
    let program = [
        "two_writes.py",
        include_str!("../../../programs/two_writes.py"),
    ];
    let mut python: Command = first::interpreted(stage, first::PYTHON, program)?;
    python.args([&port, word]);
    let (_, port) = first::start(stage, python, port)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
