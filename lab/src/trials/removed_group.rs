//! `removed-group`: the target's control group goes away while it is read, or its pressure is turned
//! off and on again.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::{Report, Resource, StallKind, Window};
use signal_hook::consts::SIGINT;

use super::recorder::{self, Recorder};
use super::{Round, Trial, claims, usage};
use crate::groups::{Group, Hierarchies};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "removed-group",
    about: "The target's control group is removed while it is read, or its pressure is turned off for a while: a gap is named, and nothing that is missing is zero.",
    rounds: 20,
    short: 2,
    lack: || {
        let v2 = Hierarchies::find().is_ok_and(|found| found.v2.is_some());
        usage::lack().or_else(|| (!v2).then(|| "the unified hierarchy is not mounted".to_owned()))
    },
    round,
};

/// The kernel's own fold of pressure: it is read once in this time.
const FOLD: Duration = Duration::from_secs(2);

fn round(round: &Round<'_>) -> Result<()> {
    let found = Hierarchies::find()?;
    let v2 = found.v2.as_ref().context("it was there")?;
    let group = Group::create(v2, "going")?;
    // Among hundreds of others, which are walked over less often, in every second pair of rounds.
    let crowd = if round.number % 4 < 2 { 0 } else { 400 };
    let _others: Vec<Group> = (0..crowd)
        .map(|number| Group::create(v2, &format!("other-{number}")))
        .collect::<Result<_>>()?;
    let mut stage = Stage::new()?;
    // More threads than CPUs, so that its pressure cannot be zero.
    let burn = stage.own(&["burn", "--threads", "8"])?;
    let (pid, _) = stage.beside_that_speaks(burn)?;
    group.take(pid)?;
    let mut command = recorder::command(round)?;
    command.args(claims::recording_of(pid, Duration::from_secs(600)));
    let mut recorder = Recorder::start(round, command)?;
    recorder.records(&round.folder.join(claims::RECORDING))?;
    recorder.has(FOLD + Duration::from_millis(500))?;
    let off_and_on = round.number % 2 == 1;
    if !off_and_on {
        fs::write(v2.origin().join("cgroup.procs"), pid.to_string())
            .context("cannot move a process")?;
        fs::remove_dir(group.folder()).context("cannot remove the group")?;
        recorder.has(FOLD)?;
    } else {
        if !group.file("cgroup.pressure").exists() {
            // Before Linux 6.1.
            return Ok(());
        }
        // Read in vain at 4 s; groups are looked for anew at 5 s.
        group.set("cgroup.pressure", "0")?;
        recorder.has(Duration::from_millis(1_900))?;
        group.set("cgroup.pressure", "1")?;
        recorder.has(Duration::from_millis(2_000))?;
    }
    recorder.signal(SIGINT);
    let report = claims::sound(round, recorder)?;
    let gap = gap_over(&report)?;
    if off_and_on && gap.end.ns_since(report.window.end) > -500_000_000 {
        bail!("pressure was not read again: {:?}", report.gaps);
    }
    pressure_is_not_zero(
        &report,
        group
            .folder()
            .file_name()
            .unwrap_or_default()
            .as_encoded_bytes(),
    )
}

/// The gap of a group.
fn gap_over(report: &Report) -> Result<Window> {
    let mut of_groups = report
        .gaps
        .iter()
        .filter(|gap| gap.table.starts_with("cgroup_"));
    let gap = of_groups.find_map(|gap| gap.window);
    gap.with_context(|| format!("no gap says that a group was not seen: {:?}", report.gaps))
}

/// Pressure of the target's group is left out or what it was while it was seen.
fn pressure_is_not_zero(report: &Report, group: &[u8]) -> Result<()> {
    let group = String::from_utf8_lossy(group);
    let mut cpu = report.pressure.iter().filter(|pressure| {
        pressure.entity.path.contains(&*group)
            && (pressure.resource, pressure.kind) == (Resource::Cpu, StallKind::Some)
    });
    match cpu.find(|pressure| pressure.share < 0.2) {
        Some(pressure) => bail!(
            "eight threads on these CPUs, and pressure is {}",
            pressure.share
        ),
        None => Ok(()),
    }
}
