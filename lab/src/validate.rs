//! `validate`: whether each situation is one. Its load runs without the cause, with it, without it
//! again: the cause must cost something, and taking it away must bring that back. A decoy must cost
//! nothing. Without `stallscope`, so that nothing but the situation is judged.

mod summary;

use std::fs::File;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::print::say;
use crate::scenario::{Cause, Costs, Scenario, SetUp};
use crate::stage::Stage;
use crate::step::Step;
use crate::{interrupt, requirement, scenarios};
use summary::Summary;

/// A cause that costs less is none.
const LEAST_COST: f64 = 0.2;
/// Of the reference this much must be there again without the cause.
const LEAST_REGAINED: f64 = 0.8;
/// A decoy that costs more is a cause.
const MOST_OF_A_DECOY: f64 = 0.1;

/// Arguments of `validate`.
#[derive(Args)]
pub struct ValidateArguments {
    /// Scenarios to validate; all but the held-out ones when none is named (see: list)
    name: Vec<String>,
    /// Validate the held-out workloads
    #[arg(long)]
    held_out: bool,
    /// How often the cause is made and taken away
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Length of each load
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    seconds: u32,
}

/// Validates and prints a table; the status is 1 when a situation is none.
pub fn validate(arguments: &ValidateArguments) -> Result<u8> {
    let chosen = scenarios::chosen(&arguments.name, arguments.held_out)?;
    let mut stage = Stage::new()?;
    let mut fine = true;
    say!("| scenario | before | with the cause | without it again | costs | regained | |");
    say!("|---|---|---|---|---|---|---|");
    for scenario in &chosen {
        if let Costs::NotAsked(why) = scenario.costs {
            say!("| {} | | | | | | not asked: {why} |", scenario.name);
            continue;
        }
        match series(scenario, arguments, &mut stage)? {
            Ok(series) => {
                let trial = Trial::of(&series, scenario.costs)?;
                say!("| {} | {} |", scenario.name, trial.cells());
                fine &= trial.holds();
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
    let load = match (scenario.set_up)(stage, cause)? {
        SetUp::Ready(load) => load,
        SetUp::NotHere(why) => return Ok(Err(why)),
    };
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
    let step = load.later.map(Step::start).transpose()?;
    interrupt::wait(&mut child)?;
    step.map_or(Ok(()), Step::end)?;
    interrupt::check()?;
    let text = std::fs::read_to_string(&printed).context("cannot read what the load printed")?;
    match Summary::parse(&text) {
        Some(summary) => Ok(Ok(summary)),
        None => bail!("{}: the load printed no result:\n{text}", scenario.name),
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

    /// As a part of what was there before: throughput, or the speed of one operation.
    fn part(&self, of: Summary) -> f64 {
        match self.costs {
            Costs::Latency => self.before.latency_ms / of.latency_ms,
            _ => of.throughput / self.before.throughput,
        }
    }

    fn cost(&self) -> f64 {
        1.0 - self.part(self.with)
    }

    fn regained(&self) -> f64 {
        self.part(self.again)
    }

    fn holds(&self) -> bool {
        self.regained() >= LEAST_REGAINED
            && match self.costs {
                Costs::Little => self.cost() <= MOST_OF_A_DECOY,
                _ => self.cost() >= LEAST_COST,
            }
    }

    fn cells(&self) -> String {
        let word = match (self.holds(), self.costs) {
            (true, Costs::Little) => "a decoy",
            (true, _) => "a situation",
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
    fn a_decoy_costs_little() {
        let series = [
            (100.0, 1.0),
            (96.0, 1.5),
            (100.0, 1.0),
            (96.0, 1.0),
            (99.0, 1.0),
        ];
        assert!(holds(Costs::Little, &series));
    }
}
