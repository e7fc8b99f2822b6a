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
//! | `hot xN`, `hotwait` | the same of N more serving threads, which do something else |
//! | `gen xN`, `genwait` | the same of each thread of the generator |
//! | `rest PATH` | CPU used by one other process, in CPUs; several lanes are children of one parent |
//! | `recorder` | CPU used by the recorder, in tenths of a CPU |
//! | `missed` | tens of deadlines that the sampler missed |
//! | `tps`, `ms`, `lag` | thousands of operations per second (`*N`: N times as many), tens of ms of latency and of lag |
//! | `throttled PATH` | part of the wall time for which the queues of a group were held back, each CPU |
//! | `cpu`, `io`, `memory` | pressure `some` of the machine; with a path, of that v2 group |
//! | `TABLE.COLUMN WHO *N` | of any sensor's table: a cell times N, per second where the column is a counter |
//! | `TABLE.COLUMN WHO =OTHER` | the same of a column whose values are entities: above 0 it is OTHER |
//!
//! A thread that a lane of `thread_time` draws has accounts: on a CPU as its `run` says, and waiting for
//! input in what the lanes leave of its time.
//!
//! WHO is a path (`/server`), a device of a group (`/server:254:0`), a disk, filesystem or interface
//! by its name, `cN` (a connection that the Nth serving process holds), `cpuN`, `calls:N` (what `server` exchanges at port N of another machine), `workerN`, `hotN` (a
//! serving process, or its thread), `loaderN` (a thread of the generator), `server`, `loadgen`, `otherN` (of
//! the Nth `rest` lane), `A<B` (the waits of a pool of threads A that a pool B ends). Without
//! WHO it is the machine, every CPU, or every serving thread of `run`. What such a lane draws goes
//! before what other lanes say of that column, and what they hide stays hidden; all lanes about one
//! entity make its rows together. Of sessions and databases there is a row a second, changed or not.
//!
//! Latency without an `ms` lane is that of a closed loop: clients / throughput.
//!
//! | setting | default | is |
//! |---|---|---|
//! | `cpus` | 2 | CPUs of the machine |
//! | `allowed` | all | CPUs that the target's affinity allows |
//! | `which` | not recorded | their numbers: `0,2` |
//! | `clients`, `rate` | 10, none | what the generator was asked for |
//! | `quota` | none | tenths of a CPU that the throttled group may use |
//! | `group` | `/server` | where the target lives; groups above it come to be by themselves |
//! | `memory_group`, `io_group` | `group` | where its memory and its I/O are limited, if elsewhere |
//! | `blocked` | `S232` | states and system calls that serving threads are seen in, in turn, second by second: `S232 D75`; `S232!0x03000004@600` has a wait event and a wait channel |
//! | `hotblocked` | `S232` | the same of the `hot` threads |
//! | `complains` | nothing | a kind of complaint of the workload, how often, and its first line |
//! | `ran`, `spun` | not recorded | functions in which each serving thread was met on a CPU, working or in a loop that waits: `innermost<caller<main`; `x0.25` behind it is the part of a sample that each stands for, `x0.1 x0.9` that in each half |
//! | `slept` | not recorded | the same in futex; behind ` by ` where those were who ended that |
//! | `adapter` | `drawn` | who listened to the workload; `none` for nobody |
//! | `tail` | 0 | ms of a last short bin behind the drawing |
//!
//! `blocked`, `hotblocked`, `complains`, `ran`, `spun` and `slept` have a line each.
//!
//! Time begins at 100 s since boot. Rows are those a sampler would write: every 100 ms (processes
//! and the recorder 1 s, pressure 2 s), and of an unchanged stretch only its two ends.

mod build;
mod lanes;
mod meta;
mod people;
mod rows;
mod stacks;
mod tables;

pub use build::SIGNAL;

use model::{
    Answer, Finding, GainOf, Judged, LedgerClass, Meta, Report, Timeline, Timestamp, Window,
};

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

    /// The same with all that is shown beside it, spikes among them.
    pub fn answer(&self) -> Report {
        analysis::answer(&self.timeline, &self.meta, None)
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
        let of = match remedy.gain_of {
            Some(GainOf::ResponseTime) => "-",
            _ => "+",
        };
        let percent = |share: f64| format!("{of}{:.0} %", share * 100.0);
        let gain = remedy.gain_interval.map_or("not known".to_owned(), |it| {
            let model = &remedy.gain_model;
            format!("{} to {} by {model}", percent(it.low), percent(it.high))
        });
        let because = match remedy.because.as_str() {
            "" => String::new(),
            because => format!(" ({because})"),
        };
        format!("helps: {}: {gain}{because}", remedy.change)
    }));
    if !finding.would_not_help.is_empty() {
        lines.push(format!("not: {}", finding.would_not_help.join(", ")));
    }
    lines.extend(
        finding
            .evidence_against
            .iter()
            .map(|line| format!("but: {line}")),
    );
    lines.push(format!("wrong if: {}", finding.to_confirm));
    lines.join("\n") + "\n"
}

/// A drawing with lanes drawn anew: each line of `lines` takes the place of the lane or setting that
/// begins as it does (by its name, and by whom it is about), or comes at the end.
pub fn with(drawing: &str, lines: &str) -> String {
    let head = |line: &str| -> String {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let about =
            words.find(|word| word.starts_with(char::is_alphabetic) || word.starts_with('/'));
        let about = about.filter(|_| name.contains('.') || word_is_path(about));
        format!("{name} {}", about.unwrap_or_default())
    };
    let mut new: Vec<&str> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut text = String::new();
    for line in drawing.lines() {
        let place = new.iter().position(|new| head(new) == head(line));
        text += place.map_or(line, |place| new.remove(place));
        text.push('\n');
    }
    text + &new.join("\n") + "\n"
}

fn word_is_path(word: Option<&str>) -> bool {
    word.is_some_and(|word| word.starts_with('/'))
}

/// What is said of a cause in a drawing and in changed ones, with the headline of each where that is
/// another cause; for a golden.
pub fn answers(drawing: &str, cause: &str, changes: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (label, lines) in changes {
        let report = drawn(&with(drawing, lines)).diagnose();
        text += &format!("{label}\n  {}\n", said(&report, cause));
        if headline(&report).cause != cause {
            text += &format!("  headline: {}\n", headline(&report).cause);
        }
    }
    text
}

/// The causes that are present, by their shares.
pub fn listed(report: &Report) -> String {
    let findings = report.verdict.findings.iter().map(|finding| {
        let share = finding
            .share
            .map_or("none".to_owned(), |share| format!("{share:.2}"));
        format!("{} {} {share}", finding.cause, finding.entity.name)
    });
    findings.collect::<Vec<_>>().join(", ")
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
