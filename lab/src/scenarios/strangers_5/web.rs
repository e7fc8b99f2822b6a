//! nginx, Apache and lighttpd.

use std::ffi::OsString;

use anyhow::{Context, Result};

use super::programs::{AB, APACHE, LIGHTTPD, NGINX, WRK, ab, missing, wrk};
use super::{cause, far, limited, second, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::{free_port, here, nginx_with};
use crate::stage::{Limit, Stage};

/// All ways to make one group of letters out of several, of which none fits what comes behind them.
const TRIES_ALL: &str = "^/(a+)+$";
/// The same answer at the first try.
const TRIES_ONE: &str = "^/a+$";
/// Each letter more doubles the ways.
const LETTERS: usize = 16;

/// What pieces are asked of, as `pieces.lua` knows.
const FILE: usize = 128 << 20;
/// What of it may be in memory.
const MEMORY: u64 = 32 << 20;

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "nginx-backtracking",
                "CPUs full of a pattern that tries all ways",
                "Twelve connections ask nginx for a path that a regular expression of its settings does \
                 not fit, which it knows after it has tried all ways to read sixteen letters.",
            ],
            Expect::one("cpu.saturated", Who::Target),
            backtracking,
        ),
        cause(
            [
                "apache-pieces",
                "memory limit under pieces of a large file",
                "wrk asks Apache over four connections for pieces of 64 KB of a file of 128 MB, and its \
                 group may keep 32 MB in memory, page cache included.",
            ],
            Expect::one("memory.limit", Who::LimitedGroup),
            pieces,
        ),
        cause(
            [
                "lighttpd-far-connections",
                "long way that each new connection goes twice",
                "ab asks lighttpd, which is 5 ms away in each direction, over eight connections, a new \
                 one for each request.",
            ],
            Expect::one("net.rtt", Who::Peer),
            far_connections,
        ),
    ]
}

fn backtracking(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX]) {
        return Ok(SetUp::NotHere(why));
    }
    let pattern = match cause {
        Cause::Made => TRIES_ALL,
        Cause::Removed => TRIES_ONE,
    };
    let port = free_port()?.to_string();
    let places =
        format!("location ~ {pattern} {{ return 404; }} location / {{ return 200 \"ok\\n\"; }}");
    nginx_with(stage, 2, &port, "", &places)?;
    let path = format!("/{}b", "a".repeat(LETTERS));
    let address = here(&port);
    let words = ["load", &address, "--http", &path, "--connections", "12"];
    unknown(stage, &words)?.ready()
}

fn pieces(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[APACHE, WRK]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let folder = file.parent().context("a file is in a folder")?;
    // Mapped it would be another situation.
    let directives = format!(
        "StartServers 1\nServerLimit 1\nThreadsPerChild 16\nMaxRequestWorkers 16\nEnableMMAP Off\n\
         DocumentRoot {}\n",
        folder.display()
    );
    let (pid, port) = second::apache(stage, &["mpm_event"], &directives)?;
    if cause == Cause::Removed {
        servers::keep_in_memory(&file)?;
    } else if let Some(why) = limited(stage, pid, Limit::Memory(MEMORY)) {
        return Ok(SetUp::NotHere(why));
    }
    let script = include_str!("../../../programs/pieces.lua");
    let script = stage.script("pieces.lua", script)?;
    let mut load = wrk(stage, &port, 4);
    let url = load.command.pop();
    load.command.extend([OsString::from("-s"), script]);
    load.command.extend(url);
    load.ready()
}

fn far_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, AB]) {
        return Ok(SetUp::NotHere(why));
    }
    let lighttpd = servers::lighttpd_for_all(stage)?;
    let (server, address) = match far(stage, &lighttpd, cause, 5)? {
        Ok(it) => it,
        Err(why) => return Ok(SetUp::NotHere(why)),
    };
    let url = format!("http://{address}/file");
    // Sockets of another network namespace cannot be followed from here.
    ab(stage, &["-c", "8"], &url)
        .with("--target", format!("pid:{server}"))
        .ready()
}
