//! `run`: makes each situation, records it with `stallscope run`, and keeps outcome and report. A
//! repetition that has an outcome is not run again, so a long series can be interrupted.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use clap::Args;

use crate::disturbance::{Disturbance, Reading};
use crate::outcome::{self, Files, Outcome};
use crate::scenario::{Scenario, SetUp, Stage};
use crate::{binary, interrupt, requirement, scenarios};

/// Attempts at one repetition: a void run is made again at most twice.
const ATTEMPTS: usize = 3;

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArguments {
    /// Scenarios to run; all when none is named (see: list)
    name: Vec<String>,
    /// How often each is run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// The program under test [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// Folder for results
    #[arg(long, value_name = "FOLDER", default_value = "target/lab")]
    out: PathBuf,
    /// Forget earlier results of these scenarios
    #[arg(long)]
    fresh: bool,
}

/// Runs what was asked for. The status tells whether everything could be made, not whether the
/// verdicts were right: that is for `score`.
pub fn run(arguments: &RunArguments) -> Result<u8> {
    let chosen = scenarios::named(&arguments.name)?;
    let stallscope = binary::find(arguments.stallscope.as_deref())?;
    let out = &arguments.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    if arguments.fresh {
        forget(&chosen, out)?;
    }
    let mut skipped = false;
    // Repetitions outermost: what changes over the hours then meets every scenario alike.
    for repetition in 1..=arguments.repeat {
        for scenario in &chosen {
            let files = Files::of(out, scenario.name, repetition);
            let outcome = match files.load()? {
                Some(outcome) if outcome.not_here.is_none() => {
                    eprintln!("{} {repetition}: has a result already", scenario.name);
                    outcome
                }
                _ => repeat_while_void(scenario, repetition, &stallscope, &files)?,
            };
            skipped |= outcome.not_here.is_some();
        }
    }
    eprintln!(
        "Results are in {}. Next: stallscope-lab score",
        out.display()
    );
    Ok(u8::from(skipped && requirement::everything()))
}

fn forget(chosen: &[Scenario], out: &Path) -> Result<()> {
    for scenario in chosen {
        for repetition in outcome::repetitions(out, scenario.name)? {
            Files::of(out, scenario.name, repetition).remove()?;
        }
    }
    Ok(())
}

fn repeat_while_void(
    scenario: &Scenario,
    repetition: u32,
    stallscope: &Path,
    files: &Files,
) -> Result<Outcome> {
    let mut voided_before = Vec::new();
    loop {
        eprintln!("{} {repetition}: {}", scenario.name, scenario.about);
        files.remove()?;
        let mut outcome = Outcome::new(scenario.name, repetition);
        attempt(scenario, stallscope, files, &mut outcome)?;
        let void = outcome.void.clone();
        outcome.voided_before.clone_from(&voided_before);
        eprintln!("{} {repetition}: {}", scenario.name, in_words(&outcome));
        match void {
            Some(reason) if voided_before.len() + 1 < ATTEMPTS => voided_before.push(reason),
            _ => {
                files.save(&outcome)?;
                return Ok(outcome);
            }
        }
    }
}

fn attempt(
    scenario: &Scenario,
    stallscope: &Path,
    files: &Files,
    outcome: &mut Outcome,
) -> Result<()> {
    let mut stage = Stage::new()?;
    let load = match (scenario.set_up)(&mut stage)? {
        SetUp::Ready(load) => load,
        SetUp::NotHere(reason) => {
            outcome.not_here = Some(reason);
            return Ok(());
        }
    };
    outcome.limited_group.clone_from(&stage.limited_group);
    let mut command = Command::new(stallscope);
    command.args(["run", "-o"]).arg(files.recording());
    command
        .arg("--json")
        .arg(files.report())
        .arg("--")
        .args(load);
    stage.server.serve_command(&mut command);
    let log = File::create(files.log())
        .with_context(|| format!("cannot write {}", files.log().display()))?;
    let copy = log.try_clone().context("cannot duplicate a log file")?;
    command.stdin(Stdio::null()).stdout(log).stderr(copy);

    let before = Reading::take(stage.server.pid())?;
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", stallscope.display()))?;
    let status = interrupt::wait(&mut child)?;
    interrupt::check()?;
    let disturbance = Disturbance::between(before, Reading::take(stage.server.pid())?);
    outcome.status = status.code();
    outcome.void = disturbance.void_reason();
    outcome.disturbance = Some(disturbance);
    Ok(())
}

fn in_words(outcome: &Outcome) -> String {
    if let Some(reason) = &outcome.not_here {
        return format!("not possible here: {reason}");
    }
    let shares = outcome.disturbance.map_or_else(String::new, |disturbance| {
        format!(
            " (steal {:.1} %, outside CPU {:.1} %)",
            disturbance.steal * 100.0,
            disturbance.outside * 100.0
        )
    });
    match (&outcome.void, outcome.status) {
        (Some(reason), _) => format!("void, {reason}"),
        (None, Some(0)) => format!("recorded{shares}"),
        (None, Some(status)) => format!("stallscope ended with {status}{shares}"),
        (None, None) => format!("stallscope was killed{shares}"),
    }
}
