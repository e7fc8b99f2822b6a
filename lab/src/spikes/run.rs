//! Makes a situation, records it, and keeps when its events really were. That truth is written by whoever makes the
//! events, and `stallscope` never sees it.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::rhythm::{self, Moment, Recurring};
use super::situation::{By, Made, NOTED, SCHEDULE, Situation, Timing, Variant};
use super::{crowd, truth};
use crate::disturbance::{Disturbance, Reading};
use crate::interrupt;
use crate::outcome::read_json;
use crate::running::Running;
use crate::stage::Stage;

/// Of a cycle's time, in parts of the period.
const JITTER: f64 = 0.05;
const MISSED: f64 = 0.2;
/// The load settles for so long before anything else begins.
const SETTLE: Duration = Duration::from_secs(3);
/// Events begin so long after their schedule is written, and go on for so long after the recording, s.
const BEGIN: Duration = Duration::from_millis(1_500);
const AFTER: f64 = 8.0;
/// How long starting and ending the recording may take beside its own time, s.
const LONGER: u32 = 40;
/// Of the crowd beside spikes without a period, s.
const USUAL_PERIOD: f64 = 6.0;

/// What became of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Why this machine cannot make it; the rest is then empty.
    pub not_here: Option<String>,
    /// Exit status of `stallscope record`.
    pub status: Option<i32>,
    /// How much of the machine was not the run's.
    pub disturbance: Option<Disturbance>,
}

/// Files of a run.
pub struct Files {
    folder: PathBuf,
    name: String,
}

impl Files {
    /// Those of a situation's variant in a folder.
    pub fn of(folder: &Path, situation: &Situation, variant: Variant) -> Self {
        Self {
            folder: folder.to_path_buf(),
            name: format!("{}.{}", situation.name, variant.word()),
        }
    }

