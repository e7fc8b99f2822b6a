//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use anyhow::Result;

use super::programs::{CC, LIGHTTPD, MEMCACHED, NODE, PYTHON, missing};
use super::{cause, first, limited, second, servers, third, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// What is asked of memcached: for a key that is not there.
const GET: [&str; 4] = ["--text", "get key\r\n", "--ends", "END\r\n"];
/// So many processes wait: after some minutes the load average would be as high.
const WAITING: &str = "24";
/// 0.05 of one CPU, in us per 100 ms, and a weight with which it makes way for everybody.
const BATCH: [Limit; 2] = [Limit::CpuQuota(Some(5_000)), Limit::CpuShares(2)];
/// What is read, and what of it may be in memory.
const FILE: usize = 64 << 20;
const MEMORY: u64 = 16 << 20;

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
                "memcached-load-average",
                "load average of processes that use no CPU",
                "Twenty-four processes of somebody else wait for a child without being interruptible, \
                 which the load average counts, while four connections with 1 ms to think ask \
                 memcached.",
            ],
            load_average,
        ),
        decoy(
            [
                "node-throttled-child",
                "CPU quota of the server's own child that no request waits for",
                "Node.js has started a batch, which always wants more than the 0.05 of one CPU that \
                 its own group may use, while two connections with 5 ms to think ask Node.js for 1 ms \
                 of CPU, and no request waits for the batch.",
            ],
            throttled_child,
        ),
        decoy(
            [
                "lighttpd-full-group",
                "memory limit that only pages run into which nobody needs again",
                "A program in a group beside that of lighttpd reads 10 MB per second of a log through \
                 the page cache, by which the group around both is always as large as it may be, \
                 while two connections with 3 ms to think ask lighttpd for a text.",
            ],
            full_group,
        ),
    ]
}

fn load_average(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[MEMCACHED, CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::memcached(stage)?;
    if cause == Cause::Made {
        servers::uninterruptible(stage, WAITING)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--connections", "4", "--think", "1000"];
    unknown(stage, &[&words[..], &GET].concat())?.ready()
}

fn throttled_child(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let batch = match cause {
        Cause::Made => "batch",
        Cause::Removed => "none",
    };
    let (pid, port) = servers::parent(stage, ["1000", batch])?;
    if cause == Cause::Made {
        let child = third::child_named(pid, "sh")?;
        if let Err(error) = stage.confine("batch", child, &BATCH) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "5000"]].concat())?.ready()
}

fn full_group(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[LIGHTTPD, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = third::lighttpd(stage, "")?;
    if cause == Cause::Made {
        let reader = reader(stage)?;
        if let Some(why) = limited(stage, pid, Limit::Memory(MEMORY)) {
            return Ok(SetUp::NotHere(why));
        }
        stage.nest_beside("reader", pid, reader)?;
        stage.nest("service", pid)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/list.txt"];
    let pace = ["--connections", "2", "--think", "3000"];
    unknown(stage, &[&words[..], &pace].concat())?.ready()
}

/// Starts what reads a log again and again, slowly; its process.
fn reader(stage: &mut Stage) -> Result<u32> {
    let file = second::large_file(stage, FILE)?;
    let program = ["shipping.py", include_str!("../../../programs/shipping.py")];
    let mut reader = first::interpreted(stage, first::PYTHON, program)?;
    reader.arg(file);
    let (pid, _) = stage.beside_that_speaks(reader)?;
    Ok(pid)
}
