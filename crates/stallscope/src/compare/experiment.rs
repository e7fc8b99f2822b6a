//! `compare --run`: runs commands in turns, records each, and compares what they would have done alone.
//!
//! In each round every command runs once, in random order: what drifts on the machine is in none of the differences within
//! a round. It ends when the difference is known well enough, or when the time is over.

use std::time::Duration;

use analysis::compare::{Group, alone, signed};
use anyhow::{Result, bail};
use model::{Comparison, Difference, Experiment, VoidedRun};

use super::arms::{Arm, arms};
use super::design::Design;
use crate::arguments::{Compare, Experimenting};
use crate::outputs;
use crate::turns::{
    Folder, Interruption, Run, State, WantedRun, free_folder, make_run, measured_alone, order,
};

/// Before as many rounds their scatter is hardly known: an interval that happens to be narrow is believed from then on.
const LEAST_ROUNDS: usize = 5;
/// After so many runs that do not count, and none that does, more of the same command tell nothing.
const MOST_VOIDED: usize = 3;

/// What became of an experiment.
pub(super) enum Done {
    /// As compared.
    Compared(Box<Comparison>),
    /// An interrupt of this number ended it.
    Interrupted(i32),
}

/// Runs the experiment, from where an earlier one in the same folder stopped.
///
/// # Errors
/// One sentence: the folder is another experiment's or cannot be written, or no run of a command counts.
pub(super) fn experiment(arguments: &Compare) -> Result<Done> {
    let asked = &arguments.experiment;
    let arms = arms(&asked.run)?;
    let design = Design {
        commands: arms.iter().map(|it| it.shown.clone()).collect(),
        options: options(asked),
        precision: asked.precision.0,
    };
    let path = asked
        .folder
        .clone()
        .unwrap_or_else(|| free_folder("experiment"));
    let folder = Folder::open(&path)?;
    let state = State::begun(&folder, design)?;
    for arm in &arms {
        outputs::say(&format!("{}  {}", arm.letter, arm.shown));
    }
    let mut running = Running {
        groups: arms.iter().map(group).collect(),
        arms,
        folder,
        state,
        asked,
    };
    running.read_again()?;
    let interruption = Interruption::watch()?;
    while !running.is_done() {
        if let Some(signal) = running.round(&interruption)? {
            let shown = path.display();
            outputs::say(&format!(
                "stallscope: interrupted. The same command with --folder {shown} goes on"
            ));
            return Ok(Done::Interrupted(signal));
        }
    }
    drop(interruption);
    Ok(Done::Compared(Box::new(running.compared()?)))
}

fn group(arm: &Arm) -> Group {
    Group {
        name: arm.letter.to_string(),
        runs: Vec::new(),
    }
}

/// The options of each run, word by word.
fn options(asked: &Experimenting) -> Vec<String> {
    let named = [("--target", &asked.target), ("--metric", &asked.metric)];
    let each = named
        .into_iter()
        .flat_map(|(name, values)| values.iter().map(move |it| (name, it)));
    let adapter = asked.adapter.iter().map(|it| ("--workload", it));
    each.chain(adapter)
        .flat_map(|(name, value)| [name.to_owned(), value.clone()])
        .collect()
}

struct Running<'a> {
    arms: Vec<Arm>,
    folder: Folder,
    state: State<Design>,
    asked: &'a Experimenting,
    /// The runs that count, by command.
    groups: Vec<Group>,
}

