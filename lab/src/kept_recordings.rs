//! Recordings that are kept with the sources: one or more of each scenario, packed, with what must be found
//! in them. Diagnosing them again shows in seconds what a change of the diagnosis does, on any machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::again::Judge;
use crate::outcome::{self, Answer, Files, Outcome};
use crate::print::say;
use crate::scenario::{Scenario, Set};
use crate::scenarios;
use crate::score::{Found, judge};

/// Recordings are small, and packed once.
const COMPRESSION: i32 = 19;
/// All of them together, bytes: they are part of every clone of the sources.
const MOST: u64 = 7 << 20;

/// Arguments of `keep`.
#[derive(Args)]
pub struct KeepArguments {
    /// Folder with the results of `run`
    out: PathBuf,
    /// Only these situations; all of them when none is named
    name: Vec<String>,
    /// Beside what is kept of the same situation, as NAME-WORD
    #[arg(long, value_name = "WORD")]
    beside: Option<String>,
    /// Where they are kept
    #[arg(long, value_name = "FOLDER", default_value = "lab/recordings")]
    to: PathBuf,
    /// Keep void runs too, where nothing better is there: their outcome says so
    #[arg(long)]
    even_void: bool,
}

/// Arguments of `kept`.
#[derive(Args)]
pub struct KeptArguments {
    /// The program that answers [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// Where they are kept
    #[arg(long, value_name = "FOLDER", default_value = "lab/recordings")]
    from: PathBuf,
    /// Only recordings of this set's situations
    #[arg(long, value_name = "SET")]
    set: Option<Set>,
    /// Diagnose as if these tables had not been recorded: thread_time,process_time
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    without: Vec<String>,
}

/// What is kept beside a recording.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// What must be found, for people: the scenario's own expectation decides.
    expected: String,
    /// The run, with who was who in it.
    outcome: Outcome,
}

/// Packs the first repetition of each scenario that counts and is right.
pub fn keep(arguments: &KeepArguments) -> Result<u8> {
    let to = &arguments.to;
    fs::create_dir_all(to).with_context(|| format!("cannot make the folder {}", to.display()))?;
    let mut total = 0;
    let chosen = if arguments.name.is_empty() {
        scenarios::all()
    } else {
        scenarios::chosen(&arguments.name, Set::Tuned)?
    };
    for scenario in chosen {
        match first_right(&scenario, arguments)? {
            Some((files, outcome)) => {
                let name = match &arguments.beside {
                    Some(word) => format!("{}-{word}", scenario.name),
                    None => scenario.name.to_owned(),
                };
                let size = pack(&name, &scenario, &files, outcome, to)?;
                say!("{name:20}  {:7.1} kB", size as f64 / 1e3);
            }
            None => say!("{:20}  no run that counts and is right", scenario.name),
        }
    }
    for entry in fs::read_dir(to).context("it was just made")? {
        total += entry?.metadata()?.len();
    }
    say!(
        "{:20}  {:7.1} kB in {}",
        "all",
        total as f64 / 1e3,
        to.display()
    );
    if total > MOST {
        bail!("that is more than {MOST} bytes: make the runs shorter, or keep fewer");
    }
    Ok(0)
}

/// The first repetition that is right and counts; a right one that does not, where that is asked for.
fn first_right(scenario: &Scenario, arguments: &KeepArguments) -> Result<Option<(Files, Outcome)>> {
    let out = &arguments.out;
    let mut second_best = None;
    for repetition in outcome::repetitions(out, scenario.name)? {
        let files = Files::of(out, scenario.name, repetition);
        let (Some(outcome), Some(answer)) = (files.load()?, files.load_report()?) else {
            continue;
        };
        let right = judge(&answer, scenario.expect, &outcome) == Found::First;
        if !right || outcome.status != Some(0) {
            continue;
        }
        if outcome.void.is_none() {
            return Ok(Some((files, outcome)));
        }
        if arguments.even_void {
            second_best = second_best.or(Some((files, outcome)));
        }
    }
    Ok(second_best)
}

fn pack(
    name: &str,
    scenario: &Scenario,
    files: &Files,
    outcome: Outcome,
    to: &Path,
) -> Result<u64> {
    let path = to.join(format!("{name}.tar.zst"));
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let packed = zstd::Encoder::new(file, COMPRESSION).context("cannot compress")?;
    let mut archive = tar::Builder::new(packed);
    archive.mode(tar::HeaderMode::Deterministic);
    let recording = files.recording();
    for file in files_of(&recording)? {
        let inside = Path::new(&format!("{name}.stall")).join(file.file_name().unwrap_or_default());
        archive
            .append_path_with_name(&file, inside)
            .with_context(|| format!("cannot pack {}", file.display()))?;
    }
    archive
        .into_inner()
        .and_then(zstd::Encoder::finish)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let kept = Kept {
        expected: scenario.expect.to_string(),
        outcome,
    };
    let text = serde_json::to_string_pretty(&kept).context("an expectation becomes JSON")?;
    let beside = to.join(format!("{name}.json"));
    fs::write(&beside, text + "\n")
        .with_context(|| format!("cannot write {}", beside.display()))?;
    Ok(fs::metadata(&path)?.len())
}

/// The files of a recording, without the page that was made from it.
fn files_of(recording: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(recording).with_context(|| format!("cannot list {}", recording.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if !path.ends_with("report.html") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Diagnoses all of them; the status is 1 when one is wrong or there is none.
pub fn kept(arguments: &KeptArguments) -> Result<u8> {
    let by = Judge::new(arguments.stallscope.as_deref(), &arguments.without)?;
    let room = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (mut right, mut all) = (0, 0);
    for name in names(&arguments.from)? {
        let beside = arguments.from.join(format!("{name}.json"));
        let Some(kept) = outcome::read_json::<Kept>(&beside)? else {
            continue;
        };
        let mut all_scenarios = scenarios::all().into_iter();
        let scenario = all_scenarios.find(|it| it.name == kept.outcome.scenario);
        let scenario = scenario
            .with_context(|| format!("{} is of no situation that there is", beside.display()))?;
        if arguments.set.is_some_and(|set| set != scenario.set) {
            continue;
        }
        let answer = answer_again(&name, &arguments.from, room.path(), &by)?;
        let found = judge(&answer, scenario.expect, &kept.outcome);
        let headline = answer.report.verdict.findings.first();
        say!(
            "{name:20}  {:8}  {}; found {}",
            found.word(),
            scenario.expect,
            headline.map_or("nothing".to_owned(), |f| format!(
                "{} of {}",
                f.cause, f.entity.name
            ))
        );
        all += 1;
        right += u32::from(found == Found::First);
    }
    say!("{right} of {all} kept recordings are diagnosed as they were made");
    Ok(u8::from(right < all || all == 0))
}

/// What is kept in a folder, in order.
fn names(from: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let file = entry?.file_name();
        let name = file.to_str().and_then(|it| it.strip_suffix(".tar.zst"));
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn answer_again(name: &str, from: &Path, room: &Path, judge: &Judge) -> Result<Answer> {
    let path = from.join(format!("{name}.tar.zst"));
    let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let unpacked = zstd::Decoder::new(file).context("cannot decompress")?;
    tar::Archive::new(unpacked)
        .unpack(room)
        .with_context(|| format!("cannot unpack {}", path.display()))?;
    // Named as `run` would: the report lies beside the recording.
    let files = Files::of(room, name, 1);
    judge.answer(&room.join(format!("{name}.stall")), &files)
}
