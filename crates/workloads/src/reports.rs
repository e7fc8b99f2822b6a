//! Load generators that report in lines of text: what their adapters have in common.
//!
//! A tool is a `Tool`: its options in a table, and a function that takes one whole line of its output and puts what it
//! says into the closing report, and into bins where it says something while it runs. A line that the end of the output
//! cut off is not read, because it may end in the middle of a number. Throughput and latency of a window come from bins
//! alone; where there are none they are the kernel's request times, as what is said at the end is of the whole run.

mod arguments;
mod live;
pub(crate) mod measure;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use model::{
    EntityKind, ExitKind, LatencyQuantile, Load, Part, Provenance, ScriptSummary, Sentence,
    Summary, Timestamp, sentence,
};

pub(crate) use arguments::{Arguments, Means, Opt, Style, opt};
pub(crate) use live::Live;

use crate::{
    Adapter, Adjust, Bin, Ending, LogOffer, Prepared, Quantity, Reader, ResultsFile, ResultsReader,
    Stream,
};

/// The word for a rate whose operations the tool has no own word for.
const PER_SECOND: &str = "per second";
/// More kinds of operations than any tool has are not told apart.
const MOST_KINDS: usize = 256;
/// More quantiles than any tool prints are not kept.
const MOST_QUANTILES: usize = 32;
/// A line longer than this is none that an option of ours asked for.
const LONGEST_HIDDEN: usize = 512;

/// A load generator that reports in lines.
pub(crate) struct Tool {
    /// The name that people use, and `--workload`.
    pub(crate) name: &'static str,
    /// The file names that its program has.
    pub(crate) programs: &'static [&'static str],
    /// What `java` runs where it is one of its: the file name of a jar, or a main class.
    pub(crate) java: &'static [&'static str],
    /// How its options are written.
    pub(crate) style: Style,
    /// Its options that take a value, and those that matter.
    pub(crate) options: &'static [Opt],
    /// Words of which one makes it a load; none where every command line but an empty one does.
    pub(crate) needs: &'static [&'static str],
    /// Whether it makes a load without a word.
    pub(crate) runs_bare: bool,
    /// When it reports while it runs.
    pub(crate) speaks: Speaks,
    /// An option that makes it do so, or more often.
    pub(crate) adds: Option<Added>,
    /// What the bins hold where it does.
    pub(crate) gives: &'static [Quantity],
    /// What one of the server's processes is called.
    pub(crate) serving_unit: &'static str,
    /// What it does without options.
    pub(crate) load: fn() -> Load,
    /// When what it says holds.
    pub(crate) holds: Holds,
    /// Reads the file of results that its command line names.
    pub(crate) results: Option<Results>,
    /// Takes a whole line of its output.
    pub(crate) read: fn(&mut Report, Stream, &str),
    /// Takes what it draws over in one line of standard output while it runs.
    pub(crate) drawn: fn(&mut Report, &str),
}

/// An option that is added to a command.
pub(crate) struct Added {
    /// The option as it is written.
    pub(crate) option: &'static str,
    /// Whether a word of the command asks for the same.
    pub(crate) unless: fn(&str) -> bool,
    /// What the lines begin with that are there for it alone, and are kept from the user; `None` where he asked for
    /// such lines anyway.
    pub(crate) hides: Option<&'static str>,
}

/// A file of results, which an option of `Means::Results` names.
pub(crate) struct Results {
    /// What stands before the path: `json=`.
    pub(crate) prefix: &'static str,
    /// Begins to read it, for a run that began at this time, ns since 1970.
    pub(crate) read: fn(i64) -> Box<dyn ResultsReader>,
}

/// When a tool reports while it runs.
#[derive(Clone, Copy)]
pub(crate) enum Speaks {
    /// Never: it reports at its end.
    Never,
    /// Always.
    Always,
    /// Where a word of the command asks for it, or an option was added.
    IfAsked(fn(&str) -> bool),
    /// But where a word of the command asks for another form.
    Unless(fn(&str) -> bool),
}

/// When numbers of a report hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    /// As soon as their line has come.
    AtOnce,
    /// With the line that a whole report ends with: before, the same numbers are said of a part of the run.
    AtEnd,
    /// As before, and only where the tool succeeded: nothing in its output says that it is whole.
    WithSuccess,
}

