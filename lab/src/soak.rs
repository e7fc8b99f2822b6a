//! `soak`: the trials, round after round. Rounds that passed are written down, so that an interrupted
//! soak goes on where it stopped; another program under test begins anew.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::print::say;
use crate::trials::{self, Round, Trial};
use crate::{binary, interrupt, names, requirement};

/// Arguments of `soak`.
#[derive(Args)]
pub struct SoakArguments {
    /// Trials to make; all when none is named
    name: Vec<String>,
    /// The short form: a few rounds of each
    #[arg(long)]
    short: bool,
    /// Only this round, whatever was done before
    #[arg(long, value_name = "N")]
    round: Option<u32>,
    /// The program under test [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// Folder where rounds that passed are written down
    #[arg(long, value_name = "FOLDER", default_value = "target/soak")]
    out: PathBuf,
    /// Forget what was done before
    #[arg(long)]
    fresh: bool,
    /// Name the trials and end
    #[arg(long)]
    pub list: bool,
}

/// A round that passed.
#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    /// Which build of the program: changes with every build.
    build: String,
    trial: String,
    /// Of how many: rounds of the short form are others.
    of: u32,
    round: u32,
}

/// Names what was asked for.
pub fn list(arguments: &SoakArguments) -> Result<u8> {
    for trial in trials::chosen(&arguments.name)? {
        say!(
            "{} ({} rounds, short {})",
            trial.name,
            trial.rounds,
            trial.short
        );
        say!("    {}", trial.about);
    }
    Ok(0)
}

/// Makes what was asked for; 1 when something did not hold.
pub fn soak(arguments: &SoakArguments) -> Result<u8> {
    let chosen = trials::chosen(&arguments.name)?;
    let program = binary::find(arguments.stallscope.as_deref())?;
    let program =
        fs::canonicalize(&program).with_context(|| format!("cannot find {}", program.display()))?;
    let mut ledger = Ledger::open(&arguments.out, &program, arguments.fresh)?;
    let mut failed = 0;
    for trial in chosen {
        if let Some(lack) = (trial.lack)() {
            say!("SKIPPED: {}: {lack}", trial.name);
            failed += u32::from(requirement::everything());
            continue;
        }
        failed += make(trial, arguments, &program, &mut ledger)?;
    }
    Ok(u8::from(failed > 0))
}

fn make(
    trial: &Trial,
    arguments: &SoakArguments,
    program: &Path,
    ledger: &mut Ledger,
) -> Result<u32> {
    let of = if arguments.short {
        trial.short
    } else {
        trial.rounds
    };
    let rounds = match arguments.round {
        Some(number) => number..number + 1,
        None => 0..of,
    };
    let (mut passed, mut failed, mut before) = (0, 0, 0);
    let started = Instant::now();
    for number in rounds {
        interrupt::check()?;
        if arguments.round.is_none() && ledger.has(trial, of, number) {
            before += 1;
            continue;
        }
        let folder = names::own_folder()?;
        let round = Round {
            number,
            short: arguments.short,
            program,
            folder: folder.path(),
        };
        match trial.make(&round) {
            Ok(()) => {
                passed += 1;
                ledger.note(trial, of, number)?;
            }
            Err(error) => {
                interrupt::check()?;
                failed += 1;
                let kept = folder.keep();
                say!("{} round {number}: {error:#}", trial.name);
                say!(
                    "    kept in {}; again: stallscope-lab soak {} --round {number}{}",
                    kept.display(),
                    trial.name,
                    if arguments.short { " --short" } else { "" },
                );
            }
        }
    }
    let took = started.elapsed().as_secs_f64();
    let earlier = match before {
        0 => String::new(),
        before => format!(", {before} earlier"),
    };
    say!(
        "{}: {passed} passed{earlier}, {failed} failed, {took:.1} s",
        trial.name
    );
    Ok(failed)
}

/// The rounds that passed, one JSON object per line.
struct Ledger {
    build: String,
    done: BTreeSet<Done>,
    file: File,
}

impl Ledger {
    fn open(folder: &Path, program: &Path, fresh: bool) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let path = folder.join("done.jsonl");
        let mut options = OpenOptions::new();
        options.read(true).create(true);
        if fresh {
            options.write(true).truncate(true);
        } else {
            options.append(true);
        }
        let file = options
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let lines = BufReader::new(&file).lines().map_while(std::io::Result::ok);
        // A line cut off by a kill is a round to make again.
        let done = lines
            .filter_map(|line| serde_json::from_str(&line).ok())
            .collect();
        let about = fs::metadata(program)?;
        let build = format!(
            "{}-{}.{:09}",
            about.size(),
            about.mtime(),
            about.mtime_nsec()
        );
        Ok(Self { build, done, file })
    }

    fn entry(&self, trial: &Trial, of: u32, round: u32) -> Done {
        Done {
            build: self.build.clone(),
            trial: trial.name.to_owned(),
            of,
            round,
        }
    }

    fn has(&self, trial: &Trial, of: u32, round: u32) -> bool {
        self.done.contains(&self.entry(trial, of, round))
    }

    fn note(&mut self, trial: &Trial, of: u32, round: u32) -> Result<()> {
        let entry = self.entry(trial, of, round);
        let mut line = serde_json::to_string(&entry)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.done.insert(entry);
        Ok(())
    }
}
