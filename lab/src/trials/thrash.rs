//! `thrash`: the memory of target and recorder is limited to less than they use.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims};
use crate::groups::{Group, Hierarchies};
use crate::stage::{Stage, forget_cached};

pub(super) static TRIAL: Trial = Trial {
    name: "thrash",
    about: "Target and recorder share a memory limit that the target's files exceed threefold: deadlines are kept or their breach is told, and it ends.",
    rounds: 20,
    short: 1,
    lack,
    round,
};

/// Shared by both. What the recorder cannot give back, up to 60 MB of a build without optimisation while it explains,
/// stays below it: it is to be slowed down here, not killed.
const LIMIT: u64 = 96 << 20;
/// Read again and again by the target.
const FILE: u64 = 3 * LIMIT;

fn lack() -> Option<String> {
    let found = Hierarchies::find().map(|found| found.v1.contains_key("memory"));
    let root = rustix::process::geteuid().is_root();
    match found {
        Ok(true) if root => None,
        Ok(true) => Some("only root may make control groups".to_owned()),
        Ok(false) => Some("the v1 controller of memory is not mounted".to_owned()),
        Err(error) => Some(format!("{error:#}")),
    }
}

fn round(round: &Round<'_>) -> Result<()> {
    let length = Duration::from_secs(if round.short { 3 } else { 10 });
    let found = Hierarchies::find()?;
    let memory = found.v1.get("memory").context("it was there")?;
    let group = Group::create(memory, "thrash")?;
    group.set("memory.limit_in_bytes", &LIMIT.to_string())?;
    let inside = group.file("cgroup.procs").display().to_string();
    let enter = ["sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", &inside];

    let mut stage = Stage::new()?;
    fill(&stage.folder().join("files"))?;
    let mut reader = Command::new(enter[0]);
    let script = "echo reading; while :; do cat files/* > /dev/null; done";
    reader.args(&enter[1..]).args(["sh", "-c", script]);
    let (pid, _) = stage.beside_that_speaks(reader)?;
    let mut command = recorder::wrapped(round, &enter)?;
    command.args(claims::recording_of(pid, length));
    let recorder = Recorder::start(round, command)?;
    claims::sound(round, recorder)?;
    Ok(())
}

fn fill(folder: &Path) -> Result<()> {
    fs::create_dir(folder).context("cannot make a folder")?;
    let mut file = File::create(folder.join("file")).context("cannot make a file")?;
    let piece = vec![7; 1 << 20];
    for _ in 0..FILE >> 20 {
        file.write_all(&piece).context("cannot fill a file")?;
    }
    // What was written here belongs to another group until it is read again.
    file.sync_all().context("cannot write a file")?;
    forget_cached(folder)
}
