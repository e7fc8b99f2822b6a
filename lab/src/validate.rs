//! `validate`: whether each situation is one. Its load runs without the cause, with it, without it
//! again: the cause must cost something, and taking it away must bring that back. A decoy must cost
//! nothing. Without `stallscope`, so that nothing but the situation is judged.

mod summary;

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::print::say;
use crate::removal::Removal;
use crate::scenario::{Cause, Costs, Load, Scenario, Set, SetUp};
use crate::shard::Shard;
use crate::stage::Stage;
use crate::step::Step;
use crate::{interrupt, requirement, scenarios};
pub use summary::Summary;

/// A cause that costs less is none.
const LEAST_COST: f64 = 0.2;
/// Of the reference this much must be there again without the cause.
const LEAST_REGAINED: f64 = 0.8;

/// Arguments of `validate`.
#[derive(Args)]
pub struct ValidateArguments {
    /// Scenarios to validate; those of the set when none is named (see: list)
    name: Vec<String>,
    /// Which set of situations
    #[arg(long, value_name = "NAME", value_enum, default_value = "tuned")]
    set: Set,
    /// Only a part of them: 2/4 is the second of four
    #[arg(long, value_name = "N/OF")]
    shard: Option<Shard>,
    /// How often the cause is made and taken away
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Length of each load
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    seconds: u32,
    /// Folder for what each removal changed: `score` does not count a decoy that costs something
    #[arg(long, value_name = "FOLDER", default_value = "target/lab")]
    out: PathBuf,
    /// Leave out those of which the folder knows that already
    #[arg(long)]
    only_missing: bool,
}

/// Validates and prints a table; the status is 1 when a situation is none.
pub fn validate(arguments: &ValidateArguments) -> Result<u8> {
    let mut chosen = scenarios::chosen(&arguments.name, arguments.set)?;
    if let Some(shard) = arguments.shard {
        chosen = shard.of(chosen);
    }
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .with_context(|| format!("cannot make the folder {}", out.display()))?;
    let mut stage = Stage::new()?;
    let mut fine = true;
    say!("| scenario | before | with the cause | without it again | costs | regained | |");
    say!("|---|---|---|---|---|---|---|");
    for scenario in &chosen {
        if arguments.only_missing && Removal::load(out, scenario.name)?.is_some() {
            continue;
        }
        if let Costs::NotAsked(why) = scenario.costs {
            say!("| {} | | | | | | not asked: {why} |", scenario.name);
            continue;
        }
        match series(scenario, arguments, &mut stage)? {
            Ok(series) => {
                let trial = Trial::of(&series, scenario.costs)?;
                say!("| {} | {} |", scenario.name, trial.cells());
                fine &= trial.holds();
                trial.removal().save(out, scenario.name)?;
            }
            Err(why) => {
                say!("| {} | | | | | | not here: {why} |", scenario.name);
                fine &= !requirement::everything();
            }
        }
    }
    Ok(u8::from(!fine))
}

/// Without, with, without, ...: the inner result says why this machine cannot be brought into it.
fn series(
    scenario: &Scenario,
    arguments: &ValidateArguments,
    stage: &mut Stage,
) -> Result<Result<Vec<Summary>, String>> {
    let mut series = Vec::new();
    for number in 0..=2 * arguments.pairs {
        let cause = if number.is_multiple_of(2) {
            Cause::Removed
        } else {
            Cause::Made
        };
        stage.seconds = arguments.seconds;
        let made = once(scenario, cause, stage);
        let cleared = stage.clear();
        match made? {
            Ok(summary) => series.push(summary),
            Err(why) => return Ok(Err(why)),
        }
        cleared?;
    }
    Ok(Ok(series))
}

fn once(scenario: &Scenario, cause: Cause, stage: &mut Stage) -> Result<Result<Summary, String>> {
    match (scenario.set_up)(stage, cause)? {
        SetUp::Ready(mut load) => measure(scenario.name, &mut load, stage).map(Ok),
        SetUp::NotHere(why) => Ok(Err(why)),
    }
}

