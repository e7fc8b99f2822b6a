//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::Command;

use anyhow::Result;

use super::programs::{LIGHTTPD, MEMCACHED, NODE, missing};
use super::{cause, downstream, first, second, servers, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// How long a report takes.
const REPORT_US: u32 = 300_000;
/// 0.05 of one CPU, in us per 100 ms, and a weight with which it makes way for everybody.
const BATCH: [Limit; 2] = [Limit::CpuQuota(Some(5_000)), Limit::CpuShares(2)];
/// What the job that is killed may keep in memory.
const MEMORY: u64 = 24 << 20;
/// It keeps a line of 64 MB, unless somebody kills it, and is started again: more than it may, and not so
/// much that it could do harm without its limit.
const JOB: &str =
    "while :; do head -c 64M /dev/zero | tail -n 1 > /dev/null 2>&1; sleep 1; done 2> /dev/null";
/// What is asked of memcached: for a key that is not there.
const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];

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
                "node-unawaited-calls",
                "slow calls that no request waits for",
                "Node.js sends sixteen reports at a time to a service that takes 300 ms for each, while \
                 two connections with 5 ms to think ask it for 1 ms of CPU, and no request waits for a \
                 report.",
            ],
            unawaited_calls,
        ),
        decoy(
            [
                "lighttpd-throttled-beside",
                "CPU quota of somebody else that is always used up",
                "A batch in another group of next to no weight may use 0.05 of one CPU and always wants \
                 more, while a connection with 4 ms to think asks lighttpd for a text that it compresses.",
            ],
            throttled_beside,
        ),
        decoy(
            [
                "memcached-killed-beside",
                "processes of others that are killed for memory",
                "A job in another group is killed for memory about once per second, and started \
                 again, while four connections with 1 ms to think ask memcached.",
            ],
            killed_beside,
        ),
    ]
}

fn unawaited_calls(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let reports = match cause {
        Cause::Made => "16",
        Cause::Removed => "0",
    };
    let (_, service) = downstream(stage, REPORT_US)?;
    let (_, port) = servers::reporting(stage, ["1000", &service, reports])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "5000"]].concat())?.ready()
}

fn throttled_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = second::lighttpd(stage, 0)?;
    if cause == Cause::Made {
        let batch = stage.beside(stage.own(&["burn", "--threads", "1"])?)?;
        if let Err(error) = stage.confine("batch", batch, &BATCH) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    let address = here(&port);
    let asks = ["--http", "/list.txt", "--header", second::GZIP];
    let words = ["load", &address, "--connections", "1", "--think", "4000"];
    unknown(stage, &[&words[..], &asks].concat())?.ready()
}

fn killed_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    if cause == Cause::Made {
        let mut job = Command::new("sh");
        job.args(["-c", JOB]);
        let job = stage.beside(job)?;
        if let Err(error) = stage.confine("job", job, &[Limit::Memory(MEMORY)]) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    unknown(stage, &[&words[..], &GET].concat())?.ready()
}
