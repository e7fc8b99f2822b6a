//! How many answers turn when a threshold is 30 % lower or higher: each of them alone, on the recordings of the lab
//! that are kept with the sources, whose answers are right.

use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::sensitivity::{self, Scalable, with_scaled};
use anyhow::{Context, Result, ensure};
use model::{Meta, Timeline};
use recording::Reader;

const FACTORS: [f64; 2] = [0.7, 1.3];

/// A recording, ready to be judged, and its answer.
struct Kept {
    name: String,
    timeline: Timeline,
    meta: Meta,
    answer: String,
}

/// Prints the turns.
pub(crate) fn measure(folder: &Path) -> Result<()> {
    let kept = unpacked(folder)?;
    let all = sensitivity::all();
    let mut turned = 0;
    let mut quiet = 0;
    for threshold in &all {
        let turns: Vec<String> = FACTORS
            .iter()
            .flat_map(|factor| turns(&kept, threshold, *factor))
            .collect();
        turned += turns.len();
        match turns.is_empty() {
            true => quiet += 1,
            false => println!("{}: {}", threshold.name, turns.join("; ")),
        }
    }
    println!(
        "{turned} of {} answers turned; {quiet} of {} thresholds turn none of the {} recordings",
        all.len() * FACTORS.len() * kept.len(),
        all.len(),
        kept.len()
    );
    Ok(())
}

/// The recordings whose answer is another one with that threshold multiplied.
fn turns(kept: &[Kept], threshold: &Scalable, factor: f64) -> Vec<String> {
    let turned = kept.iter().filter_map(|it| {
        let answer = with_scaled(threshold, factor, || answer(&it.timeline, &it.meta));
        let (name, before) = (&it.name, &it.answer);
        (answer != *before).then(|| format!("x {factor} {name} {before} -> {answer}"))
    });
    turned.collect()
}

/// The first finding: its cause and whom it is about.
fn answer(timeline: &Timeline, meta: &Meta) -> String {
    let report = analysis::diagnose(timeline, meta, None);
    let first = report.verdict.findings.first();
    first.map_or_else(
        || "nothing".to_owned(),
        |it| format!("{} ({})", it.cause, it.entity.name),
    )
}

/// Every packed recording of the folder.
fn unpacked(folder: &Path) -> Result<Vec<Kept>> {
    let place = tempfile::tempdir()?;
    let files = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<PathBuf>>>()?;
    let mut packed: Vec<PathBuf> = files
        .into_iter()
        .filter(|it| it.extension().is_some_and(|it| it == "zst"))
        .collect();
    packed.sort();
    ensure!(
        !packed.is_empty(),
        "there is no recording in {}",
        folder.display()
    );
    packed.iter().map(|file| kept(file, place.path())).collect()
}

fn kept(file: &Path, place: &Path) -> Result<Kept> {
    let name = file.file_name().context("it has one")?.to_string_lossy();
    let name = name.trim_end_matches(".tar.zst").to_owned();
    let status = Command::new("tar")
        .arg("--zstd")
        .arg("-xf")
        .arg(file)
        .arg("-C")
        .arg(place)
        .status()
        .context("cannot start tar")?;
    ensure!(status.success(), "tar cannot unpack {}", file.display());
    let folder = place.join(format!("{name}.stall"));
    let mut recording =
        Reader::open(&folder).with_context(|| format!("cannot open {}", folder.display()))?;
    analysis::prepare(&mut recording.timeline);
    let answer = answer(&recording.timeline, &recording.meta);
    Ok(Kept {
        name,
        timeline: recording.timeline,
        meta: recording.meta,
        answer,
    })
}
