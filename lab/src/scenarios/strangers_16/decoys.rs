//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::Result;

use super::programs::{CC, HAPROXY, LIGHTTPD, PYTHON, REDIS, missing};
use super::{cause, first, second, servers, seventh, sixth, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::Stage;

/// Connections that are closed before the load begins.
const CLOSED: &str = "12000";
/// Processes that the kernel counts as load.
const WAITING: &str = "40";
/// Connections that do nothing.
const IDLE: &str = "900";
/// Pieces of a report: 1 GB.
const PIECES: &str = "2000000";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let decoy = |words, set_up| Scenario {
        kind: Kind::Decoy,
        costs: Costs::Little,
        ..cause(words, Expect::one("healthy", Who::Target), set_up)
    };
    vec![
        decoy(
            [
                "lighttpd-load-average",
                "load average of processes that use no CPU",
                "Forty processes wait without being interruptible and use no CPU, so that the load average climbs from minute to \
                 minute, while two connections with 4 ms to think ask lighttpd for a list.",
            ],
            load_average,
        ),
        decoy(
            [
                "haproxy-time-wait",
                "thousands of connections that are closed and kept for a minute",
                "Twelve thousand connections to HAProxy have just been closed, and the kernel keeps what is left of them, while \
                 two connections with 4 ms to think ask it for a small answer.",
            ],
            time_wait,
        ),
        decoy(
            [
                "redis-idle-clients",
                "idle sessions and time to think",
                "Nine hundred clients of Redis are connected and do nothing, while two connections with 4 ms to think ask it for \
                 a key.",
            ],
            idle_clients,
        ),
        decoy(
            [
                "python-kept-memory",
                "memory that a process has needed once and has not given back",
                "A Python service has made a large report once and has kept next to all of the memory for it, while two \
                 connections with 4 ms to think ask it for a small answer.",
            ],
            kept_memory,
        ),
    ]
}

/// From <https://tanelpoder.com/posts/high-system-load-low-cpu-utilization-on-linux> and
/// <https://perlod.com/tutorials/high-load-low-cpu-on-linux>, after one of the first questions of every forum: the load is high
/// and the CPUs are idle, since what waits without being interruptible counts.
fn load_average(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    if cause == Cause::Made {
        sixth::uninterruptible(stage, WAITING)?;
    }
    thinking(stage, &port, &["--http", "/list.txt"])
}

/// From <https://exchangetuts.com/high-number-of-time-waits-in-haproxy-1641653103986729>, where somebody found 200,000 of them
/// and was told by HAProxy's author that they "are harmless and don't really consume any resources".
fn time_wait(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::haproxy(stage)?;
    let closed = match cause {
        Cause::Made => CLOSED,
        Cause::Removed => "0",
    };
    let program = ["closing.py", include_str!("../../../programs/closing.py")];
    seventh::staying(stage, program, &[port.as_str(), closed])?;
    thinking(stage, &port, &["--http", "/"])
}

/// From <https://intl.aliyun.com/help/en/redis/user-guide/specify-a-timeout-period-for-client-connections> and
/// <https://redis.io/docs/latest/develop/reference/clients/>: Redis keeps idle clients for ever, `connected_clients` climbs and
/// alarms whoever watches it, and as long as there is room for more it costs nothing.
fn idle_clients(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &[])?;
    if cause == Cause::Made {
        let program = [
            "connected.py",
            include_str!("../../../programs/connected.py"),
        ];
        seventh::staying(stage, program, &[port.as_str(), IDLE])?;
    }
    let get = ["--text", "GET key\r\n", "--ends", "\r\n"];
    thinking(stage, &port, &get)
}

/// From <https://stackoverflow.com/questions/15455048/releasing-memory-in-python> and Python's own list of questions: what a
/// process has freed need not go back to the kernel, looks like a leak, and is used again.
fn kept_memory(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let pieces = match cause {
        Cause::Made => PIECES,
        Cause::Removed => "0",
    };
    let (_, port) = servers::reported(stage, pieces)?;
    thinking(stage, &port, &["--http", "/"])
}

/// Two connections with 4 ms to think that ask for this.
fn thinking(stage: &Stage, port: &str, words: &[&str]) -> Result<SetUp> {
    let address = here(port);
    let first = ["load", &address, "--connections", "2", "--think", "4000"];
    unknown(stage, &[&first[..], words].concat())?.ready()
}