/// What a tool that is like most others has.
pub(crate) const PLAIN: Tool = Tool {
    name: "",
    programs: &[],
    java: &[],
    style: Style::Words,
    options: &[],
    needs: &[],
    runs_bare: false,
    speaks: Speaks::Never,
    adds: None,
    gives: &[],
    serving_unit: "process",
    load: Load::default,
    holds: Holds::AtOnce,
    results: None,
    read: |_, _, _| {},
    drawn: |_, _| {},
};

/// What a tool's report has said so far.
#[derive(Default)]
pub(crate) struct Report {
    /// The numbers.
    pub(crate) summary: Summary,
    /// The part of the report that the last heading began, as its adapter numbers them; 0 before the report.
    pub(crate) part: u8,
    /// Whether a line came that a whole report ends with.
    pub(crate) is_whole: bool,
    /// The name under which the tool reports, where several may.
    pub(crate) reporter: Option<String>,
    /// How many of what its adapter counts came so far.
    pub(crate) ordinal: u32,
    /// What a later line adds to.
    pub(crate) sum: f64,
    /// The names of a table's columns.
    pub(crate) columns: Vec<String>,
    /// A document of several lines, as far as it came.
    text: String,
    /// Whether the document's last line came.
    is_closed: bool,
    /// The bins.
    pub(crate) live: Live,
}

impl Report {
    /// Adds failed operations.
    pub(crate) fn add_failed(&mut self, count: Option<u64>) {
        if let Some(count) = count {
            let failed = self.summary.failed.unwrap_or(0);
            self.summary.failed = Some(failed.saturating_add(count));
        }
    }

    /// Adds completed operations.
    pub(crate) fn add_completed(&mut self, count: Option<u64>) {
        if let Some(count) = count {
            let completed = self.summary.completed.unwrap_or(0);
            self.summary.completed = Some(completed.saturating_add(count));
        }
    }

    /// Takes failed operations that were counted among the completed ones.
    pub(crate) fn part_failed(&mut self, failed: Option<u64>) {
        self.add_failed(failed);
        let completed = self.summary.completed.zip(failed);
        self.summary.completed = completed.and_then(|(all, failed)| all.checked_sub(failed));
    }

    /// Adds a quantile of latency, as it was printed; `None` is one that is not understood. Where a rank comes again, as
    /// in a report of each interval, the last one stands.
    pub(crate) fn quantile(&mut self, q: f64, latency_ns: Option<i64>) {
        add_quantile(&mut self.summary.latency_quantiles, q, latency_ns);
    }

    /// Whether a line is of a document that is laid out over many lines, between those that open and close it. It is kept up
    /// to so many bytes; a longer one is none.
    pub(crate) fn is_document(&mut self, line: &str, ends: [&str; 2], most: usize) -> bool {
        let [open, close] = ends;
        if self.text.is_empty() && line == open {
            self.text = open.to_owned();
            return true;
        }
        if self.text.is_empty() {
            return false;
        }
        if self.text.len() + line.len() > most {
            self.text.clear();
            return true;
        }
        // Lines of others between are none of it.
        if line
            .trim_start()
            .starts_with(|c: char| "\"{}[]-".contains(c) || c.is_ascii_digit())
        {
            self.text.push_str(line);
        }
        self.is_closed = line.trim_end() == close;
        true
    }

    /// The document, once it is closed.
    pub(crate) fn document(&mut self) -> Option<String> {
        std::mem::take(&mut self.is_closed).then(|| std::mem::take(&mut self.text))
    }

    /// The part of the report that is about one kind of operation, made where it is not there yet.
    pub(crate) fn kind(&mut self, name: &str) -> &mut ScriptSummary {
        let scripts = &mut self.summary.scripts;
        let at = scripts.iter().position(|it| it.name == name);
        let at = at.unwrap_or_else(|| {
            if scripts.len() == MOST_KINDS {
                return MOST_KINDS - 1;
            }
            scripts.push(ScriptSummary {
                name: name.to_owned(),
                ..ScriptSummary::default()
            });
            scripts.len() - 1
        });
        &mut scripts[at]
    }
}

