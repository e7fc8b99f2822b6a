//! Servers in Java, Python, C, Go and Node.js.

use anyhow::{Context, Result};

use super::programs::{CC, GO, JAVA, NODE, PYTHON, missing};
use super::{cause, downstream, first, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage};

/// Connections of a pool, and how many of them are lost.
const POOL: &str = "8";
const LOST: &str = "6";
/// CPU time that everything in the namespace of a container gets who asked for none, in 100 ms, us.
const DEFAULT_QUOTA: u32 = 30_000;
/// Bytes of the table that each request reads.
const TABLE: usize = 32_000;
/// Processes of a service, threads of the team of each, and loops that it shares for a request.
const TEAMS: [&str; 3] = ["4", "2", "20"];
/// KiB of a buffer, and objects that stay in the heap.
const BUFFERS: [&str; 2] = ["1024", "4000000"];

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    let with_pool = cause(
        [
            "python-depleted-pool",
            "pool of connections that has lost most of them to calls that failed",
            "Eight connections ask a Python server, whose pool had eight connections to a service \
             behind it that takes 5 ms to answer, and has two, since six calls that failed have not \
             given theirs back.",
        ],
        Expect::one("limit.pool", Who::Target),
        depleted_pool,
    );
    let with_quota = cause(
        [
            "node-inherited-quota",
            "CPU quota that a container takes over from the namespace that it is in",
            "Four connections ask Node.js for 1.5 ms of CPU, in a group without a limit of its own, \
             below one that may use 0.3 of one CPU.",
        ],
        Expect::one("cpu.quota", Who::LimitedGroup),
        inherited_quota,
    );
    vec![
        with_direct_buffers(),
        with_pool,
        with_teams(),
        with_records(),
        with_quota,
    ]
}

fn with_direct_buffers() -> Scenario {
    cause(
        [
            "java-direct-buffers",
            "collections of the whole heap for buffers beside it, the room for which is used up",
            "Four connections ask a Java service, each answer of which is put together in a new buffer \
             of 1 MB outside of the heap, and whenever 64 MB are used up the library asks for a \
             collection of the whole heap, in which nothing else runs.",
        ],
        Expect::one("lock.runtime", Who::Target),
        direct_buffers,
    )
}

fn with_teams() -> Scenario {
    cause(
        [
            "c-spinning-teams",
            "teams of threads that wait for the next loop in a loop, more of them than CPUs",
            "Four connections, each with a process of a server in C, which computes by a team of two \
             threads (OpenMP), and who has nothing to do waits in a loop for when there is something.",
        ],
        Expect::one("lock.spin", Who::Target),
        spinning_teams,
    )
}

fn with_records() -> Scenario {
    cause(
        [
            "go-unbuffered-records",
            "CPU time of the kernel for each record of a file that is read without a buffer",
            "Four connections ask a Go service, each request of which reads 4,000 records of eight \
             bytes from a file, and asks the kernel for each of them.",
        ],
        Expect {
            // It is the kernel's work that they are full of.
            or: &[("cpu.saturated", Who::Target)],
            ..Expect::one("cpu.kernel", Who::Target)
        },
        unbuffered_records,
    )
}

/// After <https://github.com/netty/netty/issues/17150>: buffers outside of the heap piled up to their limit, and each time
/// the next one had the library call `System.gc()`.
fn direct_buffers(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "new",
        Cause::Removed => "kept",
    };
    let [kib, kept] = BUFFERS;
    let (_, port) = servers::with_direct_buffers(stage, [kib, kept, word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// After <https://github.com/psf/requests/issues/2629>: a pool had one connection less after each call that took too long,
/// until an application hung.
fn depleted_pool(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let lost = match cause {
        Cause::Made => LOST,
        Cause::Removed => "0",
    };
    let (_, service) = downstream(stage, 5_000)?;
    let (pid, port) = servers::with_pool(stage, [&service, POOL, lost])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    let load = unknown(stage, &words)?;
    // The service behind was started before it.
    load.with("--target", format!("pid:{pid}")).ready()
}

/// After <https://github.com/mlpack/mlpack/issues/1858>: most of the time of a program was OpenMP's waiting, until
/// `OMP_WAIT_POLICY` said that it should sleep.
fn spinning_teams(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[CC]) {
        return Ok(SetUp::NotHere(why));
    }
    let policy = match cause {
        Cause::Made => "active",
        Cause::Removed => "passive",
    };
    let (_, port) = servers::in_teams(stage, TEAMS, policy)?;
    let address = here(&port);
    unknown(stage, &["load", &address, "--connections", "4"])?.ready()
}

/// After <https://github.com/cilium/ebpf/pull/159>: tests took 20 s instead of less than one, since sections of a file were
/// read without a buffer, a system call for each piece.
fn unbuffered_records(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let table = stage.unprivileged_folder("table")?.join("records");
    std::fs::write(&table, vec![1; TABLE]).context("cannot write a table")?;
    let (_, port) = servers::of_records(stage, &table, cause == Cause::Removed)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}

/// After <https://github.com/devantler-tech/platform/pull/1727>: a server in Node.js had to wait in half of all periods, for
/// a limit that nobody had given it but the defaults of its namespace.
fn inherited_quota(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let (pid, port) = first::node(stage, ["1500", "1000000000", "1500"])?;
    let quota = (cause == Cause::Made).then_some(DEFAULT_QUOTA);
    match stage.confine("namespace", pid, &[Limit::CpuQuota(quota)]) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    stage.nest("container", pid)?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &words)?.ready()
}
