//! `churn-processes`: ten thousand processes that live for about a millisecond each.

use std::process::Command;

use anyhow::Result;

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims};

pub(super) static TRIAL: Trial = Trial {
    name: "churn-processes",
    about: "The workload starts 10,000 short processes: deadlines are kept or their breach is told, memory is bounded, it ends with the workload.",
    rounds: 5,
    short: 1,
    lack: || None,
    round,
};

fn round(round: &Round<'_>) -> Result<()> {
    let processes = if round.short { 1_500 } else { 10_000 };
    let script = format!(
        "i=0; while [ $i -lt {processes} ]; do /bin/true & i=$((i+1)); wait $!; done; echo $i"
    );
    let mut command: Command = recorder::command(round)?;
    command
        .args(["run", "-o", "trial.stall", "--json", "report.json", "--"])
        .args(["sh", "-c", &script]);
    let recorder = Recorder::start(round, command)?;
    claims::sound(round, recorder)?;
    Ok(())
}
