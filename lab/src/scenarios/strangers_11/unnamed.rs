//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{NODE, REDIS, missing};
use super::{cause, first, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "node-lock-asked-again",
                "lock in another server that is asked for again after a while",
                "Eight connections ask Node.js, which does 2 ms of waiting of each request under a lock \
                 in Redis, and asks again after 50 ms where somebody else has it.",
            ],
            Expect::undetermined_or(&[]),
            lock_asked_again,
        )
    }
}

/// After <https://github.com/mlanett/redis-lock/pull/2>: a lock in Redis was asked for again after 125 ms, far longer than
/// the work under it takes, which slowed an application down.
fn lock_asked_again(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE, REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, redis) = first::redis(stage, &[], &folder, &[])?;
    let keys = match cause {
        Cause::Made => "one",
        Cause::Removed => "own",
    };
    let (pid, port) = servers::asking_again(stage, [&redis, keys, "50", "2"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    let load = unknown(stage, &words)?;
    // Redis was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}
