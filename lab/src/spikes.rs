//! `spikes`: servers that stall now and then, because of something that is known, among two dozen things that happen
//! beside it. `stallscope record` looks on; then its spikes, period and trigger are held against the truth.

mod crowd;
mod judge;
mod rhythm;
mod run;
mod situation;
mod situations;
mod table;
mod truth;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use model::Report;

use crate::print::say;
use crate::stage::Stage;
use crate::{binary, dated, interrupt, requirement};

use run::{Files, Outcome, Runner};
use situation::{Situation, Timing, Variant};
use table::Row;

/// How long is recorded, s; of a server's own clock, eight cycles and a half.
const SECONDS: u32 = 95;
const CYCLES: f64 = 9.0;

/// Arguments of `spikes`.
#[derive(Args)]
pub struct SpikesArguments {
    /// Situations, or runs as grants.missed; all when none is named
    name: Vec<String>,
    /// Say what there is, and make nothing
    #[arg(long)]
    pub list: bool,
    /// Folder for recordings and results; what has a result there is not made again
    #[arg(long, value_name = "FOLDER", default_value = "target/lab/spikes")]
    out: PathBuf,
    /// How long is recorded, s
    #[arg(long, value_name = "N", default_value_t = SECONDS, value_parser = clap::value_parser!(u32).range(20..))]
    seconds: u32,
    /// What everything random follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Make nothing, score the results
    #[arg(long)]
    score: bool,
    /// Score what the program says of the recordings now, not what it said when they were made
    #[arg(long)]
    again: bool,
    /// Append the score to a file, with the date
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
    /// The program under test [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
}

/// Makes what has no result yet, and says how it went. The status is 0 where all is as it must be.
pub fn spikes(arguments: &SpikesArguments) -> Result<u8> {
    let chosen = situations::chosen(&arguments.name)?;
    let stallscope = binary::find(arguments.stallscope.as_deref())?;
    if !arguments.score {
        make(arguments, &chosen, &stallscope)?;
    }
    let mut rows = Vec::new();
    for (situation, variants) in &chosen {
        for variant in variants {
            let again = arguments.again.then_some(stallscope.as_path());
            rows.push(row(&arguments.out, situation, *variant, again)?);
        }
    }
    let table = table::lines(&rows);
    let (summary, is_met) = table::summary(&rows);
    let text = [table, vec![String::new()], summary].concat().join("\n");
    say!("{text}");
    if let Some(path) = &arguments.append {
        dated::append(path, &text)?;
    }
    Ok(u8::from(!is_met))
}

/// Names what was asked for.
pub fn list(arguments: &SpikesArguments) -> Result<u8> {
    for (situation, variants) in situations::chosen(&arguments.name)? {
        let words: Vec<&str> = variants.iter().map(|it| it.word()).collect();
        say!("{} ({})", situation.name, words.join(", "));
        say!("    {}", situation.about);
    }
    Ok(0)
}

fn make(
    arguments: &SpikesArguments,
    chosen: &[(Situation, Vec<Variant>)],
    stallscope: &Path,
) -> Result<()> {
    let out = &arguments.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    // The recorder works elsewhere than the lab.
    let out = fs::canonicalize(out).context("a folder that was just made")?;
    let mut stage = Stage::new()?;
    for (situation, variants) in chosen {
        for variant in variants {
            let files = Files::of(&out, situation, *variant);
            if files.load()?.is_some_and(|it| it.not_here.is_none()) {
                eprintln!("{}: has a result already", files.name());
                continue;
            }
            eprintln!("{}: {}", files.name(), situation.about);
            let mut runner = Runner {
                stallscope,
                stage: &mut stage,
                seconds: seconds(situation, arguments.seconds),
                seed: arguments.seed,
            };
            let outcome = runner.run(situation, *variant, &files)?;
            interrupt::check()?;
            if let Some(reason) = &outcome.not_here {
                eprintln!("{}: not possible here: {reason}", files.name());
                if requirement::everything() {
                    bail!("{} must not be skipped", files.name());
                }
            }
        }
    }
    Ok(())
}

fn seconds(situation: &Situation, asked: u32) -> u32 {
    match situation.timing {
        Timing::OwnClock(period) => asked.max((CYCLES * period) as u32),
        _ => asked,
    }
}

fn row(out: &Path, situation: &Situation, variant: Variant, again: Option<&Path>) -> Result<Row> {
    let files = Files::of(out, situation, variant);
    let outcome = files.load()?;
    let disturbance = outcome.as_ref().and_then(|it| it.disturbance);
    let judged = match outcome {
        None => Err("not made".to_owned()),
        Some(Outcome {
            not_here: Some(reason),
            ..
        }) => Err(format!("not possible here: {reason}")),
        Some(_) => {
            let report = report(&files, again)?;
            let events = truth::load(&files.named("truth"))?;
            Ok(judge::judge(situation, &events, &report))
        }
    };
    Ok(Row {
        name: files.name().to_owned(),
        variant,
        outside: disturbance.map(|it| it.outside),
        judged,
    })
}

/// What was said when the recording was made, or what that program says of it now.
fn report(files: &Files, again: Option<&Path>) -> Result<Report> {
    let Some(stallscope) = again else {
        return read(&files.named("report.json"));
    };
    let path = files.named("again.json");
    let mut explain = Command::new(stallscope);
    explain.args(["explain", "--json"]).arg(&path);
    explain.arg(files.named("stall")).stdin(Stdio::null());
    let output = explain
        .output()
        .with_context(|| format!("cannot start {}", stallscope.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("stallscope explain gave no report: {}", said.trim());
    }
    read(&path)
}

fn read(path: &Path) -> Result<Report> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no report", path.display()))
}