impl Running<'_> {
    /// Measures the runs of an earlier time.
    fn read_again(&mut self) -> Result<()> {
        let counting = self.state.runs.iter().filter(|it| it.voided.is_none());
        let runs: Vec<Run> = counting.cloned().collect();
        if let Some(last) = runs.last() {
            let said = match runs.len() {
                1 => "1 run of before counts".to_owned(),
                many => format!("{many} runs of before count"),
            };
            outputs::say(&format!("{said}; going on after round {}", last.round));
        }
        for run in runs {
            let path = self.folder.path().join(&run.name);
            match measured_alone(&path, run.round) {
                Ok(measured) => self.groups[run.arm].runs.push(measured),
                Err(reason) => self.void(&run.name, reason)?,
            }
        }
        Ok(())
    }

    fn void(&mut self, name: &str, reason: String) -> Result<()> {
        outputs::say(&format!("{name} does not count: {reason}"));
        for run in self.state.runs.iter_mut().filter(|it| it.name == name) {
            run.voided = Some(reason.clone());
        }
        self.folder.save(&self.state)
    }

    /// Whether the difference is known well enough, or another round would take too long.
    fn is_done(&self) -> bool {
        let precise = self
            .half_width()
            .is_some_and(|it| it <= self.asked.precision.0);
        if precise && self.rounds() >= LEAST_ROUNDS {
            return true;
        }
        let spent = self.state.spent_s();
        let rounds = f64::from(self.state.next_round() - 1);
        let next = if rounds > 0.0 { spent / rounds } else { 0.0 };
        spent + next > self.asked.budget.as_secs_f64()
    }

    /// Rounds in which a run of each counts.
    fn rounds(&self) -> usize {
        let counts = |round: u32| {
            let runs = self.state.runs.iter();
            let of_round = runs.filter(|it| it.round == round && it.voided.is_none());
            of_round.count() == self.arms.len()
        };
        (1..self.state.next_round())
            .filter(|it| counts(*it))
            .count()
    }

    /// Half of the width of the widest interval; `None` where one has none.
    fn half_width(&self) -> Option<f64> {
        let half = |it: Option<Difference>| {
            let interval = it?.interval?;
            Some((interval.high - interval.low) / 2.0)
        };
        let each: Option<Vec<f64>> = alone(&self.groups).into_iter().map(half).collect();
        each?.into_iter().reduce(f64::max)
    }

    /// Runs every command once; an interrupt's number where one came.
    fn round(&mut self, interruption: &Interruption) -> Result<Option<i32>> {
        let round = self.state.next_round();
        for arm in order(self.state.seed, round, self.arms.len()) {
            self.one(arm, round, interruption)?;
            if let Some(signal) = interruption.signal() {
                return Ok(Some(signal));
            }
        }
        self.check()?;
        self.say_so_far(round);
        Ok(None)
    }

    /// One run of a command.
    fn one(&mut self, place: usize, round: u32, interruption: &Interruption) -> Result<()> {
        let arm = &self.arms[place];
        let left = self.asked.budget.as_secs_f64() - self.state.spent_s();
        let options = self.state.design.options.clone();
        let wanted = WantedRun {
            name: format!("{:03}-{}.stall", self.state.runs.len() + 1, arm.letter),
            arm: place,
            values: Vec::new(),
            round,
            argv: &arm.argv,
            before: &[],
            after: &[],
            options: &options,
            most: Duration::from_secs_f64(left.max(0.0)),
            judge: measured_alone,
        };
        let result = make_run(&self.folder, &mut self.state, &wanted, interruption)?;
        match &result {
            Ok(measured) => outputs::say(&format!(
                "round {round}, {}: {}",
                arm.letter,
                measured.in_short()
            )),
            Err(reason) => outputs::say(&format!(
                "round {round}, {} does not count: {reason}",
                arm.letter,
            )),
        }
        self.groups[place].runs.extend(result.ok());
        Ok(())
    }

    /// # Errors
    /// A command of which no run counts, after several.
    fn check(&self) -> Result<()> {
        for (place, arm) in self.arms.iter().enumerate() {
            let runs = || self.state.runs.iter().filter(|it| it.arm == place);
            let last = runs().next_back().and_then(|it| it.voided.as_ref());
            let (Some(reason), true) = (last, runs().all(|it| it.voided.is_some())) else {
                continue;
            };
            if runs().count() >= MOST_VOIDED {
                bail!(
                    "no run of {} counts ({}), at last because {reason}",
                    arm.letter,
                    arm.shown
                );
            }
        }
        Ok(())
    }

    fn say_so_far(&self, round: u32) {
        for (arm, difference) in self.arms.iter().skip(1).zip(alone(&self.groups)) {
            let known = difference.and_then(|it| Some((it.relative?, it.interval?)));
            if let Some((by, interval)) = known {
                outputs::say(&format!(
                    "after round {round}: {} alone {} against {} ({} to {})",
                    arm.letter,
                    signed(by),
                    self.arms[0].letter,
                    signed(interval.low),
                    signed(interval.high)
                ));
            }
        }
    }

    /// The comparison of the runs that count.
    fn compared(self) -> Result<Comparison> {
        let empty = self
            .arms
            .iter()
            .zip(&self.groups)
            .find(|(_, it)| it.runs.is_empty());
        if let Some((arm, _)) = empty {
            bail!(
                "no run of {} counts: {}. More time: --budget",
                arm.letter,
                arm.shown
            );
        }
        let voided = self.state.runs.iter().filter_map(|run| {
            Some(VoidedRun {
                name: run.name.clone(),
                group: self.arms[run.arm].letter.to_string(),
                reason: run.voided.clone()?,
            })
        });
        let experiment = Experiment {
            seed: self.state.seed,
            rounds: u32::try_from(self.rounds()).unwrap_or(u32::MAX),
            precision: self.asked.precision.0,
            reached: self.half_width(),
            spent_s: self.state.spent_s(),
            voided: voided.collect(),
        };
        let mut comparison = analysis::compare::compare(self.groups);
        for (group, arm) in comparison.groups.iter_mut().zip(&self.arms) {
            group.command = Some(arm.shown.clone());
        }
        comparison.experiment = Some(experiment);
        Ok(comparison)
    }
}
