//! The published steal-time experiment, rebuilt: the old formula, the fixed one and ours, in the same
//! loops at the same time, beside what the scheduler really did.
//!
//! Its source is Seastar's pull request 2390 (github.com/scylladb/seastar, merged October 2024). The
//! truth is a trace of the scheduler's switches and wakeups (`trace`), used here and nowhere else.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod backend;
mod event_loop;
mod formulas;
mod meters;
mod outcome;
mod outside;
mod queues;
mod run;
mod script;
mod stage;
mod table;
mod trace;
mod truth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use rustix::thread::{CpuSet, sched_getaffinity};

use backend::Kind;
use event_loop::{Hog, Loops};
use outcome::Outcome;
use run::{Run, Setting, Situation};
use stage::Group;

const SECONDS: f64 = 8.0;
const ATTEMPTS: usize = 3;
/// After so long no run is repeated: all of it is to take under three minutes.
const NO_REPEATS_AFTER: Duration = Duration::from_secs(100);
/// Between these lines stands what `--markdown` writes.
const BEGIN: &str = "<!-- stealmeter-experiment -->";
const END: &str = "<!-- end of stealmeter-experiment -->";

/// Steal time of event loops by three meters, beside what the scheduler did.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    role: Option<Role>,
}

/// What this program is in processes that it starts itself.
#[derive(Subcommand)]
enum Role {
    #[command(hide = true)]
    Loops(Loops),
    #[command(hide = true)]
    Hog(Hog),
}

/// What is asked for.
#[derive(Args, Clone, Debug)]
struct Options {
    /// How long each run is watched, s.
    #[arg(long, default_value_t = SECONDS)]
    seconds: f64,
    /// How often a run is made that does not count, at most.
    #[arg(long, default_value_t = ATTEMPTS)]
    attempts: usize,
    /// Only this backend; repeatable.
    #[arg(long = "backend")]
    backends: Vec<Kind>,
    /// A folder on the disk that the loops write to, 1 MB each; this program's own when left out.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// The program whose view from outside is compared; the one beside this when left out.
    #[arg(long)]
    stallscope: Option<PathBuf>,
    /// Writes the result into this file as well, between its two lines that begin with
    /// `<!-- stealmeter-experiment`.
    #[arg(long)]
    markdown: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.role {
        None => measure(&arguments.options),
        Some(Role::Loops(loops)) => event_loop::run(loops),
        Some(Role::Hog(hog)) => event_loop::hog(hog),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stealmeter-experiment: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Makes all runs, and says what came of them.
fn measure(options: &Options) -> Result<()> {
    let began = Instant::now();
    let folder = match &options.folder {
        Some(folder) => folder.clone(),
        None => own_folder()?,
    };
    let room = tempfile::tempdir_in(&folder)
        .with_context(|| format!("cannot write to {}: --folder", folder.display()))?;
    let group = Group::make();
    if let Err(error) = &group {
        eprintln!("steal: without a control group of its own, others disturb more: {error:#}");
    }
    let setting = Setting {
        cpus: cpus()?,
        seconds: options.seconds,
        folder: room.path(),
        group: group.as_ref().ok(),
    };
    let backends = match &options.backends[..] {
        [] => &Kind::ALL,
        some => some,
    };
    let load = std::fs::read_to_string("/proc/loadavg").context("/proc/loadavg")?;
    let mut runs = Vec::new();
    for situation in Situation::all(backends) {
        runs.push(counted(situation, &setting, options.attempts, began)?);
    }
    let program = match &options.stallscope {
        Some(program) => Ok(program.clone()),
        None => beside(),
    };
    let outside = program.and_then(|program| outside::compare(&setting, &program));
    let outcome = Outcome::of(&runs, outside);
    let text = outcome.text(options.seconds, load.split(' ').next().unwrap_or_default());
    print!("{text}");
    if let Some(path) = &options.markdown {
        put(path, &text)?;
    }
    outcome.verdict()
}

/// A run that counts, or the last of so many that do not.
fn counted(
    situation: Situation,
    setting: &Setting<'_>,
    attempts: usize,
    began: Instant,
) -> Result<Run> {
    let mut attempt = 1;
    loop {
        eprintln!("steal: {}", situation.words());
        let run = situation.run(setting)?;
        let Some(why) = &run.void else {
            return Ok(run);
        };
        eprintln!("steal:   does not count: {why}");
        if attempt >= attempts || began.elapsed() > NO_REPEATS_AFTER {
            return Ok(run);
        }
        attempt += 1;
    }
}

/// The program that was built beside this one.
fn beside() -> Result<PathBuf> {
    let path = own_folder()?.join("stallscope");
    if !path.is_file() {
        bail!("{} is not there: scripts/build.sh", path.display());
    }
    Ok(path)
}

/// Where this program lies: the folder of what was built, which is on a disk.
fn own_folder() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    let folder = own.parent().context("a program lies in a folder")?;
    Ok(folder.to_owned())
}

/// The last two CPUs that this program may use: the first one has most of the interrupts.
fn cpus() -> Result<[usize; 2]> {
    let allowed = sched_getaffinity(None)?;
    let mut allowed = (0..CpuSet::MAX_CPU)
        .rev()
        .filter(|cpu| allowed.is_set(*cpu));
    match (allowed.next(), allowed.next()) {
        (Some(writer), Some(thinker)) => Ok([thinker, writer]),
        _ => bail!("steal: the experiment needs two CPUs, and this program may use one"),
    }
}

/// Writes the result into a document, between its two lines.
fn put(path: &Path, text: &str) -> Result<()> {
    let name = path.display();
    let whole = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let whole = replaced(&whole, text)
        .with_context(|| format!("{name} has no lines {BEGIN} and {END} to write between"))?;
    std::fs::write(path, whole).with_context(|| format!("cannot write {name}"))
}

fn replaced(whole: &str, text: &str) -> Option<String> {
    let (before, rest) = whole.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{text}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_between_the_lines_is_replaced() {
        let whole = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let expected = format!("a\n{BEGIN}\nnew\n{END}\nb\n");
        assert_eq!(replaced(&whole, "new\n"), Some(expected.clone()));
        assert_eq!(replaced(&expected, "new\n"), Some(expected));
        assert_eq!(replaced("a\nb\n", "new\n"), None);
    }
}
