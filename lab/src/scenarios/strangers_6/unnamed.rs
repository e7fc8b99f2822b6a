//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::{Context, Result};

use super::programs::{NGINX, missing};
use super::{cause, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::Stage;

/// For each client's address, whose requests come every 5 ms.
const ZONE: &str = "limit_req_zone $binary_remote_addr zone=each:1m rate=200r/s;";
/// Who comes sooner waits, and nobody is turned away.
const PACE: &str = "limit_req zone=each burst=64;";

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "nginx-paced-requests",
                "requests that the server itself lets through one by one",
                "Eight connections ask nginx for a small file, and by its settings it lets 200 \
                 requests per second of each address through and makes all others wait.",
            ],
            Expect::undetermined_or(&[]),
            paced_requests,
        )
    }
}

fn paced_requests(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let pace = match cause {
        Cause::Made => PACE,
        Cause::Removed => "",
    };
    let folder = stage.unprivileged_folder("site")?;
    std::fs::write(folder.join("file"), "ok\n").context("cannot write a file")?;
    let places = format!("root {}; {pace}", folder.display());
    let port = free_port()?.to_string();
    nginx_with(stage, 2, &port, ZONE, &places)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "8"];
    unknown(stage, &words)?.ready()
}