/// As `Report::quantile`, in the order of ranks.
pub(crate) fn add_quantile(all: &mut Vec<LatencyQuantile>, q: f64, latency_ns: Option<i64>) {
    let Some(latency_ns) = latency_ns.filter(|_| (0.0..=1.0).contains(&q)) else {
        return;
    };
    let said = LatencyQuantile { q, latency_ns };
    let at = all.partition_point(|it| it.q < q);
    if let Some(before) = all.get_mut(at).filter(|it| it.q == q) {
        *before = said;
    } else if all.len() < MOST_QUANTILES {
        all.insert(at, said);
    }
}

/// A load of its own words, closed loop.
pub(crate) fn closed_loop(clients: Option<u32>, clients_option: &str) -> Load {
    Load {
        clients,
        threads: None,
        rate: None,
        rate_unit: PER_SECOND.to_owned(),
        clients_option: Some(clients_option.to_owned()),
        rate_option: None,
    }
}

impl Adapter for Tool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn prepare(&self, argv: &[OsString], adjust: Adjust) -> Option<Prepared> {
        let (program, words) = argv.split_at(self.program_words(argv)?);
        let arguments = Arguments::parse(words, self.style, self.options);
        let is_needed = |word: &OsString| self.needs.iter().any(|needed| word == needed);
        let is_load = arguments.is_load
            && (!words.is_empty() || self.runs_bare)
            && (self.needs.is_empty() || words.iter().any(is_needed));
        if !is_load {
            return None;
        }
        let load = arguments.applied_to((self.load)());
        let has = |asks: fn(&str) -> bool| words.iter().any(|word| asks(&word.to_string_lossy()));
        let adds = self.adds.as_ref().filter(|added| !has(added.unless));
        let added = adds.filter(|_| adjust == Adjust::Allowed);
        let mut prepared = self.prepared(argv, load, added.and_then(|it| it.hides));
        if let Some(added) = added {
            // Right behind the program no option's value can come before it.
            prepared.argv.insert(program.len(), added.option.into());
            prepared.notices.push(sentence!(
                "{}: added {} (--no-adjust leaves it alone)",
                self.name,
                added.option
            ));
        }
        prepared.results = self.results.as_ref().and_then(|results| {
            let mut paths = arguments.results.iter();
            let path = paths.find_map(|it| it.strip_prefix(results.prefix))?;
            (!path.is_empty()).then(|| ResultsFile {
                path: path.into(),
                read: results.read,
            })
        });
        let speaks = match self.speaks {
            Speaks::Never => false,
            Speaks::Always => true,
            Speaks::IfAsked(asks) => added.is_some() || has(asks),
            Speaks::Unless(asks) => !has(asks),
        };
        if speaks {
            prepared.gives = self.gives;
            if self.gives.contains(&Quantity::Latency) {
                prepared.latency = Provenance::ToolMean;
            }
        }
        Some(prepared)
    }

    fn listen(&self, argv: &[OsString]) -> Prepared {
        let load = Load {
            clients: None,
            threads: None,
            ..(self.load)()
        };
        self.prepared(argv, load, None)
    }
}

impl Tool {
    /// How many words name the program; `None` for another one.
    fn program_words(&self, argv: &[OsString]) -> Option<usize> {
        let program = file_name(argv.first()?)?;
        if self.programs.contains(&program) {
            return Some(1);
        }
        let is_own = |word: &OsString| file_name(word).is_some_and(|it| self.java.contains(&it));
        let words = if program == "java" { &argv[1..] } else { &[] };
        words.iter().position(is_own).map(|at| at + 2)
    }

    fn prepared(&self, argv: &[OsString], load: Load, hides: Option<&'static str>) -> Prepared {
        Prepared {
            adapter: self.name,
            argv: argv.to_vec(),
            notices: Vec::new(),
            load,
            // Nobody knows yet whether it speaks while it runs.
            latency: Provenance::None,
            gives: &[],
            log: LogOffer::Refused(sentence!(
                "{} writes no log that quantiles could be read from",
                self.name
            )),
            // Who serves it is seen when it connects, and some do their work themselves.
            is_served: false,
            results: None,
            serving_unit: self.serving_unit,
            reader: Box::new(LineReader {
                tool: self.name,
                holds: self.holds,
                hides: hides.map(str::as_bytes),
                read: self.read,
                drawn: self.drawn,
                report: Report::default(),
            }),
        }
    }
}

