//! `compare`: recordings side by side, those that are there or those that it makes.

mod arms;
mod design;
mod experiment;

use std::path::{Path, PathBuf};

use analysis::compare::{Group, Measured, compare as compare_groups};
use anyhow::{Context, Result, bail};
use model::Comparison;
use recording::bundle;

use self::experiment::Done;
use crate::arguments::Compare;
use crate::open_recording::{self, Opened, short_name};
use crate::outputs::{self, OutputFile};
use crate::part::Part;
use crate::temporary_output;

/// A condition of `--fail-if` holds.
const FAILED: u8 = 1;
/// More recordings than this are a mistake in a pattern.
const MOST_RUNS: usize = 1_000;

pub(crate) fn compare(arguments: &Compare) -> Result<u8> {
    let json = arguments
        .json
        .as_deref()
        .map(|it| OutputFile::open(it, "--json"))
        .transpose()?;
    let markdown = arguments.export_markdown.as_deref();
    let markdown = markdown
        .map(|it| OutputFile::open(it, "--export-markdown"))
        .transpose()?;
    let page = arguments.output.as_deref();
    let page = page.map(|it| OutputFile::open(it, "-o")).transpose()?;
    let comparison = match arguments.experiment.run.is_empty() {
        true => None,
        false => match experiment::experiment(arguments)? {
            Done::Compared(comparison) => Some(*comparison),
            Done::Interrupted(signal) => {
                return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX));
            }
        },
    };
    let _interrupts = temporary_output::watch()?;
    let comparison = match comparison {
        Some(made) => made,
        None => of_recordings(arguments)?,
    };
    if page.is_some() {
        arguments.align.check(&comparison)?;
    }
    let detail = match arguments.verbose {
        true => outputs::Detail::Full,
        false => outputs::Detail::Short,
    };
    let text = outputs::comparison(&comparison, detail);
    let for_people = ![&json, &markdown, &page]
        .into_iter()
        .flatten()
        .any(OutputFile::is_stdout);
    if let Some(file) = json {
        file.write(&comparison)?;
    }
    if let Some(file) = markdown {
        file.write_text(&outputs::comparison_markdown(&comparison))?;
    }
    if let Some(file) = page {
        file.write_text(&outputs::comparison_page(&comparison, &arguments.align))?;
    }
    match for_people {
        true => outputs::show(&text).context("cannot write to standard output")?,
        false => outputs::say(text.trim_end()),
    }
    status(arguments, &comparison)
}

/// What was recorded before.
fn of_recordings(arguments: &Compare) -> Result<Comparison> {
    if arguments.recordings.len() < 2 {
        bail!(
            "there is one group of recordings only, and nothing to compare it with. Name two recordings, folders of recordings, or patterns in quotes: stallscope compare 'before-*.stall' 'after-*.stall'"
        );
    }
    Ok(compare_groups(groups(&arguments.recordings)?))
}

/// Measures recordings, folders of recordings and patterns, each a group of one configuration.
///
/// # Errors
/// One sentence: what was typed is none of these, or cannot be read.
pub(crate) fn groups(typed: &[String]) -> Result<Vec<Group>> {
    let named = typed.iter().map(|it| named(it));
    let mut named: Vec<Named> = named.collect::<Result<_>>()?;
    tell_apart(&mut named);
    named.iter().map(measured).collect()
}

/// Says which conditions hold.
fn status(arguments: &Compare, comparison: &Comparison) -> Result<u8> {
    let mut status = 0;
    for condition in &arguments.fail_if {
        for judged in condition.judge(comparison)? {
            outputs::say(&format!("stallscope: {}", judged.sentence));
            if judged.holds {
                status = FAILED;
            }
        }
    }
    Ok(status)
}

/// A group as it was typed.
struct Named {
    name: String,
    typed: String,
    recordings: Vec<PathBuf>,
}

