//! `run`: makes each situation, records it with `stallscope run`, and keeps outcome and report. A
//! repetition that has an outcome is not run again, so a long series can be interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::binary::Program;
use crate::by::By;
use crate::disturbance::{Disturbance, Reading};
use crate::outcome::{self, Files, Outcome};
use crate::running::{Running, prints_into};
use crate::scenario::{AROUND, Cause, Load, Recorded, Scenario, Set, SetUp};
use crate::shard::Shard;
use crate::stage::Stage;
use crate::step::Step;
use crate::who::Who;
use crate::witness::Witness;
use crate::{interrupt, requirement, scenarios};

/// Attempts at one repetition: a void run is made again at most twice.
const ATTEMPTS: u32 = 3;

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArguments {
    /// Scenarios to run; those of the set when none is named (see: list)
    name: Vec<String>,
    /// Which set of situations
    #[arg(long, value_name = "NAME", value_enum, default_value = "tuned")]
    set: Set,
    /// Only a part of them: 2/4 is the second of four
    #[arg(long, value_name = "N/OF")]
    shard: Option<Shard>,
    /// Attempts at one repetition: a void run is made again
    #[arg(long, value_name = "N", default_value_t = ATTEMPTS, value_parser = clap::value_parser!(u32).range(1..))]
    attempts: u32,
    /// How often each is run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// The program under test [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// Folder for results
    #[arg(long, value_name = "FOLDER", default_value = "target/lab")]
    out: PathBuf,
    /// What the program knows of the load; the results of a variant have a folder of their own
    #[arg(long, value_enum, default_value = "usual")]
    by: By,
    /// Forget earlier results of these scenarios
    #[arg(long)]
    fresh: bool,
}

/// Runs what was asked for. The status tells whether everything could be made, not whether the
/// verdicts were right: that is for `score`.
pub fn run(arguments: &RunArguments) -> Result<u8> {
    let mut chosen = scenarios::chosen(&arguments.name, arguments.set)?;
    if let Some(shard) = arguments.shard {
        chosen = shard.of(chosen);
    }
    let program = Program::find(arguments.stallscope.as_deref())?;
    let out = &arguments.by.folder(&arguments.out);
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    if arguments.fresh {
        forget(&chosen, out)?;
    }
    let mut stage = Stage::new()?;
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
                _ => {
                    let mut attempts = Attempts {
                        program: &program,
                        stage: &mut stage,
                        most: arguments.attempts,
                        by: arguments.by,
                    };
                    attempts.repeat_while_void(scenario, repetition, &files)?
                }
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

/// What attempts are made with.
struct Attempts<'a> {
    program: &'a Program,
    stage: &'a mut Stage,
    most: u32,
    by: By,
}

impl Attempts<'_> {
    fn repeat_while_void(
        &mut self,
        scenario: &Scenario,
        repetition: u32,
        files: &Files,
    ) -> Result<Outcome> {
        let mut voided_before = Vec::new();
        loop {
            eprintln!("{} {repetition}: {}", scenario.name, scenario.about);
            files.remove()?;
            let mut outcome = Outcome::new(scenario.name, repetition);
            let attempted = self.attempt(scenario, files, &mut outcome);
            let cleared = self.stage.clear();
            attempted.and(cleared)?;
            let void = outcome.void.clone();
            outcome.voided_before.clone_from(&voided_before);
            eprintln!("{} {repetition}: {}", scenario.name, in_words(&outcome));
            match void {
                Some(reason) if voided_before.len() + 1 < self.most as usize => {
                    voided_before.push(reason);
                }
                _ => {
                    files.save(&outcome)?;
                    return Ok(outcome);
                }
            }
        }
    }

    fn attempt(&mut self, scenario: &Scenario, files: &Files, outcome: &mut Outcome) -> Result<()> {
        let Some(mut load) = self.made(scenario, outcome)? else {
            return Ok(());
        };
        let recorder = Recorder {
            program: self.program,
            stage: self.stage,
        };
        recorder.record(&mut load, files, outcome)
    }

    /// Makes the situation, and the load as the variant has it; `None` where the outcome says why not.
    fn made(&mut self, scenario: &Scenario, outcome: &mut Outcome) -> Result<Option<Load>> {
        let longer = u32::try_from(self.by.longer()).context("some seconds")?;
        self.stage.seconds = scenario.seconds + longer;
        let set_up = (scenario.set_up)(self.stage, Cause::Made)?;
        self.stage.seconds = scenario.seconds;
        match set_up {
            SetUp::NotHere(reason) => outcome.not_here = Some(reason),
            SetUp::Ready(load) => match self.by.of(load, self.stage)? {
                Ok(load) => return Ok(Some(load)),
                Err(reason) => outcome.not_made = Some(reason),
            },
        }
        Ok(None)
    }
}

/// What a situation that is set up is recorded with.
pub struct Recorder<'a> {
    /// The program under test.
    pub program: &'a Program,
    /// Where the situation is.
    pub stage: &'a Stage,
}

impl Recorder<'_> {
    /// Records a load, and notes in `outcome` what came of it; what changes while it runs is made once.
    pub fn record(&self, load: &mut Load, files: &Files, outcome: &mut Outcome) -> Result<()> {
        outcome.cast.clone_from(&self.stage.cast);
        let mut command = self.command(load, files)?;
        let beside = self.load_beside(load, files)?;
        if let Some(Running(generator)) = &beside {
            // Nobody plays the generator's role where `stallscope` knows of none.
            let generator = format!("pid:{}@", generator.id());
            outcome.cast.insert(Who::Generator, generator);
        }
        let before = Reading::take()?;
        let witness = Witness::start()?;
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.path.display()))?;
        let step = load.later.take().map(Step::start).transpose()?;
        let status = interrupt::wait(&mut child)?;
        outcome.witnessed = witness.stop();
        step.map_or(Ok(()), Step::end)?;
        interrupt::check()?;
        let disturbance = Disturbance::between(before, Reading::take()?);
        drop(beside);
        outcome.status = status.code();
        outcome.void = disturbance.void_reason();
        outcome.disturbance = Some(disturbance);
        Ok(())
    }

    fn command(&self, load: &Load, files: &Files) -> Result<Command> {
        let mut command = Command::new(&self.program.path);
        command.arg(load.recorded.word());
        command.arg("-o").arg(files.recording());
        command.arg("--json").arg(files.report());
        for (option, value) in &load.options {
            if self.program.knows(load.recorded.word(), option)? {
                command.arg(option).args(value);
            } else {
                eprintln!("this stallscope has no {option}: run without it");
            }
        }
        match load.recorded {
            Recorded::Run => {
                command.arg("--").args(&load.command);
            }
            Recorded::Record => {
                let seconds = self.stage.seconds;
                command.args(["--for", &format!("{seconds}s")]);
            }
        }
        self.stage.serve_command(&mut command);
        prints_into(&mut command, &files.log())?;
        Ok(command)
    }

    /// Starts the load where `stallscope` will not. It was given more time than is recorded.
    fn load_beside(&self, load: &Load, files: &Files) -> Result<Option<Running>> {
        if load.recorded == Recorded::Run {
            return Ok(None);
        }
        let beside = Running::start(load.beside(self.stage)?, &files.load_log())?;
        std::thread::sleep(AROUND);
        Ok(Some(beside))
    }
}

fn in_words(outcome: &Outcome) -> String {
    if let Some(reason) = &outcome.not_here {
        return format!("not possible here: {reason}");
    }
    if let Some(reason) = &outcome.not_made {
        return format!("this variant cannot be made: {reason}");
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
