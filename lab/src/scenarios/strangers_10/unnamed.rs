//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{CC, LIGHTTPD, missing};
use super::{cause, second, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "lighttpd-left-traced",
                "server whose system calls somebody traces and has forgotten about",
                "Four connections ask lighttpd for a small file, and somebody has left a tracer \
                 attached to it, which has it stop at each system call and takes 0.5 ms to note that.",
            ],
            Expect::undetermined_or(&[]),
            left_traced,
        )
    }
}

fn left_traced(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = second::lighttpd(stage, 0)?;
    std::fs::write(stage.folder().join("site").join("file"), "ok\n")?;
    if cause == Cause::Made {
        servers::tracing(stage, pid)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
