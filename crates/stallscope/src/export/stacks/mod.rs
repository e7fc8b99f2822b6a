//! Call stacks, of samples or of waits, for the tools that draw them: folded text, pprof, speedscope, Perfetto.

mod folded;
mod perfetto;
mod pprof;
mod speedscope;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use analysis::stacks::{Frame, Stacks, cpu_samples, process_of, waits_by_process};
use anyhow::{Context, Result, bail};
use model::{
    EntityKind, EntityRecord, LedgerClass, MISSING, Meta, Role, Timeline, Timestamp, Window,
};
use recording::Recording;

use super::clock::WallClock;
use super::{destination, place, refused, size};
use crate::arguments::{Export, ExportFormat};
use crate::outputs;
use crate::stack_rate::WHY_NO_STACKS;
use crate::temporary_output::{Entry, TemporaryOutput};

/// A stack by its number, and below it what was waited for.
pub(super) type StackKey = (i64, Option<LedgerClass>);

/// Samples of a part of a recording, with the frames of their stacks.
pub(super) struct Profile<'a> {
    pub(super) of: Of,
    /// When it begins on the wall clock, ns since 1970.
    pub(super) begin_utc_ns: i64,
    pub(super) window: Window,
    pub(super) samples: Vec<Sample<'a>>,
    /// The frames of each stack, the innermost first.
    pub(super) stacks: HashMap<StackKey, Vec<Frame<'a>>>,
}

/// What is sampled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// What ran.
    Cpu,
    /// Waits of target, dependencies and generator.
    Waits,
}

/// A sample, or a wait.
pub(super) struct Sample<'a> {
    /// When; when the wait ended.
    pub(super) at: Timestamp,
    /// The thread, where it was followed.
    pub(super) thread: Option<&'a EntityRecord>,
    /// Its process; the machine, where the process had ended before it was seen.
    pub(super) process: &'a EntityRecord,
    pub(super) stack: Option<StackKey>,
    /// CPU time, or the blocked time that it stands for.
    pub(super) ns: i64,
}

impl<'a> Profile<'a> {
    /// Of everybody but the recorder; `None` of a recording without stacks.
    fn of(recording: &'a Recording, window: Window) -> Option<Self> {
        let Recording { meta, timeline, .. } = recording;
        let stacks = Stacks::of(timeline)?;
        let samples: Vec<Sample<'_>> = cpu_samples(timeline, window)
            .filter_map(|sample| {
                let process = process_of(timeline, sample.entity)?;
                let entity = timeline.entities.get(sample.entity)?;
                (process.role != Role::Recorder).then(|| Sample {
                    at: sample.at,
                    thread: (entity.entity.kind == EntityKind::Thread).then_some(entity),
                    process,
                    stack: sample.stack.map(|stack| (stack, None)),
                    ns: sample.cpu_ns,
                })
            })
            .collect();
        let mut frames = HashMap::new();
        for key in samples.iter().filter_map(|sample| sample.stack) {
            frames.entry(key).or_insert_with(|| stacks.frames(key.0));
        }
        Some(Self::new(meta, timeline, window, Of::Cpu, samples, frames))
    }

    /// Of waits; `None` of a recording without their stacks.
    fn of_waits(recording: &'a Recording, window: Window) -> Option<Self> {
        let Recording { meta, timeline, .. } = recording;
        let stacks = Stacks::of(timeline)?;
        let samples: Vec<Sample<'_>> = waits_by_process(timeline, window)
            .filter_map(|(wait, process)| {
                let entity = timeline.entities.get(wait.entity)?;
                Some(Sample {
                    at: wait.until,
                    thread: (entity.entity.kind == EntityKind::Thread).then_some(entity),
                    process,
                    stack: Some((wait.stack.unwrap_or(MISSING), Some(wait.class))),
                    ns: wait.weight_ns,
                })
            })
            .collect();
        if samples.is_empty() {
            return None;
        }
        let mut frames = HashMap::new();
        for key in samples.iter().filter_map(|sample| sample.stack) {
            frames.entry(key).or_insert_with(|| {
                let (stack, class) = key;
                let what = class.map(|class| Frame {
                    function: Some(class.look().map_or(class.label(), |look| look.label)),
                    module: "",
                    address: 0,
                });
                let above = (stack != MISSING).then(|| stacks.waiting_frames(stack));
                what.into_iter()
                    .chain(above.into_iter().flatten())
                    .collect()
            });
        }
        Some(Self::new(
            meta,
            timeline,
            window,
            Of::Waits,
            samples,
            frames,
        ))
    }

