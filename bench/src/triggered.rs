//! What a trigger costs: `stallscope record --trigger` in turns with `stallscope record`, on the same load and at the same
//! detail. No trigger fires, so what is compared is the watching, and the segments of the ring.

use std::path::Path;
use std::time::Duration;

use analysis::stats::hodges_lehmann;
use anyhow::{Context, Result};

use crate::held::Crowd;
use crate::recorder::Recorder;

const GROUPS: usize = 200;
const PROCESSES: usize = 10;
/// Recordings of each kind.
const PAIRS: usize = 8;
/// Until everything is open, and twice the time by which the periods are judged.
const SETTLE: Duration = Duration::from_secs(8);
const OBSERVED: Duration = Duration::from_secs(20);
/// They are looked at with each reading; of these processes neither comes true.
const NEVER: [&str; 4] = [
    "--trigger",
    "spike",
    "--trigger",
    "pressure.memory.full>99% for 4s",
];

pub(crate) fn measure() -> Result<()> {
    let crowd = Crowd::gather(GROUPS)?;
    let room = tempfile::tempdir()?;
    let share = |name: &str, options: &[&str]| -> Result<f64> {
        share(&crowd, &room.path().join(name), options)
    };
    let (mut ratios, mut without) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let plain = format!("{pair}-plain.stall");
        let triggered = format!("{pair}-triggered");
        // What drifts is in neither: each comes first in every other pair.
        let (plain, triggered) = if pair % 2 == 0 {
            let first = share(&plain, &[])?;
            (first, share(&triggered, &NEVER)?)
        } else {
            let first = share(&triggered, &NEVER)?;
            (share(&plain, &[])?, first)
        };
        ratios.push((triggered / plain).ln());
        without.push(plain);
    }
    let ratio = hodges_lehmann(&ratios).context("there were pairs")?;
    let plain = hodges_lehmann(&without).context("there were pairs")?;
    println!(
        "triggered: record --trigger takes {:.3} times the CPU of record (95 %: {:.3} to {:.3}), which is {:.2} % of a CPU ({PAIRS} pairs of {} s, {GROUPS} groups, target {PROCESSES} processes)",
        ratio.value.exp(),
        ratio.interval.low.exp(),
        ratio.interval.high.exp(),
        plain.value * 100.0,
        OBSERVED.as_secs()
    );
    Ok(())
}

/// Share of a CPU that a recorder takes with these options.
fn share(crowd: &Crowd, folder: &Path, options: &[&str]) -> Result<f64> {
    let recorder = Recorder::stallscope(&crowd.targets(PROCESSES), folder, options)?;
    std::thread::sleep(SETTLE);
    let share = recorder.share(OBSERVED)?;
    recorder.end()?;
    Ok(share)
}
