//! What recording does to a saturated load: pgbench with and without, in turns, in pairs of which now
//! the one and now the other comes first.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::held::Postgres;
use crate::recorder::Recorder;

const PAIRS: usize = 16;
const BLOCK_S: &str = "4";
/// A recorder that records nothing for so long has failed.
const LONGEST_START: Duration = Duration::from_secs(30);
/// Student's t for 95 % and 15 degrees of freedom (NIST/SEMATECH e-Handbook, 1.3.6.7.2).
const T: f64 = 2.131;

pub(crate) fn measure() -> Result<()> {
    let server = Postgres::start()?;
    let port = server.port().context("its port is known")?;
    let targets = [format!("port:{port}")];
    let room = tempfile::tempdir()?;
    // The first one fills the caches.
    block(&server)?;
    let mut differences = Vec::new();
    for pair in 0..PAIRS {
        let folder = room.path().join(format!("{pair}.stall"));
        let (with, without) = if pair % 2 == 0 {
            let with = recorded(&server, &targets, &folder)?;
            (with, block(&server)?)
        } else {
            let without = block(&server)?;
            (recorded(&server, &targets, &folder)?, without)
        };
        differences.push((with / without).ln());
    }
    let count = PAIRS as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares = differences.iter().map(|value| (value - mean).powi(2));
    let spread = (squares.sum::<f64>() / (count - 1.0)).sqrt();
    let half = T * spread / count.sqrt();
    let percent = |logarithm: f64| logarithm.exp_m1() * 100.0;
    println!(
        "workload: pgbench -S -c 10 -j 2, {PAIRS} pairs of {BLOCK_S} s: {:+.2} % throughput while recorded (95 %: {:+.2} to {:+.2} %)",
        percent(mean),
        percent(mean - half),
        percent(mean + half)
    );
    Ok(())
}

/// Transactions per second of one block while it is recorded.
fn recorded(server: &Postgres, targets: &[String], folder: &Path) -> Result<f64> {
    let recorder = Recorder::stallscope(targets, folder)?;
    // Programs are loaded before the first rows are there.
    let since = Instant::now();
    while !folder.join("cpu.arrow").exists() {
        ensure!(since.elapsed() < LONGEST_START, "nothing was recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(1));
    let rate = block(server)?;
    recorder.end()?;
    Ok(rate)
}

fn block(server: &Postgres) -> Result<f64> {
    let mut pgbench = Command::new("pgbench");
    server.serve(&mut pgbench);
    pgbench.args(["-S", "-n", "-c", "10", "-j", "2", "-T", BLOCK_S, "bench"]);
    let output = pgbench.output().context("cannot start pgbench")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = rate.and_then(|rate| rate.split(' ').next()?.parse().ok());
    rate.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}
