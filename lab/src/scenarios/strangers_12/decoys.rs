//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::Command;

use anyhow::Result;

use super::programs::{HAPROXY, PYTHON, REDIS, missing};
use super::{cause, downstream, first, servers, seventh, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::{
    MARIADB, MARIADB_PACKAGES, free_port, here, mariadb_server, sysbench, sysbench_load,
};
use crate::stage::Stage;

/// Keys of some hundred bytes, of which nine in ten are deleted again: what stays has pages to itself.
const FRAGMENTED: &str = "for i = 1, 200000 do redis.call('SET', 'k' .. i, string.rep('x', 400 + i % 200)) \
    end for i = 1, 200000 do if i % 10 ~= 0 then redis.call('DEL', 'k' .. i) end end";
/// A ranking, and the first of it.
const RANKING: &str =
    "for i = 0, 9999 do redis.call('ZADD', 'rank', i, string.format('m%06d', i)) end";
const FIRST: [&str; 4] = ["--text", "ZRANGE rank 0 4999\r\n", "--ends", "m004999\r\n"];
/// So often per second a load balancer looks whether the database is there.
const CHECKS: &str = "50";

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
                "redis-fragmented-memory",
                "memory of a server that is many times what it keeps",
                "Nine in ten of 200,000 keys of Redis have been deleted, and its memory is many times \
                 what is in it, while two connections with 4 ms to think ask for 5,000 members of a \
                 ranking.",
            ],
            fragmented_memory,
        ),
        decoy(
            [
                "mariadb-aborted-connections",
                "connections of a load balancer that are counted and logged as aborted",
                "A load balancer opens a connection to MariaDB fifty times per second and closes it \
                 without a word, which counts as aborted and is logged, while two sysbench threads \
                 with 4 ms to think sum up some rows.",
            ],
            aborted_connections,
        ),
        decoy(
            [
                "haproxy-unread-log",
                "lines of a log that the kernel drops since their receiver does not read",
                "HAProxy sends a line for each request over UDP to a collector of logs that does not \
                 read, so that the kernel counts each as an error, while one connection asks it for \
                 an answer of a service that has it at once.",
            ],
            unread_log,
        ),
    ]
}

/// From <https://serverdevworker.com/1060245f2a> and many like it: `mem_fragmentation_ratio` is high after keys were
/// deleted, which alarms its readers, and is memory that Redis uses again.
fn fragmented_memory(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &[])?;
    let scripts = match cause {
        Cause::Made => &[FRAGMENTED, RANKING][..],
        Cause::Removed => &[RANKING],
    };
    for script in scripts {
        let mut fill = Command::new("redis-cli");
        fill.args(["-p", &port, "EVAL", script, "0"]);
        stage.step(fill)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "2", "--think", "4000"];
    unknown(stage, &[&words[..], &FIRST].concat())?.ready()
}

/// From <https://www.percona.com/blog/2016/05/16/mysql-got-an-error-reading-communication-packet-errors/>: customers ask
/// about aborted connections and the warnings in the log; most often the network or a check of a balancer is why.
fn aborted_connections(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = crate::scenarios::missing(&MARIADB, MARIADB_PACKAGES) {
        return Ok(SetUp::NotHere(why));
    }
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let settings = ["--log-warnings=4", "--max-connect-errors=1000000000"];
    let (_, port) = mariadb_server(stage, &settings, None)?;
    let mut prepare = Command::new("sysbench");
    prepare.args(sysbench("oltp_point_select", &port, "1", "prepare"));
    stage.step(prepare)?;
    if cause == Cause::Made {
        let program = ["aborting.py", include_str!("../../../programs/aborting.py")];
        seventh::staying(stage, program, &[port.as_str(), CHECKS])?;
    }
    let text = include_str!("../../../programs/thinking.lua");
    let test = stage.script("thinking.lua", text)?;
    let words = sysbench(&test.to_string_lossy(), &port, "2", "run");
    Ok(SetUp::Ready(sysbench_load(stage, words)))
}

/// From <https://www.netdata.cloud/guides/network/network-udp-rcvbuf-errors/> and
/// <https://www.rsyslog.com/doc/faq/imudp-packet-loss.html>: `RcvbufErrors` rise on a machine that collects logs over UDP;
/// who sends them does not wait.
fn unread_log(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[HAPROXY, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "leaves",
        Cause::Removed => "reads",
    };
    let log = free_port()?.to_string();
    let program = [
        "unread_log.py",
        include_str!("../../../programs/unread_log.py"),
    ];
    seventh::staying(stage, program, &[log.as_str(), word])?;
    let (_, service) = downstream(stage, 0)?;
    let (pid, port) = servers::haproxy_with_log(stage, &service, &log)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "1"];
    // The service was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}
