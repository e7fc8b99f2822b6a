//! The result of one run of one scenario, as a JSON file that `run` writes and `score` reads. The
//! report of `stallscope` lies beside it, unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use model::{Entity, GainOf, Interval, Report};
use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbance;
use crate::scenario::Who;
use crate::witness::Metrics;

/// What became of one repetition of a scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The scenario's name.
    pub scenario: String,
    /// Counted from 1.
    pub repetition: u32,
    /// Why the machine cannot be brought into the situation; the rest is then empty.
    pub not_here: Option<String>,
    /// Why this variant of the run cannot be made of the situation; the rest is then empty.
    #[serde(default)]
    pub not_made: Option<String>,
    /// Who is who, as reports name them: paths of groups, `pid:N@`, `/tid:N`.
    #[serde(default)]
    pub cast: BTreeMap<Who, String>,
    /// Exit status of `stallscope run`.
    pub status: Option<i32>,
    /// What the machine did meanwhile, seen without stallscope.
    #[serde(default)]
    pub witnessed: Metrics,
    /// How much of the machine was not the run's.
    pub disturbance: Option<Disturbance>,
    /// Why the run does not count.
    pub void: Option<String>,
    /// Why earlier attempts did not count: each was made again.
    pub voided_before: Vec<String>,
}

impl Outcome {
    /// An outcome of which nothing is known yet.
    pub fn new(scenario: &str, repetition: u32) -> Self {
        Self {
            scenario: scenario.to_owned(),
            repetition,
            not_here: None,
            not_made: None,
            cast: BTreeMap::new(),
            status: None,
            witnessed: Metrics::default(),
            disturbance: None,
            void: None,
            voided_before: Vec::new(),
        }
    }
}

/// What `stallscope` answered.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The report.
    pub report: Report,
    /// Of it, the verdict of each phase.
    pub steps: Steps,
}

/// A gain that a report predicts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// What is to be changed, in words.
    pub change: String,
    /// In what it is.
    pub of: GainOf,
    /// As a share of that: of a response time, by how much it falls.
    pub gain: f64,
    /// From its low to its high end.
    pub interval: Interval,
    /// By which model, in words.
    pub model: String,
}

impl Prediction {
    /// That of the headline's best remedy which has one.
    pub fn of(report: &Report) -> Option<Self> {
        let remedies = &report.verdict.findings.first()?.would_help;
        remedies.iter().find_map(|it| {
            Some(Self {
                change: it.change.clone(),
                of: it.gain_of.unwrap_or(GainOf::Throughput),
                gain: it.gain?,
                interval: it.gain_interval?,
                model: it.gain_model.clone(),
            })
        })
    }
}

/// The verdicts of phases in a report's JSON.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Steps {
    phases: Vec<Step>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
struct Step {
    #[serde(default)]
    verdict: Option<StepVerdict>,
}

/// The verdict of one phase.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct StepVerdict {
    /// The cause.
    pub cause: String,
    /// Whom it is about.
    pub entity: Entity,
}

impl Steps {
    /// The verdicts of phases that have one, in order; neighbours that say the same are one.
    pub fn verdicts(&self) -> Vec<&StepVerdict> {
        let verdicts = self
            .phases
            .iter()
            .filter_map(|phase| phase.verdict.as_ref());
        let mut verdicts: Vec<_> = verdicts.collect();
        verdicts.dedup();
        verdicts
    }
}

/// The files of one repetition of a scenario.
pub struct Files {
    folder: PathBuf,
    stem: String,
}

impl Files {
    /// Those in `folder`.
    pub fn of(folder: &Path, scenario: &str, repetition: u32) -> Self {
        Self {
            folder: folder.to_path_buf(),
            stem: format!("{scenario}-{repetition}"),
        }
    }

    /// The outcome.
    pub fn outcome(&self) -> PathBuf {
        self.named("json")
    }

    /// The report of `stallscope`.
    pub fn report(&self) -> PathBuf {
        self.named("report.json")
    }

    /// What `stallscope` and the load printed.
    pub fn log(&self) -> PathBuf {
        self.named("log")
    }

    /// What a load printed that `stallscope` did not start.
    pub fn load_log(&self) -> PathBuf {
        self.named("load.log")
    }

    /// The recording.
    pub fn recording(&self) -> PathBuf {
        self.named("stall")
    }

    /// What was measured beside it, by `gains`.
    pub fn round(&self) -> PathBuf {
        self.named("round.json")
    }

    /// Removes them all, where they are.
    pub fn remove(&self) -> Result<()> {
        let files = [
            self.outcome(),
            self.report(),
            self.log(),
            self.load_log(),
            self.round(),
        ]
        .map(|file| (fs::remove_file(&file), file));
        let recording = self.recording();
        let all = files
            .into_iter()
            .chain([(fs::remove_dir_all(&recording), recording)]);
        for (removed, path) in all {
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {}", path.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the outcome: whole or not at all, since a run that finds it does not run again.
    pub fn save(&self, outcome: &Outcome) -> Result<()> {
        write_json(&self.outcome(), outcome)
    }

    /// The outcome of an earlier run, if there is one.
    pub fn load(&self) -> Result<Option<Outcome>> {
        read_json(&self.outcome())
    }

    /// The report, if there is one.
    pub fn load_report(&self) -> Result<Option<Answer>> {
        let report = read_json(&self.report())?;
        let steps = read_json(&self.report())?;
        Ok(report
            .zip(steps)
            .map(|(report, steps)| Answer { report, steps }))
    }

    fn named(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.stem))
    }
}

/// The repetitions of a scenario of which a folder holds any file, in order.
pub fn repetitions(folder: &Path, scenario: &str) -> Result<Vec<u32>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot list {}", folder.display()));
        }
    };
    let repetition = |name: &str| {
        let rest = name.strip_prefix(scenario)?.strip_prefix('-')?;
        rest.split('.').next()?.parse().ok()
    };
    let mut found: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| repetition(entry.file_name().to_str()?))
        .collect();
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Writes a JSON file: whole or not at all.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let text = serde_json::to_string_pretty(value).context("a result becomes JSON")?;
    let half = path.with_extension("new");
    fs::write(&half, text)
        .and_then(|()| fs::rename(&half, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// What a JSON file holds; `None` when there is no such file.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let value = serde_json::from_slice(&text).with_context(|| {
        format!(
            "{} is not what this version writes: remove it to have it made again",
            path.display()
        )
    })?;
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = Files::of(folder.path(), "cpu-quota", 3);
        assert_eq!(files.load().expect("nothing there"), None);
        let mut outcome = Outcome::new("cpu-quota", 3);
        outcome.cast.insert(Who::LimitedGroup, "/x".to_owned());
        files.save(&outcome).expect("written");
        assert_eq!(files.load().expect("readable"), Some(outcome));
        fs::create_dir(files.recording()).expect("a folder");
        assert_eq!(repetitions(folder.path(), "cpu-quota").expect("there"), [3]);
        assert!(repetitions(folder.path(), "cpu").expect("there").is_empty());
        files.remove().expect("removed");
        files.remove().expect("nothing left to remove");
        assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 0);
    }

    #[test]
    fn a_damaged_file_is_said_with_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let files = Files::of(folder.path(), "a", 1);
        fs::write(files.outcome(), "{").expect("written");
        assert!(format!("{:#}", files.load().unwrap_err()).contains("a-1.json"));
    }
}
