//! What recording does to a saturated load: one pgbench runs throughout, and beside it one recorder that is stopped
//! and goes on in turns. Each block in which it goes on is held against the two around it, so that what drifts is in
//! neither: on a shared machine that is more than what recording takes. Programs that stay at their hooks while their
//! recorder is stopped, as those that count requests do, are in both: `started` has what they take too.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use analysis::stats::hodges_lehmann;
use anyhow::{Context, Result, ensure};

use crate::held::Postgres;
use crate::recorder::Recorder;

/// Blocks that are recorded, with as many and one more between which are not.
const BLOCKS: usize = 150;
/// Seconds of a block.
const BLOCK_S: usize = 2;
/// What is traced whole at first is over after so many seconds, and so is what pgbench does first.
pub(crate) const SETTLE_S: usize = 5;
/// So long a recorder is watched for its off-windows.
const WATCHED: Duration = Duration::from_secs(5);
/// It is stopped in one, which comes within so long.
const LONGEST_SPELL: Duration = Duration::from_secs(30);
/// Between two attempts it has to get as far as to end an on-window.
const GOES_ON: Duration = Duration::from_millis(10);
/// And a pgbench that says nothing for so long.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

pub(crate) fn measure() -> Result<()> {
    let server = Postgres::start()?;
    let port = server.port().context("its port is known")?;
    let room = tempfile::tempdir()?;
    let load = Load::start(&server)?;
    let generator = load.generator();
    let targets = [format!("port:{port}"), format!("generator=pid:{generator}")];
    let folder = room.path().join("workload.stall");
    let recorder = Recorder::stallscope(&targets, &folder, &[])?;
    recorder.wait_for(&folder)?;
    load.seconds(SETTLE_S)?;
    let in_pause = least_links(&recorder)?;
    stop(&recorder, in_pause)?;
    load.seconds(1)?;
    let mut before = load.seconds(BLOCK_S)?;
    let mut differences = Vec::new();
    let mut without = Vec::new();
    for _ in 0..BLOCKS {
        recorder.resume()?;
        let with = load.seconds(BLOCK_S)?;
        stop(&recorder, in_pause)?;
        let after = load.seconds(BLOCK_S)?;
        differences.push((with / (before * after).sqrt()).ln());
        without.push(after);
        before = after;
    }
    recorder.resume()?;
    recorder.end()?;
    println!(
        "workload: {}, {BLOCKS} blocks of {BLOCK_S} s between as many without",
        compared(&differences, &without)?
    );
    Ok(())
}

/// What recording does, by logarithms of ratios of throughput, and the throughput without it.
pub(crate) fn compared(differences: &[f64], without: &[f64]) -> Result<String> {
    // On a shared machine a few blocks are far off, and a mean follows them.
    let difference = hodges_lehmann(differences).context("blocks were recorded")?;
    let rate = hodges_lehmann(without).context("blocks were not recorded")?;
    let percent = |logarithm: f64| logarithm.exp_m1() * 100.0;
    Ok(format!(
        "pgbench -S -c 10 -j 2, {:.0} tps: {:+.2} % throughput while recorded (95 %: {:+.2} to {:+.2} %)",
        rate.value,
        percent(difference.value),
        percent(difference.interval.low),
        percent(difference.interval.high)
    ))
}

/// How many programs a recorder has at hooks in its off-windows.
fn least_links(recorder: &Recorder) -> Result<usize> {
    let (mut least, mut most) = (usize::MAX, 0);
    let since = Instant::now();
    while since.elapsed() < WATCHED {
        let links = recorder.links()?;
        (least, most) = (least.min(links), most.max(links));
        std::thread::sleep(Duration::from_millis(5));
    }
    ensure!(
        least < most,
        "{most} programs are at their hooks throughout: this load is light enough here to be traced whole, and stopping a recorder takes no program off its hook"
    );
    Ok(least)
}

/// Stops it in an off-window: programs that are at hooks go on when their recorder does not.
fn stop(recorder: &Recorder, in_pause: usize) -> Result<()> {
    let since = Instant::now();
    loop {
        recorder.stop()?;
        if recorder.links()? <= in_pause {
            return Ok(());
        }
        recorder.resume()?;
        ensure!(since.elapsed() < LONGEST_SPELL, "an on-window does not end");
        std::thread::sleep(GOES_ON);
    }
}

/// A pgbench that says each second how many transactions it made.
pub(crate) struct Load {
    pgbench: Child,
    rates: Receiver<f64>,
}

impl Load {
    pub(crate) fn start(server: &Postgres) -> Result<Self> {
        let mut command = Command::new("pgbench");
        server.serve(&mut command);
        let hour = [
            "-S", "-n", "-c", "10", "-j", "2", "-P", "1", "-T", "3600", "bench",
        ];
        command
            .args(hour)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        kernel::signal_at_parents_end(&mut command, rustix::process::Signal::TERM);
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

    /// Its process.
    pub(crate) fn generator(&self) -> u32 {
        self.pgbench.id()
    }

    /// Transactions per second of the seconds that come next.
    pub(crate) fn seconds(&self, count: usize) -> Result<f64> {
        let mut sum = 0.0;
        for _ in 0..count {
            let rate = self.rates.recv_timeout(LONGEST_SILENCE);
            sum += rate.context("pgbench does not go on")?;
        }
        Ok(sum / count as f64)
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
