//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{AB, HAPROXY, NGINX, ab, missing};
use super::{cause, servers};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::{here, nginx};
use crate::stage::Stage;

/// Each connection is looked at for so long before it is passed on, whatever it sends.
const INSPECTION: &str =
    "  tcp-request inspect-delay 30ms\n  tcp-request content accept if WAIT_END\n";

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "haproxy-inspection",
                "connections that the server itself looks at for a fixed time",
                "ab asks nginx through HAProxy over eight connections, a new one for each request, and \
                 by its settings HAProxy looks at each for 30 ms before it passes it on.",
            ],
            Expect::undetermined_or(&[]),
            inspection,
        )
    }
}

fn inspection(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, NGINX, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let lines = match cause {
        Cause::Made => INSPECTION,
        Cause::Removed => "",
    };
    let (_, site) = nginx(stage, 2)?;
    let (_, port) = servers::haproxy_for_connections(stage, &here(&site), lines)?;
    let url = format!("http://127.0.0.1:{port}/ok");
    ab(stage, &["-c", "8"], &url).ready()
}