    /// The name of the run.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One of them, by its ending: `stall`, `report.json`, `again.json`, `truth`, `log`, `load.log`, `play.log` or
    /// `json`.
    pub fn named(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    /// The outcome, if there is one.
    pub fn load(&self) -> Result<Option<Outcome>> {
        read_json(&self.named("json"))
    }

    fn save(&self, outcome: &Outcome) -> Result<()> {
        let path = self.named("json");
        fs::write(&path, serde_json::to_string_pretty(outcome)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    fn remove(&self) -> Result<()> {
        let recording = self.named("stall");
        if recording.exists() {
            fs::remove_dir_all(&recording)
                .with_context(|| format!("cannot remove {}", recording.display()))?;
        }
        Ok(())
    }
}

/// What runs are made with.
pub struct Runner<'a> {
    /// The program under test.
    pub stallscope: &'a Path,
    /// Where situations are made.
    pub stage: &'a mut Stage,
    /// How long is recorded, s.
    pub seconds: u32,
    /// What everything random follows from.
    pub seed: u64,
}

impl Runner<'_> {
    /// Makes one run.
    pub fn run(
        &mut self,
        situation: &Situation,
        variant: Variant,
        files: &Files,
    ) -> Result<Outcome> {
        files.remove()?;
        self.stage.seconds = self.seconds + LONGER;
        let outcome = self.made(situation, variant, files);
        let cleared = self.stage.clear();
        let outcome = outcome?;
        cleared?;
        files.save(&outcome)?;
        Ok(outcome)
    }

    fn made(&mut self, situation: &Situation, variant: Variant, files: &Files) -> Result<Outcome> {
        let made = match (situation.set_up)(self.stage, variant)? {
            Ok(made) => made,
            Err(reason) => {
                return Ok(Outcome {
                    not_here: Some(reason),
                    status: None,
                    disturbance: None,
                });
            }
        };
        let Made {
            target,
            load,
            mut logs,
            by,
        } = made;
        let mut random = rhythm::random(self.seed, files.name());
        let _load = Running::start(load, &files.named("load.log"))?;
        std::thread::sleep(SETTLE);
        let span = f64::from(self.seconds) + AFTER;
        let period = situation.period().unwrap_or(USUAL_PERIOD);
        let others = crowd::gather(self.stage, &mut random, period, span)?;
        logs.push(crowd::log(self.stage));
        let said = files.named("play.log");
        let others = rhythm::schedule(others, BEGIN);
        let crowd = self.player("lab-crowd", "others", &others, &said)?;
        self.stage.beside_that_speaks(crowd)?;
        self.begin(situation, variant, &by, &mut random, &said)?;
        let before = Reading::take()?;
        let status = self.record(&target, &logs, files)?;
        let disturbance = Disturbance::between(before, Reading::take()?);
        let truth = truth::noted(self.stage, &by, situation.period())?;
        truth::save(&files.named("truth"), &truth)?;
        Ok(Outcome {
            not_here: None,
            status,
            disturbance: Some(disturbance),
        })
    }

    /// Starts what makes the spikes.
    fn begin(
        &mut self,
        situation: &Situation,
        variant: Variant,
        by: &By,
        random: &mut Rng,
        said: &Path,
    ) -> Result<()> {
        let span = f64::from(self.seconds) + AFTER;
        let times: Vec<(u64, f64)> = match situation.timing {
            Timing::Recurring(period) => {
                let missed = match variant {
                    Variant::Missed => MISSED,
                    _ => 0.0,
                };
                let rhythm = Recurring {
                    period,
                    jitter: JITTER,
                    missed,
                };
                rhythm::recurring(random, rhythm, span)
            }
            Timing::Random(mean) => {
                let times = rhythm::at_random(random, mean, span);
                (0..).zip(times).collect()
            }
            Timing::OwnClock(_) | Timing::Never => Vec::new(),
        };
        let mut moments = |actions: &[String]| -> Vec<Moment> {
            let moment = |(cycle, at): (u64, f64)| Moment {
                at,
                label: cycle.to_string(),
                action: match actions {
                    [] => String::new(),
                    _ => actions[random.usize(..actions.len())].clone(),
                },
            };
            times.iter().copied().map(moment).collect()
        };
        match by {
            By::Process(name, actions) => {
                let text = rhythm::schedule(moments(actions), BEGIN);
                let mut player = self.player(name, SCHEDULE, &text, said)?;
                player.arg("--noted").arg(self.stage.folder().join(NOTED));
                self.stage.beside_that_speaks(player).map(drop)
            }
            By::Server => {
                let text = rhythm::schedule(moments(&[]), BEGIN);
                let draft = self.stage.script("draft", &text)?;
                let place = self.stage.folder().join(SCHEDULE);
                fs::rename(draft, &place)
                    .with_context(|| format!("cannot write {}", place.display()))
            }
            By::Checkpointer(name, since, changes) => {
                let elapsed = since.elapsed().as_secs_f64();
                let changes = changes.iter().map(|(at, action)| Moment {
                    at: (at - elapsed).max(0.0),
                    label: "change".to_owned(),
                    action: action.clone(),
                });
                let text = rhythm::schedule(changes.collect(), Duration::ZERO);
                let player = self.player(name, SCHEDULE, &text, said)?;
                self.stage.beside_that_speaks(player).map(drop)
            }
        }
    }

    /// A process of that name which follows a schedule, and says into a file what it could not do: servers may end
    /// before it. Scripts of it are clients of the database.
    fn player(&self, name: &str, file: &str, schedule: &str, said: &Path) -> Result<Command> {
        let file = self.stage.script(file, schedule)?;
        let mut player = self.stage.own_as(name, &["play"])?;
        player.arg(file);
        self.stage.serve_command(&mut player);
        player.env("PGHOST", "127.0.0.1");
        player.env("PGDATABASE", crate::postgres::DATABASE);
        let opened = OpenOptions::new().create(true).append(true).open(said);
        player.stderr(opened.with_context(|| format!("cannot write {}", said.display()))?);
        Ok(player)
    }

    fn record(&self, target: &str, logs: &[PathBuf], files: &Files) -> Result<Option<i32>> {
        let mut command = Command::new(self.stallscope);
        command.args(["record", "--target", target, "-o"]);
        command.arg(files.named("stall"));
        command.arg("--json").arg(files.named("report.json"));
        for log in logs {
            command.arg("--log").arg(log);
        }
        command.args(["--for", &format!("{}s", self.seconds)]);
        let mut recorder = Running::start(command, &files.named("log"))?;
        let status = interrupt::wait(&mut recorder.0)?;
        interrupt::check()?;
        if !status.success() {
            let log = fs::read_to_string(files.named("log")).unwrap_or_default();
            bail!("stallscope ended with {status}:\n{log}");
        }
        Ok(status.code())
    }
}
