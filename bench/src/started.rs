//! What recording does to a saturated load from beginning to end: one pgbench runs throughout, and beside it recorders
//! that are started and ended in turns. Programs that stay at their hooks for as long as a recorder runs are in one of
//! the two here; `workload` tells smaller differences apart, and has those in both.

use std::time::{Duration, Instant};

use analysis::stats::hodges_lehmann;
use anyhow::{Context, Result, ensure};

use crate::held::Postgres;
use crate::recorder::Recorder;
use crate::workload::{LONGEST_START, Load, SETTLE_S};

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
        let since = Instant::now();
        while !folder.join("cpu.arrow").exists() {
            ensure!(since.elapsed() < LONGEST_START, "nothing was recorded");
            std::thread::sleep(Duration::from_millis(50));
        }
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
    let difference = hodges_lehmann(&differences).context("rounds were run")?;
    let rate = hodges_lehmann(&without).context("rounds were run")?;
    let share = hodges_lehmann(&shares).context("rounds were run")?;
    let percent = |logarithm: f64| logarithm.exp_m1() * 100.0;
    println!(
        "started: pgbench -S -c 10 -j 2, {:.0} tps, {ROUNDS} recorders, {BLOCK_S} s of each against as many before and after: {:+.2} % throughput while recorded (95 %: {:+.2} to {:+.2} %); the recorder itself {:.2} % of a CPU",
        rate.value,
        percent(difference.value),
        percent(difference.interval.low),
        percent(difference.interval.high),
        share.value * 100.0
    );
    Ok(())
}
