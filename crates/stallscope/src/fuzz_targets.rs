//! What of this crate meets bytes from outside, for the fuzzer (folder `fuzz/`): the command line, and
//! everything that is written of a recording from elsewhere.
//!
//! It runs no workload and writes where it is told to only. What must hold is asserted here, next to
//! what it must hold of.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::Parser as _;
use model::Report;
use recording::Recording;

use crate::arguments::{Arguments, Command, RecordingOptions, Run};
use crate::duration::parse_duration;
use crate::part::{Instant, Part};
use crate::{export, outputs, page};

/// The longest message about a command line, less what it quotes of it: the help of `run` is the longest.
const MOST_SAID: usize = 16 << 10;

/// A command line, the words behind the program's name; a window is asked of `recording`.
///
/// # Panics
/// When a message is empty or endless, when what was understood says something else once it is written
/// and read again, or when a window is judged that was not asked for.
pub fn command_line(words: &[OsString], recording: &Recording) {
    let typed: usize = words.iter().map(|word| word.len()).sum();
    let program = [OsString::from("stallscope")];
    let command = match Arguments::try_parse_from(program.iter().chain(words)) {
        Ok(arguments) => arguments.command,
        Err(error) => return sentence(&error.to_string(), typed),
    };
    match &command {
        Command::Run(run) => workload(run, recording, typed),
        Command::Record(record) => {
            named(&record.recording);
            record.length.iter().for_each(|length| again(*length));
            for trigger in &record.segments.trigger {
                assert_eq!(trigger.to_string().parse().as_ref(), Ok(trigger));
            }
            if let Err(error) = record.segments.options() {
                sentence(&outputs::sentence(&error), typed);
            }
        }
        Command::Explain(explain) => {
            let last = explain.last;
            window(
                Part {
                    last,
                    ..Part::between(explain.from, explain.to)
                },
                recording,
            );
        }
        Command::Report(report) => {
            let last = report.last;
            window(
                Part {
                    last,
                    ..Part::between(report.from, report.to)
                },
                recording,
            );
        }
        Command::Export(export) => {
            if let Err(error) = export::check(export) {
                sentence(&outputs::sentence(&error), typed);
            }
        }
        Command::Compare(_)
        | Command::Doctor(_)
        | Command::Fetch(_)
        | Command::Import(_)
        | Command::Instances { .. }
        | Command::Mark(_)
        | Command::Node
        | Command::Size(_)
        | Command::Prove(_)
        | Command::Guardian { .. }
        | Command::Sweep(_)
        | Command::Symbolize(_) => {}
    }
}

fn sentence(said: &str, typed: usize) {
    // What was typed may be quoted a few times, each byte that is no UTF-8 as three.
    let most = MOST_SAID + 12 * typed;
    assert!(!said.trim().is_empty() && said.len() < most, "{said}");
}

fn workload(run: &Run, recording: &Recording, typed: usize) {
    named(&run.recording);
    assert!(!run.workload.is_empty(), "there is something to run");
    let mut nodes = run.nodes.on.iter().map(|node| node.text());
    assert!(!nodes.any(|node| node.is_empty() || node.starts_with('-')));
    let report = analysis::diagnose(&recording.timeline, &recording.meta, None);
    for bar in &run.fail_if {
        if let Some(violated) = bar.violated(&report) {
            sentence(&violated, typed);
        }
    }
}

/// A target stands for the same when it is written as it is shown.
fn named(options: &RecordingOptions) {
    for target in &options.target {
        let shown = target.spec.to_string();
        let read: targets::NamedTarget = shown.parse().expect("what is shown can be typed");
        assert_eq!(read.spec.to_string(), shown);
    }
}

/// A length of time is the same when it is typed in seconds.
fn again(length: Duration) {
    let typed = format!("{}s", length.as_secs_f64());
    let read = parse_duration(&typed).expect("seconds can be typed");
    // Seconds are typed as a number of 53 bits.
    let grain = Duration::from_nanos(1) + length / (1 << 30) / (1 << 20);
    assert!(read.abs_diff(length) <= grain, "{typed}: {read:?}");
}

fn window(part: Part, recording: &Recording) {
    let lengths = [part.from, part.to].into_iter().flatten();
    let lengths = lengths.filter_map(|it| match it {
        Instant::After(length) => Some(length),
        _ => None,
    });
    lengths.chain(part.last).for_each(again);
    let Recording { timeline, meta, .. } = recording;
    match part.window(recording) {
        Ok(window @ Some(_)) => {
            let report = analysis::diagnose(timeline, meta, window);
            let whole = timeline.window;
            let inside = report.window.intersect(whole);
            assert_eq!(inside, Some(report.window), "of {whole:?}");
        }
        Ok(None) => {}
        Err(error) => sentence(&outputs::sentence(&error), 0),
    }
}

/// A recording in every form in which it goes out: the verdict as text and as JSON, the page, its tables,
/// and the bundle's recording, which is made in `folder`.
///
/// # Panics
/// When something would command a terminal, leaves its element of the page, or cannot be written although
/// it could be read.
pub fn written(recording: &Recording, report: &Report, folder: &Path) {
    let harmless = |text: &str| {
        let broken = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(broken, None, "{text:?}");
    };
    for detail in [outputs::Detail::Short, outputs::Detail::Full] {
        harmless(&outputs::terminal(report, detail));
    }
    harmless(&outputs::json_text(report).expect("a report is JSON"));
    match page::draw(recording, report, "fuzzed.stall") {
        Ok(page) => {
            let page = page::data(&page).expect("memory takes it");
            harmless(&page);
            let (elements, opened) = (page.lines().count(), page.matches('<').count());
            assert_eq!(opened, 2 * elements, "each is opened and closed");
        }
        Err(error) => sentence(&outputs::sentence(&error), 0),
    }
    let texts = export::everything(recording, folder);
    texts.iter().for_each(|text| harmless(text));
}
