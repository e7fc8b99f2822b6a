//! `prove`: servers whose limit is known, or is no capacity. `stallscope prove` experiments on each; then what it proved
//! and ruled out is held against what is known, and whether every limit is what it was.

mod judge;
mod situations;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use model::Proof;

use self::judge::Outcome;
use self::situations::Situation;
use crate::disturbance::{Disturbance, Reading};
use crate::outcome::read_json;
use crate::print::say;
use crate::running::Running;
use crate::scenario::{Cause, SetUp};
use crate::stage::Stage;
use crate::{binary, dated, groups, interrupt, requirement};

/// How long an experiment may take, s, as long as where nothing is said; loads go on a little longer.
const SECONDS: u32 = 180;
const LONGER: u32 = 60;
/// A load runs for so long before anybody looks.
const SETTLE: Duration = Duration::from_secs(3);

/// Arguments of `prove`.
#[derive(Args)]
pub struct ProveArguments {
    /// Situations; all when none is named
    name: Vec<String>,
    /// Folder for results; what has a result there is not made again
    #[arg(long, value_name = "FOLDER", default_value = "target/lab/prove")]
    out: PathBuf,
    /// How long each experiment may take, s
    #[arg(long, value_name = "N", default_value_t = SECONDS, value_parser = clap::value_parser!(u32).range(30..))]
    seconds: u32,
    /// Make nothing, score the results
    #[arg(long)]
    score: bool,
    /// Append the score to a file, with the date
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
    /// The program under test [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
}

/// Makes what has no result yet, and says how it went. The status is 0 where all is as it must be.
pub fn prove(arguments: &ProveArguments) -> Result<u8> {
    let chosen = situations::chosen(&arguments.name)?;
    if !arguments.score {
        make(arguments, &chosen)?;
    }
    let mut rows = Vec::new();
    for situation in &chosen {
        let outcome = read_json(&named(&arguments.out, situation, "json"))?;
        rows.push(table::Row { situation, outcome });
    }
    let (summary, is_met) = table::summary(&rows);
    let text = [table::lines(&rows), vec![String::new()], summary].concat();
    let text = text.join("\n");
    say!("{text}");
    if let Some(path) = &arguments.append {
        dated::append(path, &text)?;
    }
    Ok(u8::from(!is_met))
}

fn named(folder: &Path, situation: &Situation, ending: &str) -> PathBuf {
    folder.join(format!("{}.{ending}", situation.name))
}

fn make(arguments: &ProveArguments, chosen: &[Situation]) -> Result<()> {
    let stallscope = binary::find(arguments.stallscope.as_deref())?;
    let out = &arguments.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let out = fs::canonicalize(out).context("a folder that was just made")?;
    let mut stage = Stage::new()?;
    for situation in chosen {
        let kept = named(&out, situation, "json");
        let known: Option<Outcome> = read_json(&kept)?;
        if known.is_some_and(|it| it.not_here.is_none()) {
            eprintln!("{}: has a result already", situation.name);
            continue;
        }
        eprintln!("{}: {}", situation.name, situation.about);
        stage.seconds = arguments.seconds + LONGER;
        let mut experiment = Experiment {
            stallscope: &stallscope,
            stage: &mut stage,
            out: &out,
            seconds: arguments.seconds,
        };
        let outcome = experiment.run(situation);
        let cleared = stage.clear();
        let outcome = outcome?;
        cleared?;
        interrupt::check()?;
        if let Some(reason) = &outcome.not_here {
            eprintln!("{}: not possible here: {reason}", situation.name);
            if requirement::everything() {
                bail!("{} must not be skipped", situation.name);
            }
        }
        fs::write(&kept, serde_json::to_string_pretty(&outcome)?)
            .with_context(|| format!("cannot write {}", kept.display()))?;
    }
    Ok(())
}

/// What experiments are made with.
struct Experiment<'a> {
    stallscope: &'a Path,
    stage: &'a mut Stage,
    out: &'a Path,
    seconds: u32,
}

impl Experiment<'_> {
    fn run(&mut self, situation: &Situation) -> Result<Outcome> {
        let load = match (situation.set_up)(self.stage, Cause::Made)? {
            SetUp::Ready(load) => load,
            SetUp::NotHere(reason) => return Ok(Outcome::not_here(reason)),
        };
        let server = self.stage.server()?;
        if let Err(error) = self.stage.keep_apart("proved", server) {
            return Ok(Outcome::not_here(format!("{error:#}")));
        }
        let log = named(self.out, situation, "load.log");
        let _load = Running::start(load.beside(self.stage)?, &log)?;
        std::thread::sleep(SETTLE);
        let limits = groups::limits_of(server)?;
        let (before, began) = (Reading::take()?, Instant::now());
        self.stallscope(situation, server)?;
        let disturbance = Disturbance::between(before, Reading::take()?);
        let proof = named(self.out, situation, "proof.json");
        let said: Option<Proof> = read_json(&proof)?;
        let now = groups::limits_of(server)?;
        let changed = limits
            .iter()
            .filter(|(file, text)| now.get(*file) != Some(*text));
        Ok(Outcome {
            not_here: None,
            proof: Some(said.context("stallscope prove wrote no proof")?),
            seconds: began.elapsed().as_secs_f64(),
            left_changed: changed
                .map(|(file, _)| file.display().to_string())
                .collect(),
            outside: Some(disturbance.outside),
        })
    }

    fn stallscope(&self, situation: &Situation, server: u32) -> Result<()> {
        let recording = named(self.out, situation, "stall");
        if recording.exists() {
            fs::remove_dir_all(&recording)
                .with_context(|| format!("cannot remove {}", recording.display()))?;
        }
        let mut command = Command::new(self.stallscope);
        command.args(["prove", "--yes", "--target", &format!("pid:{server}")]);
        command.args(["--for", &format!("{}s", self.seconds)]);
        command.args(situation.words);
        command.arg("-o").arg(&recording);
        command
            .arg("--json")
            .arg(named(self.out, situation, "proof.json"));
        let log = named(self.out, situation, "log");
        let mut running = Running::start(command, &log)?;
        let status = interrupt::wait(&mut running.0)?;
        interrupt::check()?;
        if !status.success() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            bail!(
                "{}: stallscope prove ended with {status}:\n{said}",
                situation.name
            );
        }
        Ok(())
    }
}
