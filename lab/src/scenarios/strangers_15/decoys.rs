//! What looks bad and costs nothing: the same load alone is as fast, in its mean and in its tail.

use std::process::Command;

use anyhow::Result;

use super::programs::{GO, NODE, PYTHON, REDIS, missing};
use super::{cause, first, seventh, unknown};
use crate::scenario::{Cause, Costs, Expect, Kind, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::scenarios::loads::pgbench_script;
use crate::stage::{Limit, Stage};

/// What a load of pgbench asks for, with 4 ms to think.
const READ: &str = "\\set id random(1, 1000000)\n\\sleep 4 ms\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :id;\n";
/// Memory of a container, with what its server shares, and a file that has been read in it.
const MEMORY: u64 = 2 << 30;
const DUMP: u64 = 3 << 30;
/// Processes that have ended.
const ENDED: &str = "300";
/// What is started again each time that it has failed.
const CRASHING: &str =
    "while true; do /usr/bin/python3 -S -c 'raise SystemExit(1)'; sleep 0.5; done";
/// 0.05 of a CPU for a sidecar that would use all of one, and next to no weight, as one has that has requested nothing.
const SIDECAR: [Limit; 2] = [Limit::CpuQuota(Some(5_000)), Limit::CpuShares(2)];

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
                "postgres-full-container",
                "memory of a container that is all used, nearly all of it for files that can be dropped",
                "The container of PostgreSQL is at its memory limit, since a dump of 3 GB has been read in it \
                 once, while two pgbench clients with 4 ms to think read rows that are in memory.",
            ],
            full_container,
        ),
        decoy(
            [
                "node-zombies",
                "processes that have ended and that nobody has waited for",
                "Three hundred processes beside a Node.js service have ended and nobody has waited for them, \
                 while two connections with 4 ms to think ask it for a small answer.",
            ],
            zombies,
        ),
        decoy(
            [
                "redis-crash-loop-beside",
                "program of somebody else's that fails and is started again and again",
                "A program of another service fails as soon as it is started, twice per second, while two \
                 connections with 4 ms to think ask Redis for a key.",
            ],
            crash_loop_beside,
        ),
        decoy(
            [
                "go-throttled-sidecar",
                "CPU quota of somebody else that is always used up",
                "A sidecar beside a Go service is throttled in each period, and no request needs it, while \
                 two connections with 4 ms to think ask the service for a small answer.",
            ],
            throttled_sidecar,
        ),
    ]
}

/// From <https://www.linuxatemyram.com/>, where everybody is sent who asks why there is next to no free memory, and
/// kubernetes/kubernetes#43916, which counts such pages as used: the kernel keeps files in memory, and gives it back at once.
fn full_container(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let pid = stage.postgres(&["shared_buffers=1GB"])?.pid();
    if let Err(error) = stage.confine("container", pid, &[Limit::Memory(MEMORY)]) {
        return Ok(SetUp::NotHere(format!("{error:#}")));
    }
    let dump = stage.folder().join("dump");
    std::fs::File::create(&dump)?.set_len(DUMP)?;
    let server = stage.started()?;
    if cause == Cause::Made {
        // A child of the server reads it, whose pages are the container's.
        let read = format!("dd if={} of=/dev/null bs=1M status=none", dump.display());
        server.execute("DROP TABLE IF EXISTS lab_lines")?;
        server.execute("CREATE TABLE lab_lines (line TEXT)")?;
        server.execute(&format!("COPY lab_lines FROM PROGRAM '{read}'"))?;
    }
    server.execute("SELECT sum(abalance) FROM pgbench_accounts")?;
    server
        .execute("SET enable_seqscan = off; SELECT count(*) FROM pgbench_accounts WHERE aid > 0")?;
    pgbench_script(stage, &["-c", "2", "-j", "1"], READ)?.ready()
}

/// From <https://blog.phusion.nl/2015/01/20/docker-and-the-pid-1-zombie-reaping-problem/> and
/// <https://maysweb.cloud/tools/tipsntricks/linux/fix-high-load-linux/>, as in every checklist of a slow server: a container
/// whose first process waits for nobody fills with zombies, and whoever sees them takes them for the reason.
fn zombies(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::node(stage, ["0", "1000000000", "0"])?;
    if cause == Cause::Made {
        let program = ["zombies.py", include_str!("../../../programs/zombies.py")];
        seventh::staying(stage, program, &[ENDED])?;
    }
    thinking(stage, &port, &["--http", "/"])
}

/// From <https://runbooks.nanocosmos.cloud/alerts/alerts-k8s-exporter/apps/kubepodcrashlooping>, an alert of every cluster: a pod
/// fails and is started again and again, which is bad for its own users and nothing to those of others.
fn crash_loop_beside(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[REDIS, PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let folder = stage.unprivileged_folder("redis")?;
    let (_, port) = first::redis(stage, &[], &folder, &[])?;
    if cause == Cause::Made {
        let mut crashing = Command::new("sh");
        crashing.args(["-c", CRASHING]);
        stage.beside(crashing)?;
    }
    let get = ["--text", "GET key\r\n", "--ends", "\r\n"];
    thinking(stage, &port, &get)
}

/// From kubernetes-monitoring/kubernetes-mixin#108: the alert `CPUThrottlingHigh` goes off for sidecars and exporters with a
/// small limit all the time, and nobody has ever noticed anything else of it.
fn throttled_sidecar(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[GO]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::go(stage, ["0", "0"])?;
    if cause == Cause::Made {
        let sidecar = stage.beside(stage.own(&["burn", "--threads", "1"])?)?;
        if let Err(error) = stage.confine("sidecar", sidecar, &SIDECAR) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    thinking(stage, &port, &["--http", "/"])
}

/// Two connections with 4 ms to think that ask for this.
fn thinking(stage: &Stage, port: &str, words: &[&str]) -> Result<SetUp> {
    let address = here(port);
    let first = ["load", &address, "--connections", "2", "--think", "4000"];
    unknown(stage, &[&first[..], words].concat())?.ready()
}
