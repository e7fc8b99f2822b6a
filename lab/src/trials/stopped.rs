//! `stopped`: the recorder stands still for a while, as on a suspended laptop or in a frozen group.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use model::GapReason;
use signal_hook::consts::{SIGCONT, SIGINT, SIGSTOP};

use super::recorder::{self, Recorder};
use super::usage::{self, Monitored, now};
use super::{Round, Trial, claims};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "stopped",
    about: "The recorder is stopped (SIGSTOP) for some seconds and continued: the stretch is named as a gap, and counters are right across it.",
    rounds: 20,
    short: 1,
    lack: usage::lack,
    round,
};

fn round(round: &Round<'_>) -> Result<()> {
    let mut random = Rng::with_seed(round.number.into());
    let longest = if round.short { 1_500 } else { 8_000 };
    let mut stage = Stage::new()?;
    let burn = stage.own(&["burn", "--threads", "1"])?;
    let (pid, _) = stage.beside_that_speaks(burn)?;
    let watched = Monitored::over(pid, 1.0)?;
    let mut command = recorder::command(round)?;
    command.args(claims::recording_of(pid, Duration::from_secs(600)));
    let mut recorder = Recorder::start(round, command)?;
    recorder.records(&round.folder.join(claims::RECORDING))?;
    recorder.stays(Duration::from_millis(random.u64(100..1_100)))?;
    recorder.signal(SIGSTOP);
    // Until it really stands still, it reads on.
    recorder.stands_still()?;
    let stopped = now();
    recorder.stays(Duration::from_millis(random.u64(1_000..longest)))?;
    let continued = now();
    recorder.signal(SIGCONT);
    recorder.has(Duration::from_millis(500))?;
    recorder.signal(SIGINT);
    let report = claims::sound(round, recorder)?;
    watched.agrees(&report, 0.02)?;
    let gaps = report.gaps.iter();
    let overruns = gaps.filter(|gap| gap.reason == GapReason::Overrun);
    let mut windows = overruns.filter_map(|gap| gap.window);
    // The first deadline that passed is up to a period behind the stop.
    let covers = |window: &model::Window| {
        window.start.ns_since(stopped) < 150_000_000 && window.end >= continued
    };
    windows.find(covers).with_context(|| {
        format!(
            "no gap covers {stopped:?} to {continued:?}: {:?}",
            report.gaps
        )
    })?;
    if !report
        .verdict
        .caveats
        .iter()
        .any(|caveat| caveat.gate == "gate.gaps")
    {
        bail!("the verdict does not doubt a recording with a gap");
    }
    Ok(())
}
