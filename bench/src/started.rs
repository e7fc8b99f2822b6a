//! What recording does to a saturated load from beginning to end: one pgbench runs throughout, and beside it recorders
//! that are started and ended in turns. Programs that stay at their hooks for as long as a recorder runs are in one of
//! the two here; `workload` tells smaller differences apart, and has those in both.

use analysis::stats::hodges_lehmann;
use anyhow::{Context, Result};

use crate::held::Postgres;
use crate::recorder::Recorder;
use crate::workload::{Load, SETTLE_S, compared};

/// Recorders, with as many blocks and one more beside none.
const ROUNDS: usize = 24;
/// Seconds of a block.
const BLOCK_S: usize = 5;

pub(crate) fn measure() -> Result<()> {
    let server = Postgres::start()?;
    let port = server.port().context("its port is known")?;
    let load = Load::start(&server)?;
    let targets = [
        format!("port:{port}"),
        format!("generator=pid:{}", load.generator()),
    ];
    load.seconds(SETTLE_S)?;
    let mut before = load.seconds(BLOCK_S)?;
    let (mut differences, mut without, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let room = tempfile::tempdir()?;
        let folder = room.path().join("started.stall");
        let recorder = Recorder::stallscope(&targets, &folder, &["--no-report"])?;
        recorder.wait_for(&folder)?;
        load.seconds(SETTLE_S)?;
        let cpu_ns = recorder.cpu_ns()?;
        let with = load.seconds(BLOCK_S)?;
        shares.push((recorder.cpu_ns()? - cpu_ns) as f64 / (BLOCK_S as f64 * 1e9));
        recorder.end()?;
        // What it writes at its end is over.
        load.seconds(1)?;
        let after = load.seconds(BLOCK_S)?;
        differences.push((with / (before * after).sqrt()).ln());
        without.push(after);
        before = after;
    }
    let share = hodges_lehmann(&shares).context("rounds were run")?;
    println!(
        "started: {}, {ROUNDS} recorders, {BLOCK_S} s of each against as many before and after; the recorder itself {:.2} % of a CPU",
        compared(&differences, &without)?,
        share.value * 100.0
    );
    Ok(())
}