    fn new(
        meta: &Meta,
        timeline: &Timeline,
        window: Window,
        of: Of,
        samples: Vec<Sample<'a>>,
        stacks: HashMap<StackKey, Vec<Frame<'a>>>,
    ) -> Self {
        let clock = WallClock::of(&meta.identity, timeline);
        Self {
            of,
            begin_utc_ns: clock.at(window.start).unwrap_or_default(),
            window,
            samples,
            stacks,
        }
    }

    /// The frames of a sample, the innermost first.
    pub(super) fn frames(&self, sample: &Sample<'_>) -> &[Frame<'a>] {
        let frames = sample.stack.and_then(|stack| self.stacks.get(&stack));
        frames.map_or(&[], Vec::as_slice)
    }
}

/// The id of a process or thread, by its path: `pid:17@99`.
fn id_of(record: &EntityRecord) -> u32 {
    let path = record.entity.path.rsplit('/').next().unwrap_or_default();
    let digits = path.split([':', '@']).nth(1);
    digits.and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// Writes a profile in one of the formats.
type Writing = fn(&Profile<'_>, &mut dyn Write) -> Result<()>;

pub(super) fn export(
    arguments: &Export,
    path: &Path,
    recording: &Recording,
    window: Option<Window>,
) -> Result<()> {
    let window = window.unwrap_or(recording.timeline.window);
    let profile = match arguments.waits {
        true => Profile::of_waits(recording, window),
        false => Profile::of(recording, window),
    };
    let Some(profile) = profile else {
        let what = if arguments.waits { " of waits" } else { "" };
        bail!("the recording has no call stacks{what}: {WHY_NO_STACKS}");
    };
    let (ending, write): (&str, Writing) = match arguments.format() {
        ExportFormat::Folded => (".folded", folded::write),
        ExportFormat::Pprof => (".pb.gz", pprof::write),
        ExportFormat::Speedscope => (".speedscope.json", speedscope::write),
        _ => (".perfetto-trace", perfetto::write),
    };
    let out = destination(arguments, path, ending);
    let held = place(&out)?;
    let entry = |_: &File| Entry::File(held.folder.clone(), held.name.clone());
    let made = TemporaryOutput::make(|| held.folder.create_file(&held.name), entry);
    let (_unfinished, file) = made.map_err(refused(&out))?;
    let mut buffered = BufWriter::new(&file);
    let written = write(&profile, &mut buffered).and_then(|()| Ok(buffered.flush()?));
    if written.is_err() {
        let _ = held.folder.remove(&held.name);
    }
    written.with_context(|| format!("cannot write {}", out.display()))?;
    let bytes = file.metadata().map_err(refused(&out))?.len();
    let samples = u32::try_from(profile.samples.len()).unwrap_or(u32::MAX);
    let what = if arguments.waits { "wait" } else { "sample" };
    // The weights are those of the time in which waits were traced.
    let traced = analysis::stacks::traced(&recording.timeline, window);
    let note = match arguments.waits && traced < 1.0 {
        true => format!(
            " They were traced in {} of the time.",
            analysis::percent(traced)
        ),
        false => String::new(),
    };
    outputs::say(&format!(
        "Saved {}: {}, {}.{note} {}",
        out.display(),
        analysis::count(samples, what),
        size(bytes),
        opened_by(arguments.format(), &out)
    ));
    Ok(())
}

/// Writes every format to nowhere, for the fuzzer.
pub(super) fn every_format(recording: &Recording) -> Result<()> {
    let formats: [Writing; 4] = [
        folded::write,
        pprof::write,
        speedscope::write,
        perfetto::write,
    ];
    let window = recording.timeline.window;
    let profiles = [
        Profile::of(recording, window),
        Profile::of_waits(recording, window),
    ];
    for (profile, write) in profiles
        .iter()
        .flatten()
        .flat_map(|it| formats.map(|write| (it, write)))
    {
        write(profile, &mut std::io::sink())?;
    }
    Ok(())
}

/// What opens the file.
fn opened_by(format: ExportFormat, out: &Path) -> String {
    let out = out.display();
    match format {
        ExportFormat::Folded => format!("Draw it: flamegraph.pl {out} > flame.svg"),
        ExportFormat::Pprof => format!("Look at it: go tool pprof -http=: {out}"),
        ExportFormat::Speedscope => format!("Look at it: drop {out} on https://www.speedscope.app"),
        _ => format!("Look at it: open {out} at https://ui.perfetto.dev"),
    }
}
