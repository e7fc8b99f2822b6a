//! Servers in Java and Node.js.

use anyhow::Result;

use super::programs::{JAVA, NODE, missing};
use super::{cause, downstream, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Threads of a service in Java, and rounds of a signature, about 1 ms.
const THREADS: &str = "8";
const ROUNDS: &str = "5000";
/// 0.4 of one CPU, in us per 100 ms.
const QUOTA: u32 = 40_000;
/// Threads that an executor always may have; the most that it may have.
const CORE: &str = "2";
const MOST: &str = "50";
/// How long the service behind it takes, us.
const SERVICE_US: u32 = 5_000;
/// Spaces in the middle of a post.
const SPACES: &str = "3000";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "java-container-limit",
                "CPU limit of a container that eight threads use up in a part of each period",
                "Eight connections ask a Java service, which signs something with each request, and \
                 its group may use 0.4 of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            container_limit,
        ),
        cause(
            [
                "java-endless-queue",
                "executor that starts no more threads since its queue has no end",
                "Sixteen connections ask a Java service, each request of which asks a service that \
                 takes 5 ms, and its executor of up to 50 threads stays at two, since more are \
                 started only when its queue is full.",
            ],
            Expect::one("limit.pool", Who::Target),
            endless_queue,
        ),
        cause(
            [
                "node-white-space",
                "event loop that a pattern for white space keeps busy",
                "Four connections ask a Node.js service for a post with 3,000 spaces in its middle, \
                 and the pattern that takes white space away at the end looks at all of them from \
                 each of them.",
            ],
            Expect {
                // The pattern is one function, which has nearly all of its time.
                or: &[("cpu.hot_code", Who::Target)],
                ..Expect::one("cpu.single_thread", Who::Thread)
            },
            white_space,
        ),
    ]
}

/// From kubernetes/kubernetes#67577 and kubernetes/kubernetes#51135: services with a CPU limit were throttled and slow, which
/// hundreds have met; no limit, or a higher one, was the remedy.
fn container_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = servers::signing(stage, [THREADS, ROUNDS])?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

/// From <https://stackoverflow.com/questions/19528304> (how to get the ThreadPoolExecutor to increase threads to max before
/// queueing) and <https://www.codemonkeylab.com/2014/06/14/threadpoolexecutor-gotcha-unbounded-queue/>: with a queue that has
/// no end there are never more than the first few threads, whatever the maximum is.
fn endless_queue(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let core = match cause {
        Cause::Made => CORE,
        Cause::Removed => MOST,
    };
    let (_, service) = downstream(stage, SERVICE_US)?;
    let (pid, port) = servers::queueing(stage, [&service, core])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "16"];
    // The service was started before it.
    unknown(stage, &words)?
        .with("--target", format!("pid:{pid}"))
        .ready()
}

/// From <https://stackstatus.tumblr.com/post/147710624694/outage-postmortem-july-20-2016>: Stack Overflow was down since the
/// pattern that trims white space took all CPU time on a post with 20,000 spaces in a row.
fn white_space(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let how = match cause {
        Cause::Made => "pattern",
        Cause::Removed => "trim",
    };
    let (pid, port) = servers::trimming(stage, [SPACES, how])?;
    // The event loop is the first thread of Node.js.
    stage.cast.insert(Who::Thread, format!("/tid:{pid}"));
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
