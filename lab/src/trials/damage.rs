//! `damage`: a recording is cut off, and bytes of it are changed. Where each batch of a file begins
//! is seen by its growth, not known from the format.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use signal_hook::consts::SIGKILL;

use super::own_time::OwnTime;
use super::recorder::{self, Ended, Recorder};
use super::{Round, Trial};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "damage",
    about: "A recording is cut off at bytes of its last batches, and bytes of it are changed: what is damaged is named with its place, and everything before it is read.",
    rounds: 40,
    short: 1,
    lack: || None,
    round,
};

const RECORDING: &str = "whole.stall";
const DAMAGED: &str = "damaged.stall";
/// It is judged by itself; what is kept beside it to write it anew is not read.
const META: &str = "meta.json";
/// What `explain` may take of memory.
const MOST_MEMORY: u64 = 300 << 20;
/// In the short form so many cuts and changes are made, in the long form all cuts of one file.
const FEW: usize = 12;

/// The lengths that each file had while it grew, its last included.
type Lengths = BTreeMap<String, Vec<u64>>;

fn round(round: &Round<'_>) -> Result<()> {
    let mut random = Rng::with_seed(round.number.into());
    let files = record(round)?;
    let whole = explain(round, RECORDING)?;
    expect_sound(&whole)?;
    let sound = &whole.stdout;
    let tables: Vec<(&String, &Vec<u64>)> = files
        .iter()
        .filter(|(name, _)| !name.starts_with(META))
        .collect();
    let (name, lengths) = tables
        .get(round.number as usize % tables.len().max(1))
        .context("a recording has tables")?;
    if !round.short {
        let (from, to) = last_batch(lengths);
        for length in from..to {
            cut(round, name, lengths, length, sound)?;
        }
    }
    for _ in 0..FEW {
        let (name, lengths) = tables[random.usize(0..tables.len())];
        let (from, to) = last_batch(lengths);
        cut(round, name, lengths, random.u64(from..to), sound)?;
        let place = random.u64(0..to);
        change(round, name, lengths, place, &mut random, sound)?;
        several(round, &files, &mut random)?;
        description(round, &mut random)?;
    }
    Ok(())
}

/// Records for some seconds and kills the recorder, so that the files end in a batch.
fn record(round: &Round<'_>) -> Result<Lengths> {
    let mut stage = Stage::new()?;
    let burn = stage.own(&["burn", "--threads", "1"])?;
    let (pid, _) = stage.beside_that_speaks(burn)?;
    let mut command = recorder::command(round)?;
    command.args(["record", "-o", RECORDING, "--target", &format!("pid:{pid}")]);
    let mut recorder = Recorder::start(round, command)?;
    let mut lengths = Lengths::new();
    recorder.records(&round.folder.join(RECORDING))?;
    let mut time = OwnTime::of(recorder.pid());
    while time.had() < Duration::from_millis(3_400) {
        note_lengths(&round.folder.join(RECORDING), &mut lengths);
        recorder.stays(Duration::from_millis(50))?;
    }
    recorder.signal(SIGKILL);
    recorder.end()?;
    note_lengths(&round.folder.join(RECORDING), &mut lengths);
    // What was renamed is not there any more.
    lengths.retain(|name, _| round.folder.join(RECORDING).join(name).exists());
    Ok(lengths)
}

fn note_lengths(folder: &Path, lengths: &mut Lengths) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else {
            continue;
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        let seen = lengths.entry(name).or_default();
        // One that was just made has not even its description.
        if about.len() > 0 && seen.last() != Some(&about.len()) {
            seen.push(about.len());
        }
    }
}

/// Where the last batch of a file begins and ends.
fn last_batch(lengths: &[u64]) -> (u64, u64) {
    let end = lengths.last().copied().unwrap_or(0);
    let start = lengths.iter().rev().nth(1).copied().unwrap_or(0);
    (start.min(end.saturating_sub(1)), end)
}

/// Where the batch that holds a byte begins, as far as its growth was seen.
fn batch_of(lengths: &[u64], place: u64) -> u64 {
    let starts = lengths.iter().copied().filter(|length| *length <= place);
    starts.max().unwrap_or(0)
}

/// `sound` is what the whole recording answers.
fn cut(round: &Round<'_>, name: &str, lengths: &[u64], length: u64, sound: &[u8]) -> Result<()> {
    let file = copy(round.folder, name)?;
    let open = fs::OpenOptions::new().write(true).open(&file);
    open.and_then(|file| file.set_len(length))
        .context("cannot cut a file")?;
    let from = batch_of(lengths, length);
    let ended = explain(round, DAMAGED)?;
    let judged = if length == from {
        // Between two batches nothing is missing that anybody could know of.
        Ok(())
    } else if lengths.len() == 1 && ended.stdout == sound {
        // It never grew: only its description is cut, and its rows are all in the journal.
        ended.expect(0).map(drop)
    } else {
        names_place(&ended, name, from..=length)
    };
    judged.with_context(|| format!("{name} cut off at {length} bytes"))
}