/// A recording, a folder of recordings, or a pattern.
fn named(typed: &str) -> Result<Named> {
    let path = Path::new(typed);
    if is_recording(path) {
        return Ok(Named {
            name: short_name(path),
            typed: typed.to_owned(),
            recordings: vec![path.to_owned()],
        });
    }
    let recordings: Vec<PathBuf> = match path.is_dir() {
        true => inside(path)?,
        false => matching(typed)?,
    };
    if recordings.is_empty() {
        let hint =
            "Name a recording, a folder of recordings, or a pattern in quotes as 'before-*.stall'";
        match path.exists() {
            true => bail!("{typed} is no recording, and holds none. {hint}"),
            false => bail!("there is no recording {typed}. {hint}"),
        }
    }
    if recordings.len() > MOST_RUNS {
        bail!(
            "{typed} means {} recordings; at most {MOST_RUNS} are compared",
            recordings.len()
        );
    }
    let name = match path.is_dir() {
        true => short_name(path),
        false => common_name(&recordings).unwrap_or_else(|| typed.to_owned()),
    };
    Ok(Named {
        name,
        typed: typed.to_owned(),
        recordings,
    })
}

/// Groups of the same name are called by the folder too, and where that does not tell them apart as they were typed.
fn tell_apart(groups: &mut [Named]) {
    let longer: [fn(&Named) -> String; 2] = [with_folder, |it| it.typed.clone()];
    for longer in longer {
        let names: Vec<String> = groups.iter().map(|it| it.name.clone()).collect();
        let is_double = |own: &&mut Named| names.iter().filter(|it| **it == own.name).count() > 1;
        groups
            .iter_mut()
            .filter(is_double)
            .for_each(|it| it.name = longer(it));
    }
}

/// `runs/fast` for `here/runs/fast.stall`.
fn with_folder(group: &Named) -> String {
    let path = Path::new(&group.typed);
    let path = path.canonicalize().unwrap_or(path.to_owned());
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map_or(String::new(), |it| format!("{}/", it.to_string_lossy()));
    format!("{folder}{}", group.name)
}

fn is_recording(path: &Path) -> bool {
    recording::is_recording(path) || bundle::is_bundle(path)
}

/// The recordings in a folder, in the order of their names.
fn inside(folder: &Path) -> Result<Vec<PathBuf>> {
    let shown = folder.display();
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {shown}"))?;
    let mut recordings = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot read {shown}"))?
            .path();
        if is_recording(&path) {
            recordings.push(path);
        }
    }
    recordings.sort();
    Ok(recordings)
}

/// The recordings that a pattern matches, in the order of their names.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let paths = glob::glob(pattern).with_context(|| format!("`{pattern}` is no pattern"))?;
    let paths = paths.filter_map(Result::ok);
    Ok(paths.filter(|it| is_recording(it)).collect())
}

/// What the names of several recordings begin with: `fast` for `fast-1.stall` and `fast-2.stall`.
fn common_name(recordings: &[PathBuf]) -> Option<String> {
    let mut names = recordings.iter().map(|it| short_name(it));
    let mut common = names.next()?;
    for name in names {
        let same = common.char_indices().zip(name.chars());
        let end = same.take_while(|((_, a), b)| a == b).last();
        common.truncate(end.map_or(0, |((at, letter), _)| at + letter.len_utf8()));
    }
    let common = common.trim_end_matches(|it: char| it.is_ascii_digit() || "-_.".contains(it));
    (!common.is_empty()).then(|| common.to_owned())
}

/// Measures one recording after the other, so that one is in memory at a time.
fn measured(named: &Named) -> Result<Group> {
    let measure = |path: &PathBuf| -> Result<Measured> {
        let Opened { recording, .. } = open_recording::to_judge(Some(path), &Part::default())?;
        if !recording.damage.is_empty() {
            outputs::say(&format!("stallscope: that is about {}", path.display()));
        }
        let name = short_name(path);
        Ok(Measured::of(name, &recording.timeline, &recording.meta))
    };
    let runs = named
        .recordings
        .iter()
        .map(measure)
        .collect::<Result<_>>()?;
    Ok(Group {
        name: named.name.clone(),
        runs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_a_group_are_called_what_their_names_share() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let common = |names: &[&str]| common_name(&paths(names));
        assert_eq!(
            common(&["a/fast-1.stall", "a/fast-2.stall"]).as_deref(),
            Some("fast")
        );
        assert_eq!(
            common(&["fast-9.stall", "fast-10.stall"]).as_deref(),
            Some("fast")
        );
        assert_eq!(common(&["x.stall", "y.stall"]), None);
        assert_eq!(common(&["é-1.stall", "è-2.stall"]), None);
    }
}
