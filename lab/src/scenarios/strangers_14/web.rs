//! nginx and lighttpd.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use super::programs::{LIGHTTPD, NGINX, PYTHON, missing};
use super::{cause, downstream, first, second, servers, seventh, unknown};
use crate::scenario::{Cause, Expect, Load, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Connections of a worker, of which one that is passed on takes two, and those who have a page open that waits for news.
const CONNECTIONS: &str = "64";
const MANY: &str = "1024";
const WATCHING: &str = "29";
/// Visitors who want pages, and us that a page takes.
const VISITORS: &str = "16";
const PAGE_US: u32 = 5_000;
/// Longer than any run.
const NO_NEWS_US: u32 = 3_600_000_000;
/// Threads of the compression: as many as the machine has CPUs that the container cannot have.
const COMPRESSES: &str = "-T8";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "nginx-worker-connections",
                "connections of a worker that pages which wait for news have used up",
                "Sixteen visitors ask nginx for pages, which it asks a service for, with a connection \
                 for each, and 29 others who wait for news have 58 of the 64 connections that its \
                 worker may have.",
            ],
            Expect::one("limit.connections", Who::Target),
            worker_connections,
        ),
        cause(
            [
                "lighttpd-backup-beside",
                "CPUs taken by the compression of a backup with many threads",
                "A backup compresses with eight threads, all of the same weight as the server, while \
                 four connections ask lighttpd for a list.",
            ],
            Expect::one("cpu.neighbour", Who::Holder),
            backup_beside,
        ),
    ]
}

/// From <https://packetlog.org/posts/nginx-502-librespeed/>, where "worker_connections are not enough" stood in the log for
/// weeks while requests hung and failed, and
/// <https://binadit.com/tutorials/fix-nginx-worker-connections-are-not-enough-warning>: new connections are dropped, and one
/// that is passed on counts twice.
fn worker_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NGINX, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let connections = match cause {
        Cause::Made => CONNECTIONS,
        Cause::Removed => MANY,
    };
    let (_, pages) = downstream(stage, PAGE_US)?;
    let (_, news) = downstream(stage, NO_NEWS_US)?;
    let (pid, port) = servers::nginx_with_news(stage, connections, [&pages, &news])?;
    let program = ["watching.py", include_str!("../../../programs/watching.py")];
    seventh::staying(stage, program, &[port.as_str(), WATCHING])?;
    let program = stage.script("visits.py", include_str!("../../../programs/visits.py"))?;
    let seconds = stage.seconds.to_string();
    let words = [port.as_str(), VISITORS, &seconds].map(OsString::from);
    let command = [OsString::from(first::PYTHON), program];
    // The services were started before it.
    Load::new(command.into_iter().chain(words))
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://serverfault.com/questions/1010219/prevent-multiple-cron-jobs-from-running-concurrently>, where backups that
/// xz compresses at midnight loaded a server that still had visitors, and
/// <http://www.clker.com/blog/tag/disk/>: pages load slowly meanwhile unless the backup is given a lower weight.
fn backup_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, ("xz", "xz-utils")]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 1)?;
    if cause == Cause::Made {
        let mut xz = Command::new("xz");
        // It would not take a device.
        xz.args(["--force", "-6", COMPRESSES, "--stdout", "/dev/zero"]);
        let backup = stage.beside(xz)?;
        stage.cast.insert(Who::Holder, format!("pid:{backup}@"));
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt", "--connections"];
    unknown(stage, &[&words[..], &["4"]].concat())?.ready()
}
