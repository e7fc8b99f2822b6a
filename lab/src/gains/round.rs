//! One round: the recorded run, its load without the recorder, and the load without the cause.

use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::binary::Program;
use crate::disturbance::{Disturbance, Reading};
use crate::outcome::{Files, Outcome, read_json, write_json};
use crate::runs::Recorder;
use crate::scenario::{Cause, Load, Scenario, SetUp};
use crate::stage::Stage;
use crate::validate::{Summary, measure};

/// Situations whose first load changes what a second one finds: what was read is in memory, the leak has leaked, the
/// disk has been given room. Their server is started anew for each load.
const ONCE: [&str; 4] = [
    "io-slow-reads",
    "memory-thrash",
    "out-of-memory",
    "full-disk",
];

/// What came of a round.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Round {
    /// The machine cannot be brought into the situation, and why.
    NotHere(String),
    /// The loads with the cause and without it.
    Removal(Removed),
}

/// Two loads in one round, both without the recorder.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Removed {
    /// With the cause.
    pub with: Summary,
    /// Without it.
    pub without: Summary,
    /// What others took of the machine, where that is too much.
    pub noisy: Option<String>,
}

impl Round {
    /// What an earlier run wrote, if it did.
    pub fn load(files: &Files) -> Result<Option<Self>> {
        read_json(&files.round())
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Round::NotHere(why) => write!(f, "not possible here: {why}"),
            Round::Removal(it) => {
                write!(f, "with the cause {}, without it {}", it.with, it.without)?;
                let noisy = it.noisy.as_ref();
                noisy.map_or(Ok(()), |why| write!(f, "; noisy, {why}"))
            }
        }
    }
}

/// What rounds are measured with.
pub struct Measurer<'a> {
    /// The program under test.
    pub program: &'a Program,
    /// Where situations are made.
    pub stage: &'a mut Stage,
    /// Length of each load, s.
    pub seconds: u32,
    /// How often a noisy round is tried.
    pub attempts: u32,
    /// Whether a noisy round is good enough.
    pub keep_noisy: bool,
}

impl Measurer<'_> {
    /// One round, written beside its recording; made again while others took too much of the machine.
    pub fn round(&mut self, scenario: &Scenario, number: u32, files: &Files) -> Result<Round> {
        for attempt in 1.. {
            files.remove()?;
            let before = Reading::take()?;
            let mut outcome = Outcome::new(scenario.name, number);
            let loads = self.loads(scenario, number, files, &mut outcome);
            let cleared = self.stage.clear();
            let loads = loads?;
            cleared?;
            let noisy = Disturbance::between(before, Reading::take()?).void_reason();
            let noisy = noisy.or_else(|| outcome.void.clone());
            if noisy.is_some() && !self.keep_noisy && attempt < self.attempts {
                continue;
            }
            let round = match loads {
                Ok([with, without]) => Round::Removal(Removed {
                    with,
                    without,
                    noisy,
                }),
                Err(why) => Round::NotHere(why),
            };
            files.save(&outcome)?;
            write_json(&files.round(), &round)?;
            return Ok(round);
        }
        unreachable!("the last attempt counts")
    }

    /// The loads with the cause and without it, every second time in the other order, so that what changes slowly
    /// favours neither; the inner result says why that cannot be.
    fn loads(
        &mut self,
        scenario: &Scenario,
        number: u32,
        files: &Files,
        outcome: &mut Outcome,
    ) -> Result<Result<[Summary; 2], String>> {
        let is_first = number.is_multiple_of(2);
        let early = match is_first {
            true => Some(self.without(scenario)?),
            false => None,
        };
        let with = match self.with(scenario, files, outcome)? {
            Ok(with) => with,
            Err(why) => return Ok(Err(why)),
        };
        let without = match early {
            Some(early) => early,
            None => self.without(scenario)?,
        };
        Ok(without.map(|without| [with, without]))
    }

    /// The load without the cause.
    fn without(&mut self, scenario: &Scenario) -> Result<Result<Summary, String>> {
        self.with_load(scenario, Cause::Removed, |load, stage| {
            measure(scenario.name, load, stage)
        })
    }

    /// The recorded run, and its load once more without the recorder.
    fn with(
        &mut self,
        scenario: &Scenario,
        files: &Files,
        outcome: &mut Outcome,
    ) -> Result<Result<Summary, String>> {
        let program = self.program;
        let mut record = |load: &mut Load, stage: &Stage| -> Result<()> {
            Recorder { program, stage }.record(load, files, outcome)
        };
        let alone = |load: &mut Load, stage: &Stage| measure(scenario.name, load, stage);
        if !ONCE.contains(&scenario.name) {
            return self.with_load(scenario, Cause::Made, |load, stage| {
                record(load, stage)?;
                alone(load, stage)
            });
        }
        if let Err(why) = self.with_load(scenario, Cause::Made, record)? {
            return Ok(Err(why));
        }
        self.with_load(scenario, Cause::Made, alone)
    }

    /// Makes a situation, does something with its load, and takes everything away again.
    fn with_load<T>(
        &mut self,
        scenario: &Scenario,
        cause: Cause,
        work: impl FnOnce(&mut Load, &Stage) -> Result<T>,
    ) -> Result<Result<T, String>> {
        self.stage.seconds = self.seconds;
        let done = match (scenario.set_up)(self.stage, cause)? {
            SetUp::Ready(mut load) => Ok(work(&mut load, self.stage)?),
            SetUp::NotHere(why) => Err(why),
        };
        self.stage
            .clear()
            .context("cannot take the situation away")?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios;

    #[test]
    fn what_is_set_up_anew_is_a_situation() {
        let all = scenarios::all();
        let missing = ONCE
            .iter()
            .find(|name| !all.iter().any(|it| it.name == **name));
        assert_eq!(missing, None);
    }

    #[test]
    fn a_turn_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = Files::of(folder.path(), "a", 1);
        assert_eq!(Round::load(&files).expect("nothing there"), None);
        let round = Round::NotHere("no second CPU".to_owned());
        write_json(&files.round(), &round).expect("written");
        assert_eq!(Round::load(&files).expect("readable"), Some(round));
    }
}
