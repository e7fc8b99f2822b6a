//! HAProxy, nginx and Apache.

use std::ffi::OsString;

use anyhow::Result;

use super::programs::{AB, APACHE, HAPROXY, NGINX, OPENSSL, PYTHON, WRK, ab, missing, wrk};
use super::{cause, far, second, servers, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::server::two_cpus;
use crate::stage::Stage;

/// A key with which to sign takes some ms of CPU.
const LONG_KEY: [&str; 2] = ["-newkey", "rsa:4096"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "haproxy-cpu-map",
                "threads that a server's own settings map to one CPU",
                "ab asks HAProxy over eight connections, a new one for each request, and each begins \
                 with a handshake of TLS with a key of 4,096 bits, which two threads make that its \
                 settings map to one CPU, while ab leaves most of the other.",
            ],
            Expect::one("cpu.imbalance", Who::Cpu),
            cpu_map,
        ),
        cause(
            [
                "nginx-far-small-buffer",
                "long way that an answer goes in many small pieces",
                "Eight connections ask nginx, which is 10 ms away in each direction, for a file of 100 \
                 KB, and of each answer only some KB may be under way at once.",
            ],
            Expect::one("net.rtt", Who::Peer),
            far_small_buffer,
        ),
        cause(
            [
                "apache-unix-service",
                "slow service behind a unix socket",
                "wrk asks Apache over eight connections, which passes each request on to a service \
                 behind a unix socket that takes 20 ms to answer.",
            ],
            Expect::one("net.remote", Who::Peer),
            unix_service,
        ),
    ]
}

fn cpu_map(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, OPENSSL, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let Some((crowded, free)) = two_cpus()? else {
        return Ok(SetUp::NotHere("it needs a second CPU".to_owned()));
    };
    let (crowded, free) = (crowded.to_string(), free.to_string());
    let cpu = (cause == Cause::Made).then_some(crowded.as_str());
    let (_, port) = servers::haproxy_on(stage, &LONG_KEY, cpu)?;
    stage.cast.insert(Who::Cpu, format!("cpu{crowded}"));
    let url = format!("https://127.0.0.1:{port}/");
    let below = ["taskset", "-c", &free].map(OsString::from);
    let load = ab(stage, &["-c", "8"], &url);
    Load::new(below.into_iter().chain(load.command)).ready()
}

fn far_small_buffer(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let nginx = servers::nginx_for_all(stage)?;
    let (server, address) = match far(stage, &nginx, cause, 10)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let words = ["load", &address, "--http", "/file", "--connections", "8"];
    // Sockets of another network namespace cannot be followed from here.
    unknown(stage, &words)?
        .with("--target", format!("pid:{server}"))
        .ready()
}

fn unix_service(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, PYTHON, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => "20000",
        Cause::Removed => "0",
    };
    let (service, socket) = servers::unix_service(stage, sleep_us)?;
    stage.cast.insert(Who::Peer, format!("pid:{service}@"));
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 32\nMaxRequestWorkers 32\nProxyPass / \
         \"unix:{}|http://localhost/\"\n",
        socket.display()
    );
    let modules = ["mpm_event", "proxy", "proxy_http"];
    let (_, port) = second::apache(stage, &modules, &directives)?;
    wrk(stage, &port, 8).ready()
}