fn file_name(word: &OsString) -> Option<&str> {
    Path::new(word).file_name().and_then(OsStr::to_str)
}

/// Understands one run.
struct LineReader {
    tool: &'static str,
    holds: Holds,
    hides: Option<&'static [u8]>,
    read: fn(&mut Report, Stream, &str),
    drawn: fn(&mut Report, &str),
    report: Report,
}

impl Reader for LineReader {
    fn line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        // What is drawn over and over in one line ends with what stays there.
        let drawn = line.rsplit(|byte| *byte == b'\r').next().unwrap_or(line);
        self.report.live.arrive(arrived);
        if let Ok(text) = std::str::from_utf8(drawn) {
            (self.read)(&mut self.report, stream, text);
            bins.extend(self.report.live.take());
        }
        let is_ours = self.hides.is_some_and(|start| line.starts_with(start))
            && self.report.live.is_interval();
        !(is_ours && stream == Stream::Stdout && line.len() <= LONGEST_HIDDEN)
    }

    fn drawn(&mut self, stream: Stream, text: &[u8], arrived: Timestamp, bins: &mut Vec<Bin>) {
        if let (Stream::Stdout, Ok(text)) = (stream, std::str::from_utf8(text)) {
            self.report.live.arrive(arrived);
            (self.drawn)(&mut self.report, text);
            bins.extend(self.report.live.take());
        }
    }

    fn last_line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        // The end of a document is whole without a line end: no number can be cut off in it.
        let is_end = !self.report.text.is_empty() && matches!(line, b"}" | b"]");
        !is_end || self.line(stream, line, arrived, bins)
    }

    fn may_hide(&self, stream: Stream, start: &[u8]) -> bool {
        self.hides.is_some_and(|hidden| {
            stream == Stream::Stdout
                && start.len() <= LONGEST_HIDDEN
                && (start.starts_with(hidden) || hidden.starts_with(start))
        })
    }

    fn finish(self: Box<Self>, exit: ExitKind, _: Timestamp) -> Ending {
        let mut summary = self.report.summary;
        let is_success = exit == ExitKind::Code(0);
        let is_whole = self.report.is_whole && (self.holds != Holds::WithSuccess || is_success);
        if !is_whole && self.holds != Holds::AtOnce {
            summary = Summary::default();
        } else if !is_whole {
            // What is counted in several lines is not known before the last of them.
            (summary.completed, summary.failed) = (None, None);
            summary.scripts.clear();
        }
        for kind in &mut summary.scripts {
            kind.name = crate::quote::quote(&kind.name);
        }
        let said = summary != Summary::default();
        summary.complete = said && is_whole;
        let remarks = remarks(self.tool, exit, &summary, said);
        Ending {
            summary: said.then_some(summary),
            remarks,
            ..Ending::default()
        }
    }
}

fn remarks(tool: &str, exit: ExitKind, summary: &Summary, said: bool) -> Vec<Sentence> {
    let tool = Part::name(EntityKind::Workload, crate::quote::quote(tool));
    let mut remarks = Vec::new();
    if !said {
        remarks.push(sentence!(
            "{} printed no report that is understood ({}): only the kernel's request times tell throughput and latency",
            tool.clone(),
            ended(exit)
        ));
    } else if !summary.complete {
        remarks.push(sentence!(
            "the report of {} is cut off or of an unknown version ({}): numbers of it are missing",
            tool.clone(),
            ended(exit)
        ));
    }
    if let Some(failed) = summary.failed.filter(|failed| *failed > 0) {
        remarks.push(sentence!(
            "{} counts {} failed operations ({})",
            tool,
            failed,
            ended(exit)
        ));
    }
    remarks
}

fn ended(exit: ExitKind) -> Sentence {
    match exit {
        ExitKind::Code(code) => sentence!("exit status {}", code),
        ExitKind::Signal(signal) => sentence!("killed by signal {}", signal),
    }
}
