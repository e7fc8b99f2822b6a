//! What an adapter is, and what it gives: the prepared command, and who reads its output.

use std::ffi::OsString;

use crate::bin::Bin;
use crate::{LogOffer, ResultsFile};
use model::{Complaint, ExitKind, Load, Provenance, Sentence, Summary, Timestamp};

/// Understands one load generator.
pub trait Adapter: Sync {
    /// The tool's name, as people say it.
    fn name(&self) -> &'static str;

    /// Prepares `argv` (program first) for a recorded run, or `None` when this is another tool or
    /// not a load run (`pgbench -i`, `pgbench --help`).
    fn prepare(&self, argv: &[OsString], adjust: Adjust) -> Option<Prepared>;

    /// Understands what `argv`, a program of another name, prints: a script around the tool. Nothing is known of
    /// its options, and nothing is added to them.
    fn listen(&self, argv: &[OsString]) -> Prepared;
}

/// An adapter that the user chose, whatever the program is called.
#[derive(Clone, Copy)]
pub struct Chosen(pub(crate) &'static dyn Adapter);

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Chosen").field(&self.0.name()).finish()
    }
}

/// Whether an adapter may add options to the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adjust {
    /// It may, and says so.
    Allowed,
    /// `--no-adjust`: the command is run as typed.
    Forbidden,
}

/// A command ready to be run, with what its command line tells.
pub struct Prepared {
    /// The adapter's name.
    pub adapter: &'static str,
    /// The command to run.
    pub argv: Vec<OsString>,
    /// What was changed, in sentences for the user.
    pub notices: Vec<Sentence>,
    /// The load asked for.
    pub load: Load,
    /// Where latency will come from.
    pub latency: Provenance,
    /// What the bins will hold: nothing where the tool says nothing while it runs.
    pub gives: &'static [Quantity],
    /// The log of single operations that the tool could write for quantiles.
    pub log: LogOffer,
    /// Whether it is known before it connects that somebody else serves it: another load is its own target until then.
    pub is_served: bool,
    /// A file of results that the command line names.
    pub results: Option<ResultsFile>,
    /// What one of the server's processes is called: `backend`.
    pub serving_unit: &'static str,
    /// Understands the output.
    pub reader: Box<dyn Reader>,
}

/// A number of the workload's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Operations completed per second.
    Throughput,
    /// Mean latency.
    Latency,
    /// Mean lag behind the schedule.
    Lag,
    /// Operations that failed.
    Failed,
}

impl Quantity {
    /// All, throughput first.
    pub const ALL: [Quantity; 4] = [
        Quantity::Throughput,
        Quantity::Latency,
        Quantity::Lag,
        Quantity::Failed,
    ];

    /// The word for it: `latency`.
    pub const fn word(self) -> &'static str {
        match self {
            Quantity::Throughput => "throughput",
            Quantity::Latency => "latency",
            Quantity::Lag => "lag",
            Quantity::Failed => "failed",
        }
    }
}

/// The two output streams of a workload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Understands one run's output, line by line.
pub trait Reader: Send {
    /// Takes a whole line without its end (and without a CR before that), with the time at which the
    /// last byte of its text arrived: the line end may come later. Adds the bins that it completes.
    /// Returns false when the line must not reach the user, because it is there only for us.
    fn line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool;

    /// Takes a last line that has no line end: the output may have been cut off within it, and its last number be a
    /// part of one. Otherwise as `line`.
    fn last_line(
        &mut self,
        stream: Stream,
        line: &[u8],
        arrived: Timestamp,
        bins: &mut Vec<Bin>,
    ) -> bool {
        self.line(stream, line, arrived, bins)
    }

    /// Takes what stood in a line until a CR came, as tools draw their progress over and over: the line goes on, or ends
    /// there. Adds bins as `line` does; what is drawn always reaches the user.
    fn drawn(&mut self, _: Stream, _: &[u8], _: Timestamp, _: &mut Vec<Bin>) {}

    /// Whether a line that begins with `start` may turn out to be one of ours: it is then held back
    /// until it is whole. Any other text passes at once, prompts without a line end included.
    fn may_hide(&self, stream: Stream, start: &[u8]) -> bool;

    /// The end of the run.
    fn finish(self: Box<Self>, exit: ExitKind, ended: Timestamp) -> Ending;
}

/// Reads what a command prints that nobody understands: it hides nothing, and learns nothing from it. Complaints are
/// the listener's.
pub struct Unknown;

impl Reader for Unknown {
    fn line(&mut self, _: Stream, _: &[u8], _: Timestamp, _: &mut Vec<Bin>) -> bool {
        true
    }

    fn may_hide(&self, _: Stream, _: &[u8]) -> bool {
        false
    }

    fn finish(self: Box<Self>, _: ExitKind, _: Timestamp) -> Ending {
        Ending::default()
    }
}

/// What is known when a run is over.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ending {
    /// The tool's closing report.
    pub summary: Option<Summary>,
    /// What its end means, in sentences.
    pub remarks: Vec<Sentence>,
    /// What its output complained of, by kind; the listener fills it in.
    pub complaints: Vec<Complaint>,
}
