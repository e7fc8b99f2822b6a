//! A cause for which the diagnosis had no name when it was written. To say that it cannot tell is right; a
//! wrong name and *healthy* are not.

use anyhow::Result;

use super::programs::{GO, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Questions per second: a few, and more than there will be.
const FEW: &str = "50";
const ENOUGH: &str = "1000000";

/// The situation.
pub fn scenario() -> Scenario {
    Scenario {
        kind: Kind::Unnamed,
        ..cause(
            [
                "go-client-throttling",
                "questions to another service that the program's own limiter holds back",
                "Four connections ask a Go service, each request of which asks another service that answers at \
                 once, through a client that lets 50 questions per second out.",
            ],
            Expect::undetermined_or(&[]),
            client_throttling,
        )
    }
}

/// From <https://devopsaitoolkit.com/prompts/kubernetes-client-qps-burst-throttling-tuning/> and
/// <https://github.com/aws/aws-node-termination-handler/pull/1281>: "Waited for 9.994s due to client-side throttling", since the
/// usual client of Kubernetes lets five questions per second out, with its server at ease.
fn client_throttling(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let rate = match cause {
        Cause::Made => FEW,
        Cause::Removed => ENOUGH,
    };
    let (_, service) = downstream(stage, 0)?;
    let (pid, port) = servers::limited(stage, [&service, rate])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // The other service was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}
