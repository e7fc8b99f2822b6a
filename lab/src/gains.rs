//! `gains`: what a verdict predicts, beside what taking the cause away brings there and then.
//!
//! A prediction is about a machine as it is now, and no machine is the same on two days: a round is the recorded run,
//! the same load on the same server without the recorder, and the load without the cause, within a minute. Each
//! situation has a few rounds. What is measured is the load without the cause as a part of the load with it, both
//! without the recorder, so that the recorder's own cost is in neither.

mod comparison;
mod otherwise;
mod round;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::again::Judge;
use crate::binary::Program;
use crate::outcome::{Files, repetitions, write_json};
use crate::scenario::{Costs, Kind, Scenario, Set};
use crate::shard::Shard;
use crate::stage::Stage;
use crate::{interrupt, scenarios};
use comparison::{Compared, Run};
use round::{Measurer, Round};

/// Arguments of `gains`.
#[derive(Args)]
pub struct GainsArguments {
    /// Scenarios to measure; those of the sets when none is named (see: list)
    name: Vec<String>,
    /// Which sets of situations
    #[arg(
        long,
        value_name = "NAMES",
        value_enum,
        value_delimiter = ',',
        default_value = "tuned"
    )]
    set: Vec<Set>,
    /// Only a part of them: 2/4 is the second of four
    #[arg(long, value_name = "N/OF")]
    shard: Option<Shard>,
    /// How often each is measured
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Length of each load
    #[arg(long, value_name = "S", default_value_t = 8, value_parser = clap::value_parser!(u32).range(4..))]
    seconds: u32,
    /// Attempts at one round: a void one is made again
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    attempts: u32,
    /// Count rounds in which others used the machine, and mark them: for development
    #[arg(long)]
    keep_noisy: bool,
    /// Measure nothing: compare what the folder holds
    #[arg(long)]
    only_compare: bool,
    /// Compare what the program says of the recordings now, not what it said when they were made
    #[arg(long)]
    again: bool,
    /// The program under test [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// Folder for results
    #[arg(long, value_name = "FOLDER", default_value = "target/lab-gains")]
    out: PathBuf,
}

/// Measures what has no result yet, and prints and stores the comparison. The status is 0 when something could be
/// compared: whether it is good is for a person to say.
pub fn gains(arguments: &GainsArguments) -> Result<u8> {
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .with_context(|| format!("cannot make the folder {}", out.display()))?;
    let chosen = arguments.chosen()?;
    if !arguments.only_compare {
        measure(arguments, &chosen)?;
    }
    let again = match arguments.again {
        true => Some(Judge::new(arguments.stallscope.as_deref(), &[])?),
        false => None,
    };
    let mut all = Vec::new();
    for scenario in &chosen {
        all.push(compared(scenario, arguments, again.as_ref())?);
    }
    table::print(&all);
    write_json(&out.join("gains.json"), &all)?;
    Ok(u8::from(!all.iter().any(|it| it.gain().is_some())))
}

impl GainsArguments {
    /// The situations in which something could be gained.
    fn chosen(&self) -> Result<Vec<Scenario>> {
        let mut all = Vec::new();
        for set in &self.set {
            all.extend(scenarios::chosen(&self.name, *set)?);
            if !self.name.is_empty() {
                break;
            }
        }
        all.retain(|it| !matches!(it.kind, Kind::Healthy | Kind::Decoy));
        Ok(match self.shard {
            Some(shard) => shard.of(all),
            None => all,
        })
    }
}

/// Why a situation is not even measured.
fn not_measured(scenario: &Scenario) -> Option<&'static str> {
    match scenario.costs {
        Costs::NotAsked(why) => Some(why),
        _ => otherwise::why(scenario.name),
    }
}

fn measure(arguments: &GainsArguments, chosen: &[Scenario]) -> Result<()> {
    let program = Program::find(arguments.stallscope.as_deref())?;
    let mut stage = Stage::new()?;
    // Rounds outermost: what changes over the hours then meets every situation alike.
    for number in 1..=arguments.rounds {
        for scenario in chosen.iter().filter(|it| not_measured(it).is_none()) {
            interrupt::check()?;
            let files = Files::of(&arguments.out, scenario.name, number);
            if Round::load(&files)?.is_some() {
                continue;
            }
            let mut measurer = Measurer {
                program: &program,
                stage: &mut stage,
                seconds: arguments.seconds,
                attempts: arguments.attempts,
                keep_noisy: arguments.keep_noisy,
            };
            let round = measurer.round(scenario, number, &files)?;
            eprintln!("{} {number}: {round}", scenario.name);
        }
    }
    Ok(())
}

/// What came of the rounds of a situation.
fn compared(
    scenario: &Scenario,
    arguments: &GainsArguments,
    again: Option<&Judge>,
) -> Result<Compared> {
    let none = |why: &str| Compared::without(scenario, why);
    if let Some(why) = not_measured(scenario) {
        return Ok(none(why));
    }
    let room = tempfile::tempdir().context("cannot make a temporary folder")?;
    let mut runs = Vec::new();
    let mut why = "no round was measured".to_owned();
    for number in repetitions(&arguments.out, scenario.name)? {
        let files = Files::of(&arguments.out, scenario.name, number);
        match Round::load(&files)? {
            None => {}
            Some(Round::NotHere(reason)) => why = reason,
            Some(Round::Removal(removal)) => match &removal.noisy {
                Some(noise) if !arguments.keep_noisy => why = format!("void: {noise}"),
                _ => {
                    let beside = Files::of(room.path(), scenario.name, number);
                    runs.push(run(scenario, &files, &beside, again, removal)?);
                }
            },
        }
    }
    Ok(match runs.is_empty() {
        true => none(&why),
        false => Compared::of(scenario, runs),
    })
}

/// One round with its verdict; `beside` is where a verdict that is asked for again is put.
fn run(
    scenario: &Scenario,
    files: &Files,
    beside: &Files,
    again: Option<&Judge>,
    removal: round::Removed,
) -> Result<Run> {
    let recording: &Path = &files.recording();
    let answer = match again {
        Some(judge) => Some(judge.answer(recording, beside)?),
        None => files.load_report()?,
    };
    let outcome = files
        .load()?
        .context("a round has the outcome of its run")?;
    Ok(Run::of(scenario, &outcome, answer.as_ref(), removal))
}
