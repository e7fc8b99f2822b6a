//! Servers in Java, Go and Node.js.

use anyhow::Result;

use super::programs::{GO, JAVA, NODE, missing};
use super::{cause, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Threads of a server in Java, and lines that a request writes to the log.
const THREADS: &str = "8";
const LINES: &str = "300";
/// KiB of a buffer outside of the heap, and objects that stay in it.
const BUFFER: &str = "1024";
const STAYS: &str = "1500000";
/// 0.4 of one CPU, in us per 100 ms.
const QUOTA: u32 = 40_000;
/// Where names are asked for: on the port that is theirs, at an address that nobody else uses.
const NAMES: &str = "127.0.53.54:53";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "java-shared-log",
                "lock of a log that all threads write each of their lines under",
                "Eight connections ask a Java service, each request of which writes 300 lines to a \
                 log at a level for developers, and the log formats and writes each line under its \
                 one lock.",
            ],
            Expect {
                // Who waits for a lock of Java waits in its runtime.
                or: &[("lock.runtime", Who::Target)],
                ..Expect::one("lock.futex", Who::Target)
            },
            shared_log,
        ),
        cause(
            [
                "java-native-buffers",
                "buffers outside of a heap, at whose limit all of the heap is collected",
                "Four connections ask a Java service, each request of which wants a new buffer of 1 \
                 MB outside of the heap, and at the limit of 16 MB for these its machine collects all \
                 of the heap to find which of them nobody needs.",
            ],
            Expect::one("lock.runtime", Who::Target),
            native_buffers,
        ),
        cause(
            [
                "go-collections-in-quota",
                "CPU quota that the collections of a runtime use up with the requests",
                "Eight connections ask a Go service, each request of which makes garbage, and its \
                 group may use 0.4 of one CPU, which its requests and its collections use up with two \
                 threads at a time.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            collections_in_quota,
        ),
        cause(
            [
                "node-slow-names",
                "slow name server",
                "Four connections ask a Node.js service, each request of which looks up a name at a \
                 name server that takes 25 ms.",
            ],
            Expect::one("net.remote", Who::Peer),
            slow_names,
        ),
    ]
}

/// From <https://www.javacodegeeks.com/2020/01/log4j-bug-slows-down-your-app.html>, where one thread in log4j blocked 134
/// others, and <https://plumbr.io/blog/locked-threads/locking-and-logging>: appenders that write to files have a lock, and a
/// third of all applications wait for it.
fn shared_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "shared",
        Cause::Removed => "own",
    };
    let folder = stage.unprivileged_folder("logs")?;
    let folder = folder.display().to_string();
    let (_, port) = servers::logging(stage, [THREADS, LINES, &folder, word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

/// From <https://serce.me/posts/18-11-2020-allocate-direct>, where a service that asked for direct buffers stood still, since
/// they are freed only by a collection, and `System.gc()` is called whenever their limit is reached.
fn native_buffers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "new",
        Cause::Removed => "kept",
    };
    let (_, port) = servers::buffered(stage, [THREADS, BUFFER, STAYS, word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// From <https://www.ardanlabs.com/blog/2024/02/kubernetes-cpu-limits-go.html>: a service in Go had a limit of 250m, of
/// which its runtime knew nothing, and was stopped for most of each period.
fn collections_in_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::collected(stage)?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

/// From <https://blog.enodo.io/nodejs-how-dns-lookups-can-block-your-performance-22.html>, and
/// <https://careers.wolt.com/ja/blog/engineering/improving-wolt-com-latency-by-demystifying-node-js-dns-resolution>: a
/// service in Node.js asked the name server with each request, and that was what its slow requests waited for.
fn slow_names(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let sleep_us = match cause {
        Cause::Made => "25000",
        Cause::Removed => "0",
    };
    let words = ["serve", "downstream", "--names", "--listen", NAMES];
    let words = [&words[..], &["--sleep", sleep_us]].concat();
    let names = match stage.beside_that_speaks(stage.own(&words)?) {
        Ok((names, _)) => names,
        Err(error) => return Ok(SetUp::NotHere(format!("port 53 needs root: {error:#}"))),
    };
    let peer = format!("pid:{names}@ {NAMES}");
    stage.cast.insert(Who::Peer, peer);
    let (pid, port) = servers::naming(stage, NAMES)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    let load = unknown(stage, &words)?;
    // The name server was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}
