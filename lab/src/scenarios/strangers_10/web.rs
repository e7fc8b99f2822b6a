//! nginx, HAProxy and lighttpd.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use super::programs::{HAPROXY, LIGHTTPD, NGINX, missing};
use super::{cause, downstream, second, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::{Limit, Stage};

/// A generator's CPU time in 100 ms, us.
const QUOTA: u32 = 10_000;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "nginx-mirrored-requests",
                "copies of requests that go to a slow test system",
                "Eight connections ask nginx for a small file, and by its settings it sends a copy of \
                 each request to a test system, which takes 25 ms to answer; until then nginx reads \
                 no further request of that connection.",
            ],
            Expect::one("net.remote", Who::Peer),
            mirrored_requests,
        ),
        cause(
            [
                "haproxy-shared-script",
                "script that only one thread at a time may run, while others spin",
                "Eight connections ask HAProxy with two threads, which answers by a script in Lua that \
                 was loaded once for all threads, so that one waits in a loop while the other runs it.",
            ],
            Expect::one("lock.spin", Who::Target),
            shared_script,
        ),
        cause(
            [
                "lighttpd-limited-generator",
                "CPU quota of the load generator",
                "Eight connections ask lighttpd for a small file, and the group of their generator may \
                 use 0.1 of one CPU.",
            ],
            Expect {
                // It says of the generator why its threads have no time.
                or: &[("cpu.quota", Who::LimitedGroup)],
                ..Expect::one("load.client", Who::Generator)
            },
            limited_generator,
        ),
    ]
}

fn mirrored_requests(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => 25_000,
        Cause::Removed => 0,
    };
    let (service, address) = downstream(stage, sleep_us)?;
    let peer = format!("pid:{service}@ {address}");
    stage.cast.insert(Who::Peer, peer);
    let folder = stage.unprivileged_folder("site")?;
    std::fs::write(folder.join("file"), "ok\n")?;
    let all = format!("upstream test {{ server {address}; keepalive 16; }}");
    let places = format!(
        "root {}; location / {{ mirror /copy; }} location = /copy {{ internal; error_log \
         /dev/null; proxy_pass \
         http://test/; proxy_http_version 1.1; proxy_set_header Connection \"\"; }}",
        folder.display()
    );
    let port = free_port()?.to_string();
    nginx_with(stage, 2, &port, &all, &places)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn shared_script(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY]) {
        return Ok(SetUp::NotHere(why));
    }
    let loaded = match cause {
        Cause::Made => "lua-load",
        Cause::Removed => "lua-load-per-thread",
    };
    let (_, port) = servers::haproxy_with_script(stage, loaded)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn limited_generator(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    std::fs::write(stage.folder().join("site").join("file"), "ok\n")?;
    // The group must be there before the generator is.
    let mut first = Command::new("sleep");
    first.arg("infinity");
    let first = stage.beside(first)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    let group = match stage.confine("generator", first, &[Limit::CpuQuota(quota)]) {
        Ok(group) => group,
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let enter = format!("echo $$ > {} && exec \"$@\"", group.entry().display());
    stage.cast.insert(Who::LimitedGroup, group.path);
    let address = here(&port);
    let words = ["load", &address, "--http", "/file", "--connections", "8"];
    let mut load = unknown(stage, &words)?;
    let inside = ["sh", "-c", &enter, "sh"].map(OsString::from);
    load.command = inside.into_iter().chain(load.command).collect();
    load.ready()
}
