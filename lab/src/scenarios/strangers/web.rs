//! nginx and HAProxy as proxies and as servers.

use anyhow::Result;

use super::super::held_out::{free_port, nginx_with};
use super::programs::{HAPROXY, HEY, NGINX, PYTHON, WRK, client, hey, missing, wrk};
use super::{cause, downstream, servers};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::stage::{DELAYED_SERVER, Stage};

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "nginx-slow-upstream",
                "slow service behind the server",
                "wrk asks nginx, which passes each request on to a service that takes 20 ms to \
                 answer.",
            ],
            Expect::one("net.remote", Who::Peer),
            slow_upstream,
        ),
        cause(
            [
                "nginx-far-upstream",
                "long way to the service behind the server",
                "hey asks nginx, whose service answers at once and is 10 ms away in each direction.",
            ],
            Expect {
                or: &[("net.rtt", Who::Peer)],
                ..Expect::one("net.remote", Who::Peer)
            },
            far_upstream,
        ),
        cause(
            [
                "haproxy-client-bound",
                "generator without time left",
                "A generator of one thread computes 2 ms of its own before each request to HAProxy, \
                 which answers at once.",
            ],
            Expect::one("load.client", Who::Generator),
            client_bound,
        ),
    ]
}

/// nginx that passes everything on to this address.
fn proxy(stage: &mut Stage, address: &str) -> Result<(u32, String)> {
    let port = free_port()?.to_string();
    let all = format!("upstream service {{ server {address}; keepalive 64; }}");
    let own = "location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header \
               Connection \"\"; }";
    let pid = nginx_with(stage, 2, &port, &all, own)?;
    Ok((pid, port))
}

fn slow_upstream(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 20_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let (_, port) = proxy(stage, &address)?;
    wrk(stage, &port, 16).ready()
}

fn far_upstream(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, HEY]) {
        return Ok(SetUp::NotHere(why));
    }
    let one_way_ms = match cause {
        Cause::Made => 10,
        Cause::Removed => 0,
    };
    let listen = "0.0.0.0:7000";
    let serve = ["serve", "downstream", "--sleep", "0", "--listen", listen];
    let service = match stage.at_a_distance(&serve, one_way_ms) {
        Ok(service) => service,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = format!("{DELAYED_SERVER}:7000");
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let (_, port) = proxy(stage, &address)?;
    hey(stage, &port, 16).ready()
}

fn client_bound(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let compute_us = match cause {
        Cause::Made => "2000",
        Cause::Removed => "0",
    };
    let (_, port) = servers::haproxy(stage)?;
    client(stage, &port, compute_us)?.ready()
}
