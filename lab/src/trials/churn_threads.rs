//! `churn-threads`: a target whose threads and connections come and go.

use std::time::Duration;

use anyhow::{Result, bail};

use super::recorder::{self, Recorder};
use super::usage::{self, Monitored};
use super::{Round, Trial, claims};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "churn-threads",
    about: "Threads and connections of the target come and go several times a second: its CPU time is the one that the kernel accounts for it.",
    rounds: 20,
    short: 1,
    lack: usage::lack,
    round,
};

/// Threads of the target at a time.
const THREADS: u32 = 3;
/// CPU time that may be missed: what a thread does after it was last looked at, and what it had
/// done before it was first.
const MISSED: f64 = 0.05;

fn round(round: &Round<'_>) -> Result<()> {
    let length = Duration::from_secs(if round.short { 3 } else { 10 });
    let mut stage = Stage::new()?;
    let seed = round.number.to_string();
    let words = ["churn", "--threads", &THREADS.to_string(), "--seed", &seed];
    let churn = stage.own(&words)?;
    let (pid, _) = stage.beside_that_speaks(churn)?;
    let cpus = std::thread::available_parallelism()?
        .get()
        .min(THREADS as usize);
    let watched = Monitored::over(pid, cpus as f64)?;
    let mut command = recorder::command(round)?;
    command.args(claims::recording_of(pid, length));
    let recorder = Recorder::start(round, command)?;
    let report = claims::sound(round, recorder)?;
    let threads = claims::target(&report)?.threads.as_ref();
    if threads.is_none_or(|threads| threads.threads <= THREADS) {
        bail!("it saw no more threads than live at a time: {threads:?}");
    }
    watched.agrees(&report, MISSED)
}
