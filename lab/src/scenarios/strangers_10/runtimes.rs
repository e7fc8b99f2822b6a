//! Servers in Python, Java and Node.js.

use anyhow::Result;

use super::first::{PYTHON as INTERPRETER, interpreted};
use super::programs::{JAVA, NODE, PYTHON, missing};
use super::{cause, first, second, servers, unknown};
use crate::scenario::{Cause, Expect, Scenario, SetUp, Who};
use crate::scenarios::held_out::here;
use crate::stage::{Limit, Stage, device_of};

/// What the requests read from, and the backup with it.
const FILE: usize = 256 << 20;
/// What the container may read in a second.
const BYTES: u32 = 80 << 20;
/// The backup reads one piece of so many bytes after the other.
const BACKUP: [&str; 2] = ["1048576", "1"];
/// Against the 1024 of the session in which server and load run.
const SHARES: u32 = 16_384;
/// The other instance: processes, us of CPU of a request, and connections of its own users.
const OTHERS: [&str; 2] = ["4", "20000"];
const OTHER_USERS: &str = "12";

/// Its situations.
pub fn scenarios() -> Vec<Scenario> {
    vec![
        cause(
            [
                "python-backup-in-container",
                "limited bytes of reads that a backup in the same group uses up",
                "Four connections with 2 ms to think ask a Python server, each request of which reads four blocks past \
                 the page cache, and its group may read 80 MB per second, which a backup in the same \
                 group takes for itself.",
            ],
            Expect::one("io.throttled", Who::LimitedGroup),
            backup_in_container,
        ),
        cause(
            [
                "java-fair-lock",
                "lock that is handed to who has waited longest each time",
                "Eight connections ask a Java service, each request of which counts 400 times under a \
                 lock that is fair, so that each time another thread must be woken up.",
            ],
            Expect {
                // Who waits for a lock of Java waits in its runtime.
                or: &[("lock.runtime", Who::Target)],
                ..Expect::one("lock.futex", Who::Target)
            },
            fair_lock,
        ),
        cause(
            [
                "node-other-tenant",
                "CPUs taken by another instance of the same program for its own users",
                "Two connections with 3 ms to think ask Node.js for 1.5 ms of CPU, and another \
                 instance of it, in a group of its own with a higher weight, serves its own users \
                 with four processes that are never idle.",
            ],
            Expect::one("cpu.neighbour", Who::NeighbourGroup),
            other_tenant,
        ),
    ]
}

fn backup_in_container(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[PYTHON]) {
        return Ok(SetUp::NotHere(why));
    }
    let file = second::large_file(stage, FILE)?;
    let (pid, port) = servers::reading_directly(stage, &file, "4")?;
    let device = device_of(stage.folder());
    let limit = device.map(|device| Limit::BytesReadPerSecond(device, BYTES));
    match limit.and_then(|limit| stage.confine("limited", pid, &[limit])) {
        Ok(group) => stage.cast.insert(Who::LimitedGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    if cause == Cause::Made {
        let program = ["backup.py", include_str!("../../../programs/backup.py")];
        let mut backup = interpreted(stage, INTERPRETER, program)?;
        backup.arg(file).args(BACKUP);
        let (backup, _) = stage.beside_that_speaks(backup)?;
        stage.join(pid, backup)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "4"];
    unknown(stage, &[&words[..], &["--think", "2000"]].concat())?.ready()
}

fn fair_lock(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[JAVA]) {
        return Ok(SetUp::NotHere(why));
    }
    let word = match cause {
        Cause::Made => "fair",
        Cause::Removed => "unfair",
    };
    let (_, port) = servers::fairly(stage, ["8", "400", word])?;
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "8"];
    unknown(stage, &words)?.ready()
}

fn other_tenant(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    if let Some(why) = missing(&[NODE]) {
        return Ok(SetUp::NotHere(why));
    }
    let (_, port) = first::node(stage, ["1500", "1000000000", "1500"])?;
    let (other, other_port) = second::node_cluster(stage, OTHERS)?;
    match stage.confine("tenant", other, &[Limit::CpuShares(SHARES)]) {
        Ok(group) => stage.cast.insert(Who::NeighbourGroup, group.path),
        Err(error) => return Ok(SetUp::NotHere(format!("{error:#}"))),
    };
    if cause == Cause::Made {
        let address = here(&other_port);
        let words = ["load", &address, "--http", "/", "--seconds", "600"];
        let words = [&words[..], &["--connections", OTHER_USERS]].concat();
        stage.beside(stage.own_as("users", &words)?)?;
    }
    let address = here(&port);
    let words = ["load", &address, "--http", "/", "--connections", "2"];
    unknown(stage, &[&words[..], &["--think", "3000"]].concat())?.ready()
}
