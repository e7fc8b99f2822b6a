//! HAProxy.

use anyhow::Result;

use super::programs::{HAPROXY, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![cause(
        [
            "haproxy-slow-application",
            "slow service behind the server",
            "Eight connections ask HAProxy, which passes each request on to an application that takes \
             20 ms to answer and has room for all of them.",
        ],
        Expect::one("net.remote", Who::Peer),
        slow_application,
    )]
}

/// From <https://flyingcircus.io/en/about-us/blog-news/details-view/debugging-web-application-performance-with-haproxy-part-2>:
/// the most common reason of a slow site is that the application itself takes long, which HAProxy logs as a high `Tr`.
fn slow_application(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 20_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::haproxy_before(stage, &address)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    // The application was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}
