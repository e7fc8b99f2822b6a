//! Servers in Python and Java.

use anyhow::Result;

use super::programs::{JAVA, PYTHON, missing};
use super::{cause, first, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// 0.25 of one CPU, in us per 100 ms.
const QUOTA: u32 = 25_000;
/// Threads that answer: as few as somebody thought enough, and as many as there are connections.
const THREADS: [&str; 2] = ["2", "16"];
/// KiB of garbage of a request, and KiB that stay in the heap.
const GARBAGE: &str = "64";
const STAYS: &str = "228000";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "python-container-limit",
                "CPU quota",
                "Four connections ask a Python service for 2 ms of CPU, and its container may use a \
                 quarter of one CPU.",
            ],
            Expect::one("cpu.quota", Who::LimitedGroup),
            container_limit,
        ),
        cause(
            [
                "java-few-threads",
                "pool full while its workers wait",
                "Sixteen connections ask a Java web server, whose requests wait for 5 ms and which has \
                 two threads for all of them.",
            ],
            Expect::one("limit.pool", Who::Target),
            few_threads,
        ),
        cause(
            [
                "java-small-heap",
                "heap that has next to no room beside what stays in it",
                "Eight connections ask a Java service, whose heap is full of what it keeps up to some MB, \
                 so that all of the heap is collected each time that its requests have used these.",
            ],
            Expect::one("lock.runtime", Who::Target),
            small_heap,
        ),
    ]
}

/// From <https://krun.pro/python-in-kubernetes/>: services in Python with a CPU limit are stopped for most of each 100 ms, though
/// the node has CPUs to spare; kubernetes/kubernetes#67577 is about the same.
fn container_limit(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = first::python(stage, &["--workers", "4", "--compute-us", "2000"])?;
    let quota = (cause == Cause::Made).then_some(QUOTA);
    match stage.confine("limited", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// From <http://serverfault.com/questions/403974> ("All threads (150) are currently busy, waiting. Increase maxThreads") and
/// <https://www.fixwikihub.com/articles/java-tomcat-thread-pool-maxthreads-reached-fix>: requests wait for one of Tomcat's
/// threads, each of which waits for something slow.
fn few_threads(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let threads = match cause {
        Cause::Made => THREADS[0],
        Cause::Removed => THREADS[1],
    };
    let (_, port) = first::java(stage, &[], [threads, "0", "5000", "0", "0"])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "16"];
    unknown(stage, &words)?.ready()
}

/// From <https://poonamparhar.github.io/frequent_full_gc/>: the heap is hardly larger than what lives in it, and a full
/// collection follows on the other; small containers have the collector of one thread.
fn small_heap(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let heap = match cause {
        Cause::Made => "-Xmx256m",
        Cause::Removed => "-Xmx1g",
    };
    let options = ["-XX:+UseSerialGC", heap];
    let (_, port) = first::java(stage, &options, ["8", "0", "0", GARBAGE, STAYS])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}
