//! Two causes at once: delays that add up, since in a closed loop only one thing can be full.

use anyhow::Result;

use super::programs::{NGINX, NODE, PYTHON, missing};
use super::{cause, downstream, far, servers, sixth, unknown};
use crate::scenario::{Cause, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// The sums take so long, and the next ones are so long away, ms.
const SUMS: [&str; 2] = ["10", "2"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let both = |words, expect, set_up| Scenario {
        kind: Kind::TwoCauses,
        ..cause(words, expect, set_up)
    };
    vec![
        both(
            [
                "node-dashboard-and-service",
                "event loop that a timer keeps busy and a slow service",
                "Four connections ask Node.js, each request of which asks a service behind it that \
                 takes 6 ms, and a timer has the event loop compute for 10 of every 12 ms.",
            ],
            Expect::one("cpu.single_thread", Who::Thread).and("net.remote", Who::Peer),
            dashboard_and_service,
        ),
        both(
            [
                "nginx-far-and-unix-service",
                "long way to the client and a slow service behind a unix socket",
                "Four connections ask nginx, 3 ms away in each direction, which passes each request on \
                 to a service behind a unix socket that takes 6 ms to answer.",
            ],
            Expect::one("net.rtt", Who::Peer).and("net.remote", Who::Peer),
            far_and_unix_service,
        ),
    ]
}

fn dashboard_and_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let ([compute_ms, pause_ms], sleep_us) = match cause {
        Cause::Made => (SUMS, 6_000),
        Cause::Removed => (["0", "0"], 0),
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::summing(stage, [&address, compute_ms, pause_ms])?;
    // The event loop is the first thread of Node.js.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

fn far_and_unix_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => "6000",
        Cause::Removed => "0",
    };
    let (service, socket) = sixth::unix_service(stage, sleep_us)?;
    let own = format!(
        "listen 7000; proxy_ignore_client_abort on; location / {{ proxy_pass http://unix:{}:/; }}",
        socket.display()
    );
    // The socket is nobody's: who is to write to it must be nobody or root.
    let nginx = sixth::nginx_with_server(stage, "user root;", &own)?;
    let (server, address) = match far(stage, &nginx, cause, 3)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    // The one is named by its address, the other by its process.
    let peers = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peers);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}
