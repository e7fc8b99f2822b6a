//! Situations that look bad and cost nothing: each beside the same load, which asks for 500 reads
//! per second and gets them.

use anyhow::Result;

use super::loads::{pgbench, pgbench_script};
use crate::scenario::{Cause, Costs, Expect, Kind, SECONDS, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage, forget_cached};

/// The load of all healthy situations.
pub const ASKED: [&str; 7] = ["-c", "10", "-j", "2", "-S", "-R", "500"];
/// 0.2 of one CPU, in us per 100 ms.
const SMALL_QUOTA: u32 = 20_000;

/// All of them.
pub fn scenarios() -> [Scenario; 5] {
    [
        decoy(
            "neighbour-io",
            "disk busy by others",
            "Another process reads and writes the disk as fast as it can, while pgbench asks for \
             500 reads per second of a table in memory.",
            neighbour_io,
        ),
        decoy(
            "nice-batch",
            "CPUs full of batch work",
            "A batch of the lowest priority fills the CPUs, while pgbench asks for 500 reads per \
             second and is served first.",
            nice_batch,
        ),
        decoy(
            "cache-warm-up",
            "cold cache that warms up",
            "pgbench asks for 2,000 reads per second of 13 MB that are not in memory at first and \
             are after a few seconds.",
            cache_warm_up,
        ),
        decoy(
            "throttled-neighbour",
            "quota of another group",
            "Another group is held back by its CPU quota all the time, while pgbench asks for 500 \
             reads per second.",
            throttled_neighbour,
        ),
        decoy(
            "idle-ring",
            "idle io_uring loops",
            "Two event loops wait on an io_uring for connections that never come, while pgbench asks \
             for 500 reads per second.",
            idle_ring,
        ),
    ]
}

fn decoy(
    name: &'static str,
    mechanism: &'static str,
    about: &'static str,
    set_up: fn(&mut Stage, Cause) -> Result<SetUp>,
) -> Scenario {
    Scenario {
        name,
        about,
        set: Set::Tuned,
        mechanism,
        kind: Kind::Decoy,
        expect: Expect::one("healthy", Who::Target),
        seconds: SECONDS,
        costs: Costs::Little,
        set_up,
    }
}

fn neighbour_io(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    if cause == Cause::Made {
        let file = stage.folder().join("storage");
        let mut hammer = stage.own(&["storage", "--threads", "4", "--file"])?;
        hammer.arg(file);
        // Speaks once its file is there.
        stage.beside_that_speaks(hammer)?;
    }
    pgbench(stage, &ASKED).ready()
}

fn nice_batch(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    if cause == Cause::Made {
        let threads = std::thread::available_parallelism()?.to_string();
        let own = stage.own(&["burn", "--threads", &threads])?;
        let mut batch = std::process::Command::new("chrt");
        batch.args(["--idle", "0"]);
        batch.arg(own.get_program()).args(own.get_args());
        stage.beside_that_speaks(batch)?;
    }
    pgbench(stage, &ASKED).ready()
}

fn cache_warm_up(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    let data = stage.postgres(&[])?.data();
    if cause == Cause::Made {
        forget_cached(&data)?;
    }
    let script = "\\set aid random(1, 100000)\n\
                  SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
    pgbench_script(stage, &["-c", "10", "-j", "2", "-R", "2000"], script)?.ready()
}

fn idle_ring(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    if cause == Cause::Made {
        let ring = stage.own(&["ring"])?;
        stage.beside_that_speaks(ring)?;
    }
    pgbench(stage, &ASKED).ready()
}

fn throttled_neighbour(stage: &mut Stage, cause: Cause) -> Result<SetUp> {
    stage.postgres(&[])?;
    if cause == Cause::Made {
        let other = stage.beside(stage.own(&["burn", "--threads", "2"])?)?;
        let quota = Limit::CpuQuota(Some(SMALL_QUOTA));
        if let Err(error) = stage.confine("other", other, &[quota]) {
            return Ok(SetUp::NotHere(format!("{error:#}")));
        }
    }
    pgbench(stage, &ASKED).ready()
}
