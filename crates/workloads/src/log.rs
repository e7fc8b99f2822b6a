//! Logs in which a load generator writes the latency of single operations, for quantiles.
//!
//! An adapter says which options make its tool write one and how to read a line; where the files are
//! and what becomes of them is the business of whoever runs the tool.

use std::ffi::OsString;
use std::path::Path;

use model::{Column, EntityKind, Quality, Sentence, Table, Unit};

/// Whether a tool can be made to write a log of single operations.
pub enum LogOffer {
    /// It can.
    Possible(LatencyLog),
    /// It cannot as its command was typed: why, for the user.
    Refused(Sentence),
}

/// A log that a tool can be made to write.
pub struct LatencyLog {
    /// How many words of the command stand before them: the tool's name, and what starts it elsewhere.
    pub(crate) behind: usize,
    /// The options that turn it on.
    pub(crate) options: Vec<OsString>,
    /// The option that its path is attached to: the files are named after it.
    pub(crate) prefix_option: &'static str,
    /// Reads a line.
    pub(crate) parse: fn(&[u8]) -> Logged,
}

/// A line of such a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logged {
    /// A completed operation.
    Completed {
        /// When it was completed, ns since 1970.
        at_unix_ns: i64,
        /// How long it took, ns; from its scheduled start where there is a schedule.
        latency_ns: i64,
    },
    /// One that failed or was skipped: it has no latency.
    NotCompleted,
    /// Nothing that is understood: a line cut off by the tool's end.
    Unknown,
}

impl LatencyLog {
    /// Adds the options to a command, with the path that the log's files begin with. Returns them as
    /// the user is told about them, without the path.
    pub fn add_to(&self, argv: &mut Vec<OsString>, prefix: &Path) -> String {
        let mut path = OsString::from(self.prefix_option);
        path.push("=");
        path.push(prefix);
        // Right behind the tool's name no option's value and no `--` can come before them.
        let options = self.options.iter().cloned().chain([path]);
        let at = argv.len().min(self.behind);
        argv.splice(at..at, options);
        let words: Vec<_> = self.options.iter().map(|it| it.to_string_lossy()).collect();
        words.join(" ")
    }

    /// Reads a line without its end.
    pub fn line(&self, line: &[u8]) -> Logged {
        (self.parse)(line)
    }
}

static LATENCY_SAMPLE_COLUMNS: &[Column] = &[Column::gauge(
    "latency_ns",
    Unit::Nanoseconds,
    "Latency of one operation that was completed at the row's time, sampled at random.",
    "the tool's log",
)
.quality(Quality::Sampled)];

/// Single operations, some of all: one row each.
pub static LATENCY_SAMPLE: Table = Table::new(
    "latency_sample",
    EntityKind::Workload,
    "Latency of single operations, sampled at random.",
    LATENCY_SAMPLE_COLUMNS,
);
