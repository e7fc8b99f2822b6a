//! What recording does to a saturated load: one pgbench runs throughout, and a recorder beside it comes and
//! goes. Each block with one is held against the two without that are around it, so that what drifts is in
//! neither.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::held::Postgres;
use crate::recorder::Recorder;

const BLOCKS: usize = 48;
/// Seconds of a block, and so many before it that are in none.
const BLOCK_S: usize = 3;
const SETTLE_S: usize = 2;
/// A recorder that records nothing for so long has failed.
const LONGEST_START: Duration = Duration::from_secs(30);
/// And a pgbench that says nothing for so long.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);
/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.960;

pub(crate) fn measure() -> Result<()> {
    let server = Postgres::start()?;
    let port = server.port().context("its port is known")?;
    let room = tempfile::tempdir()?;
    let load = Load::start(&server)?;
    let generator = load.pgbench.id();
    let targets = [format!("port:{port}"), format!("generator=pid:{generator}")];
    // The first one fills the caches.
    load.block()?;
    let mut before = load.block()?;
    let mut differences = Vec::new();
    for block in 0..BLOCKS {
        let folder = room.path().join(format!("{block}.stall"));
        let with = recorded(&load, &targets, &folder)?;
        let after = load.block()?;
        differences.push((with / (before * after).sqrt()).ln());
        before = after;
    }
    let [low, middle, high] = located(&differences).map(|logarithm| logarithm.exp_m1() * 100.0);
    println!(
        "workload: pgbench -S -c 10 -j 2, {before:.0} tps, {BLOCKS} blocks of {BLOCK_S} s between as many without: {middle:+.2} % throughput while recorded (95 %: {low:+.2} to {high:+.2} %)"
    );
    Ok(())
}

/// Where the middle of a sample is, between the ends of its interval of 95 %: the estimator of Hodges and Lehmann
/// and the interval that goes with Wilcoxon's signed ranks (Hollander, Wolfe and Chicken, Nonparametric Statistical
/// Methods, 3.2 and 3.3). On a shared machine a few blocks are far off, and a mean follows them.
fn located(sample: &[f64]) -> [f64; 3] {
    let mut means: Vec<f64> = Vec::new();
    for (place, one) in sample.iter().enumerate() {
        means.extend(sample[place..].iter().map(|other| (one + other) / 2.0));
    }
    means.sort_by(f64::total_cmp);
    let count = sample.len() as f64;
    let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0;
    let outside = (count * (count + 1.0) / 4.0 - Z * variance.sqrt()).max(0.0) as usize;
    let middle = (means[(means.len() - 1) / 2] + means[means.len() / 2]) / 2.0;
    [means[outside], middle, means[means.len() - 1 - outside]]
}

/// Transactions per second of one block while it is recorded.
fn recorded(load: &Load, targets: &[String], folder: &Path) -> Result<f64> {
    let recorder = Recorder::stallscope(targets, folder)?;
    // Programs are loaded before the first rows are there.
    let since = Instant::now();
    while !folder.join("cpu.arrow").exists() {
        ensure!(since.elapsed() < LONGEST_START, "nothing was recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
    let rate = load.block()?;
    recorder.end()?;
    Ok(rate)
}

/// A pgbench that says each second how many transactions it made.
struct Load {
    pgbench: Child,
    rates: Receiver<f64>,
}

impl Load {
    fn start(server: &Postgres) -> Result<Self> {
        let mut command = Command::new("pgbench");
        server.serve(&mut command);
        let hour = [
            "-S", "-n", "-c", "10", "-j", "2", "-P", "1", "-T", "3600", "bench",
        ];
        command
            .args(hour)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut pgbench = command.spawn().context("cannot start pgbench")?;
        let said = pgbench.stderr.take().context("its progress is a pipe")?;
        let (to, rates) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                if let Some(rate) = rate(&line) {
                    // Nobody listens any more.
                    let _ = to.send(rate);
                }
            }
        });
        Ok(Self { pgbench, rates })
    }

    /// Transactions per second of a block that begins now.
    fn block(&self) -> Result<f64> {
        // What was said up to now is of seconds before.
        while self.rates.try_recv().is_ok() {}
        let mut sum = 0.0;
        for second in 0..SETTLE_S + BLOCK_S {
            let rate = self.rates.recv_timeout(LONGEST_SILENCE);
            let rate = rate.context("pgbench does not go on")?;
            if second >= SETTLE_S {
                sum += rate;
            }
        }
        Ok(sum / BLOCK_S as f64)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.pgbench.kill();
        let _ = self.pgbench.wait();
    }
}

/// Of `progress: 5.0 s, 75000.1 tps, lat 0.133 ms stddev 0.020, 0 failed`.
fn rate(line: &str) -> Option<f64> {
    let rate = line.strip_prefix("progress: ")?.split(", ").nth(1)?;
    rate.strip_suffix(" tps")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_blocks_that_are_far_off_move_nothing() {
        let mut sample: Vec<f64> = (0..31).map(|it| f64::from(it - 15)).collect();
        let [low, middle, high] = located(&sample);
        assert_eq!(middle, 0.0);
        assert_eq!(low, -high);
        // Their mean is 0 with a standard error of 1.6.
        assert!((2.9..4.0).contains(&high), "{high}");
        sample.extend([-900.0, -1_000.0]);
        let [low, middle, high] = located(&sample);
        assert!((-2.0..0.0).contains(&middle), "{middle}");
        assert!(low > -6.0 && high > 1.0, "{low} to {high}");
    }
}
