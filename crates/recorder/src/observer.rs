//! What is to be seen of a recording while it is made. This file knows no terminal: an observer decides
//! what it shows, and how.

use std::sync::Arc;
use std::time::Duration;

use model::{Sentence, Target};
use recording::FolderHandle;
use workloads::{Bin, Stream};

/// Receives what happens while a recording is made.
pub trait Observer: Send + Sync {
    /// Something happened, or time passed. Called on the recorder's own thread, which must not wait for
    /// a reader: rows pile up meanwhile, and those without room are lost.
    fn progress(&self, progress: Progress<'_>);

    /// The workload's own output, unchanged, for standard output or standard error. Called by a thread
    /// per stream; as long as it waits, the workload waits when it writes there.
    fn output(&self, to: Stream, bytes: &[u8]) -> Taken;
}

/// What happens while a recording is made.
#[derive(Debug)]
pub enum Progress<'a> {
    /// What is recorded goes into this folder from now on. Sent once, first.
    Begun(&'a Arc<FolderHandle>),
    /// Time since the workload started, or the recording of what runs already; several times a second.
    Elapsed(Duration),
    /// An interval of the workload's own throughput and latency.
    Bin(&'a Bin),
    /// Share of the time, 0 to 1, in which some task of the machine waited for a CPU, since the last
    /// reading.
    CpuPressure(f64),
    /// A sentence for the user, without an end.
    Notice(&'a str),
    /// The search for servers has come to a first end; sent once, or never.
    Introduced {
        /// What was changed or noticed in the workload's command, as sentences without an end.
        notices: &'a [Sentence],
        /// Who serves the workload, where that was found.
        server: Option<&'a Target>,
    },
    /// The disk does not take the recording any more. The workload and the recording continue.
    Unwritten(recording::Error),
    /// The disk takes the recording again.
    WrittenAgain,
}

/// What became of output that was passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It was written, or could not be for a reason that is not the workload's.
    All,
    /// The pipe that it goes to has been closed.
    NobodyReads,
}
