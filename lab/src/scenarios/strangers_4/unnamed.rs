//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{PYTHON, REDIS, missing};
use super::{cause, first, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// What is asked of Redis, and how its answer ends.
const GET: [&str; 4] = ["--text", "GET key\r\n", "--ends", "\r\n"];

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "redis-stopped",
                "server that is stopped by signals",
                "Four connections get a key from Redis, and a tool stops it by a signal for 40 of every \
                 50 ms, as if to copy its memory.",
            ],
            Expect::undetermined_or(&[]),
            stopped,
        )
    }
}

fn stopped(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (pid, port) = first::redis(stage, &[], &folder, &[])?;
    if cause == Cause::Made {
        let program = ["stops.py", include_str!("../../../programs/stops.py")];
        let mut tool = first::interpreted(stage, first::PYTHON, program)?;
        tool.arg(pid.to_string());
        stage.beside(tool)?;
    }
    let address = here(&port);
    let words = [&["load", &address, "--connections", "4"][..], &GET].concat();
    unknown(stage, &words)?.ready()
}
