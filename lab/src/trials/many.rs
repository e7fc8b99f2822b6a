//! `many`: two recorders look at the same target at once.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

use super::recorder::{self, Recorder};
use super::usage::{self, Monitored};
use super::{Round, Trial, claims};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "many",
    about: "Two recorders look at the same target at once: both say what the kernel accounts for it.",
    rounds: 10,
    short: 1,
    lack: usage::lack,
    round,
};

fn round(round: &Round<'_>) -> Result<()> {
    let length = Duration::from_secs(if round.short { 3 } else { 10 });
    let mut stage = Stage::new()?;
    let burn = stage.own(&["burn", "--threads", "1"])?;
    let (pid, _) = stage.beside_that_speaks(burn)?;
    let watched = Monitored::over(pid, 1.0)?;
    let folders = ["one", "other"].map(|name| round.folder.join(name));
    let mut recorders = Vec::new();
    for folder in &folders {
        fs::create_dir(folder).context("cannot make a folder")?;
        let own = Round { folder, ..*round };
        let mut command = recorder::command(&own)?;
        command.args(claims::recording_of(pid, length));
        recorders.push(Recorder::start(&own, command)?);
    }
    for (recorder, folder) in recorders.into_iter().zip(&folders) {
        let own = Round { folder, ..*round };
        let report = claims::sound(&own, recorder)?;
        watched.agrees(&report, 0.02)?;
    }
    Ok(())
}
