//! `starve`: the recorder's CPU is held by many others.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "starve",
    about: "Twenty hogs (eight in the short form) share one CPU with the recorder, which may or may not raise its priority: deadlines are kept or their breach is told, and it ends.",
    rounds: 30,
    short: 1,
    lack: || {
        let root = rustix::process::geteuid().is_root();
        (!root).then(|| "only root may take a right from a program".to_owned())
    },
    round,
};

/// Without these words it may raise its priority.
const WITHOUT_RIGHT: [&str; 3] = ["setpriv", "--bounding-set=-sys_nice", "--"];

fn round(round: &Round<'_>) -> Result<()> {
    // A program that is not optimised needs half a minute to begin on so little, so the short form leaves it
    // more. Of nice 0, nice 19 weighs 1/68, and nice 12 1/15.
    let (length, crowd, low) = match round.short {
        true => (3, "8", "12"),
        false => (10, "20", "19"),
    };
    let length = Duration::from_secs(length);
    let (hogs, right, nice) = match round.number % 3 {
        0 => (crowd, false, "0"),
        1 => (crowd, true, "0"),
        _ => ("1", false, low),
    };
    let cpu = "0";
    let mut stage = Stage::new()?;
    let burn = stage.own(&["burn", "--threads", hogs])?;
    let mut hog = Command::new("taskset");
    hog.args(["-c", cpu])
        .arg(burn.get_program())
        .args(burn.get_args());
    let (pid, _) = stage.beside_that_speaks(hog)?;
    let mut words = vec!["taskset", "-c", cpu, "nice", "-n", nice];
    if !right {
        words.extend(WITHOUT_RIGHT);
    }
    let mut command = recorder::wrapped(round, &words)?;
    command.args(claims::recording_of(pid, length));
    let recorder = Recorder::start(round, command)?;
    claims::sound(round, recorder)?;
    Ok(())
}
