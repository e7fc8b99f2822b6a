//! Timelines drawn in text: what a test is about is seen, not computed.
//!
//! ```text
//! cpus 2  clients 10
//! busy      ####################
//! run x10   22222222222222222222
//! wait      33333333333333333333
//! blocked   S232
//! tps       99999999999999999999
//! ```
//!
//! The first lines are settings: words and their values, in pairs. Then one lane per line: a name,
//! how many of it (`x10`), a cell per second, a control group. A digit is so many tenths, `#` is 1,
//! `+` is 1.1, `-` hides the rows of that second. What is hidden goes on as in the cell before it,
//! so a hole in the middle of an even lane changes no mean. A lane that is all holes has no rows.
//!
//! | lane | a cell is |
//! |---|---|
//! | `busy` | part of the CPUs' time busy; one lane for all CPUs, or one lane each |
//! | `steal`, `iowait` | part of each CPU's time; the rest is idle |
//! | `run xN`, `wait` | of each of N serving threads: part of its time on a CPU, waiting for one |
//! | `blocked` | state letters and system calls that they are seen in, in turn, second by second: `S232 D75` |
//! | `gen xN`, `genwait` | the same of each thread of the generator |
//! | `rest PATH` | CPU used by one other process, in CPUs; several lanes are children of one parent |
//! | `recorder` | CPU used by the recorder, in tenths of a CPU |
//! | `missed` | tens of deadlines that the sampler missed |
//! | `tps`, `ms`, `lag` | thousands of operations per second, tens of ms of latency and of lag |
//! | `throttled PATH` | part of the wall time for which the queues of a group were held back, each CPU |
//! | `cpu`, `io`, `memory` | pressure `some` of the machine; with a path, of that v2 group |
//!
//! Latency without an `ms` lane is that of a closed loop: clients / throughput.
//!
//! | setting | default | is |
//! |---|---|---|
//! | `cpus` | 2 | CPUs of the machine |
//! | `allowed` | all | CPUs that the target's affinity allows |
//! | `clients`, `rate` | 10, none | what the generator was asked for |
//! | `quota` | none | tenths of a CPU that the throttled group may use |
//! | `group` | `/server` | where the target lives; groups above it come to be by themselves |
//! | `tail` | 0 | ms of a last short bin behind the drawing |
//!
//! Time begins at 100 s since boot. Rows are those a sampler would write: every 100 ms (processes
//! and the recorder 1 s, pressure 2 s), and of an unchanged stretch only its two ends.

mod build;
mod lanes;
mod meta;
mod people;
mod rows;

pub use build::SIGNAL;

use model::{Answer, Finding, Judged, LedgerClass, Meta, Report, Timeline, Timestamp, Window};

/// A drawing as what a recording would hold.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub timeline: Timeline,
    pub meta: Meta,
}

/// Reads a drawing.
pub fn drawn(text: &str) -> Drawn {
    build::build(&lanes::parse(text))
}

impl Drawn {
    /// The answer over the steady phase.
    pub fn diagnose(&self) -> Report {
        analysis::diagnose(&self.timeline, &self.meta, None)
    }

    /// The answer over an asked-for window.
    pub fn diagnose_over(&self, window: Window) -> Report {
        analysis::diagnose(&self.timeline, &self.meta, Some(window))
    }
}

/// Seconds of the drawing, the first cell being `[0, 1)`.
pub fn seconds(from: f64, to: f64) -> Window {
    Window::new(at(from), at(to))
}

fn at(second: f64) -> Timestamp {
    Timestamp::from_seconds(100.0 + second)
}

/// The headline.
pub fn headline(report: &Report) -> &Finding {
    &report.verdict.findings[0]
}

/// What was said of a cause.
pub fn judged<'a>(report: &'a Report, cause: &str) -> &'a Judged {
    let mut judged = report.verdict.judged.iter();
    judged
        .find(|judged| judged.cause == cause)
        .expect("every cause is judged")
}

/// The answer to a cause with its sentence, for a golden.
pub fn said(report: &Report, cause: &str) -> String {
    let judged = judged(report, cause);
    let answer = match judged.answer {
        Answer::Present => "present",
        Answer::Absent => "absent",
        Answer::CannotTell => "cannot tell",
    };
    format!("{answer}: {}", judged.sentence)
}

/// The headline in lines: who, how sure, and every sentence of it.
pub fn told(report: &Report) -> String {
    let finding = headline(report);
    let interval = finding.share_interval.map_or(String::new(), |interval| {
        format!(" ({:.3} to {:.3})", interval.low, interval.high)
    });
    let share = finding
        .share
        .map_or("none".to_owned(), |share| format!("{share:.3}"));
    let mut lines = vec![
        format!(
            "{} | {} | {} | {share}{interval}",
            finding.cause,
            finding.entity,
            finding.confidence.word()
        ),
        finding.sentence.clone(),
    ];
    lines.extend(finding.would_help.iter().map(|remedy| {
        let gain = remedy.gain.map_or(String::new(), |gain| {
            format!(": at most +{:.0} %", gain * 100.0)
        });
        let because = match remedy.because.as_str() {
            "" => String::new(),
            because => format!(" ({because})"),
        };
        format!("helps: {}{gain}{because}", remedy.change)
    }));
    if !finding.would_not_help.is_empty() {
        lines.push(format!("not: {}", finding.would_not_help.join(", ")));
    }
    lines.extend(
        finding
            .contradictions
            .iter()
            .map(|line| format!("but: {line}")),
    );
    lines.push(format!("wrong if: {}", finding.prove_wrong));
    lines.join("\n") + "\n"
}

/// Part of the whole that went to a class.
pub fn part(report: &Report, class: LedgerClass) -> f64 {
    let items = report
        .verdict
        .account
        .iter()
        .flat_map(|account| &account.items);
    let of_class = items.filter(|item| item.class == class);
    of_class.map(|item| item.share).sum()
}