/// Runs the load of a situation that is set up, and reads what it says at its end.
pub fn measure(name: &str, load: &mut Load, stage: &Stage) -> Result<Summary> {
    let printed = stage.folder().join("printed");
    let file = File::create(&printed).context("cannot write what the load prints")?;
    let errors = file.try_clone().context("cannot duplicate a file")?;
    let program = load.command.first().context("a load is a command")?;
    let mut command = Command::new(program);
    command.args(&load.command[1..]);
    stage.serve_command(&mut command);
    command.stdin(Stdio::null()).stdout(file).stderr(errors);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let step = load.later.take().map(Step::start).transpose()?;
    interrupt::wait(&mut child)?;
    step.map_or(Ok(()), Step::end)?;
    interrupt::check()?;
    let text = std::fs::read_to_string(&printed).context("cannot read what the load printed")?;
    match Summary::parse(&text) {
        Some(summary) if summary.throughput > 0.0 => Ok(summary),
        Some(_) => bail!("{name}: nothing was done:\n{text}"),
        None => bail!("{name}: the load printed no result:\n{text}"),
    }
}

/// What a series came to.
struct Trial {
    before: Summary,
    with: Summary,
    again: Summary,
    costs: Costs,
}

impl Trial {
    fn of(series: &[Summary], costs: Costs) -> Result<Self> {
        let every_second = |skip| Summary::mean(series.iter().skip(skip).step_by(2));
        Ok(Self {
            before: *series.first().context("a series is not empty")?,
            with: every_second(1).context("a series has a pair")?,
            again: every_second(2).context("a series has a pair")?,
            costs,
        })
    }

    /// As a part of what was there before: throughput, or the speed of one operation. A decoy is
    /// judged by speed too: a load that asks for little gets that however slow each operation is.
    fn part(&self, of: Summary) -> f64 {
        match self.costs {
            Costs::Latency | Costs::Little => self.before.latency_ms / of.latency_ms,
            _ => of.throughput / self.before.throughput,
        }
    }

    fn removal(&self) -> Removal {
        let without = [self.before, self.again];
        Removal {
            with: self.with,
            without: Summary::mean(without.iter()).unwrap_or(self.before),
        }
    }

    fn cost(&self) -> f64 {
        1.0 - self.part(self.with)
    }

    fn regained(&self) -> f64 {
        self.part(self.again)
    }

    /// Whether anything came through with the cause: a load whose connections all failed costs everything, and shows
    /// nothing.
    fn is_alive(&self) -> bool {
        /// Operations per second.
        const LEAST: f64 = 1.0;
        self.with.throughput >= LEAST
    }

    fn holds(&self) -> bool {
        match self.costs {
            _ if !self.is_alive() => false,
            Costs::Little => self.removal().is_harmless(),
            _ => self.cost() >= LEAST_COST && self.regained() >= LEAST_REGAINED,
        }
    }

    fn cells(&self) -> String {
        let word = match (self.holds(), self.costs) {
            (true, Costs::Little) => "a decoy",
            (true, _) => "a situation",
            (false, _) if !self.is_alive() => "**nothing came through**",
            (false, _) => "**neither here nor there**",
        };
        format!(
            "{} | {} | {} | {:.0} % | {:.0} % | {word}",
            self.before,
            self.with,
            self.again,
            self.cost() * 100.0,
            self.regained() * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(throughput: f64, latency_ms: f64) -> Summary {
        Summary {
            throughput,
            latency_ms,
            p99_ms: None,
        }
    }

    fn holds(costs: Costs, series: &[(f64, f64)]) -> bool {
        let series: Vec<Summary> = series.iter().map(|(t, l)| summary(*t, *l)).collect();
        Trial::of(&series, costs).expect("a pair").holds()
    }

    #[test]
    fn a_cause_costs_and_gives_back() {
        let good = [(100.0, 1.0), (50.0, 2.0), (95.0, 1.0)];
        assert!(holds(Costs::Throughput, &good));
        assert!(holds(Costs::Latency, &good));
        assert!(!holds(Costs::Little, &good));
        assert!(!holds(
            Costs::Throughput,
            &[(100.0, 1.0), (90.0, 1.0), (100.0, 1.0)]
        ));
        assert!(!holds(
            Costs::Throughput,
            &[(100.0, 1.0), (50.0, 1.0), (70.0, 1.0)]
        ));
    }

    #[test]
    fn a_load_of_which_nothing_comes_through_is_no_situation() {
        let dead = [(100.0, 1.0), (0.2, 50.0), (100.0, 1.0)];
        assert!(!holds(Costs::Throughput, &dead));
    }

    #[test]
    fn a_decoy_costs_little_of_the_speed_whatever_the_rate() {
        let series = |latency_ms| {
            [
                (100.0, 1.0),
                (100.0, latency_ms),
                (100.0, 1.0),
                (100.0, 1.0),
                (100.0, 1.0),
            ]
        };
        assert!(holds(Costs::Little, &series(1.1)));
        assert!(!holds(Costs::Little, &series(1.5)));
    }
}