fn change(
    round: &Round<'_>,
    name: &str,
    lengths: &[u64],
    place: u64,
    random: &mut Rng,
    sound: &[u8],
) -> Result<()> {
    let file = copy(round.folder, name)?;
    let bits = random.u8(1..);
    flip(&file, place, bits)?;
    let from = batch_of(lengths, place);
    let ended = explain(round, DAMAGED)?;
    // Words that describe a table may change without notice; what is answered may not.
    if ended.stdout == sound && ended.status.success() {
        return Ok(());
    }
    names_place(&ended, name, from..=place)
        .with_context(|| format!("{name} changed at byte {place} by {bits:#04x}"))
}

/// Several bytes of several files: whatever comes of it is said, in bounds.
fn several(round: &Round<'_>, files: &Lengths, random: &mut Rng) -> Result<()> {
    copy(round.folder, META)?;
    let mut changes = Vec::new();
    for _ in 0..random.usize(2..20) {
        let index = random.usize(0..files.len());
        let Some((name, lengths)) = files.iter().nth(index) else {
            continue;
        };
        let file = round.folder.join(DAMAGED).join(name);
        let place = random.u64(0..last_batch(lengths).1.max(1));
        let bits = random.u8(1..);
        flip(&file, place, bits)?;
        changes.push(format!("{name}:{place} by {bits:#04x}"));
    }
    expect_sound(&explain(round, DAMAGED)?).with_context(|| changes.join(", "))
}

/// `meta.json` cut off or changed.
fn description(round: &Round<'_>, random: &mut Rng) -> Result<()> {
    let file = copy(round.folder, META)?;
    let mut text = fs::read(&file).context("cannot read a file")?;
    let place = random.usize(0..text.len());
    if random.bool() {
        text.truncate(place);
    } else {
        text[place] ^= random.u8(1..);
    }
    fs::write(&file, text).context("cannot write a file")?;
    let ended = explain(round, DAMAGED)?;
    if ended.status.code() == Some(2) {
        ended.says(META)?;
    }
    expect_sound(&ended).with_context(|| format!("{META} damaged at byte {place}"))
}

fn flip(file: &Path, place: u64, bits: u8) -> Result<()> {
    let mut bytes = fs::read(file).context("cannot read a file")?;
    let place = usize::try_from(place).context("files are small")?;
    if let Some(byte) = bytes.get_mut(place) {
        *byte ^= bits;
    }
    fs::write(file, bytes).context("cannot write a file")
}

/// A fresh copy of the whole recording, to be damaged; one of its files.
fn copy(folder: &Path, name: &str) -> Result<PathBuf> {
    let (from, to) = (folder.join(RECORDING), folder.join(DAMAGED));
    let _ = fs::remove_dir_all(&to);
    fs::create_dir(&to).context("cannot make a folder")?;
    for entry in fs::read_dir(&from).context("cannot list the recording")? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name())).context("cannot copy a file")?;
    }
    Ok(to.join(name))
}

/// The diagnosis, within its bounds: what asks for more memory than it may dies of it.
fn explain(round: &Round<'_>, recording: &str) -> Result<Ended> {
    let data = format!("--data={MOST_MEMORY}");
    let mut command: Command = recorder::wrapped(round, &["prlimit", &data, "--"])?;
    command.args(["explain", recording]);
    Recorder::start(round, command)?.end()
}

fn expect_sound(ended: &Ended) -> Result<()> {
    match ended.status.code() {
        Some(0 | 2) => Ok(()),
        _ => bail!("{}: {}", ended.status, ended.text()),
    }
}

/// It reads the rest, and says in one line which file is damaged from where on.
fn names_place(ended: &Ended, name: &str, within: std::ops::RangeInclusive<u64>) -> Result<()> {
    ended.expect(0)?;
    let table = name.split('.').next().unwrap_or(name);
    let text = ended.text();
    let places = text
        .lines()
        .filter(|line| line.contains(table))
        .filter_map(|line| line.split_once("byte "))
        .filter_map(|(_, rest)| {
            let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
            digits.parse::<u64>().ok()
        });
    match places.into_iter().find(|place| within.contains(place)) {
        Some(_) => Ok(()),
        None => bail!("no line names {table} and a byte of {within:?}: {text}"),
    }
}
