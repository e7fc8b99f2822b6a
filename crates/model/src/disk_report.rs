//! What a report says of the requests of a block device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Entity;

/// One block device over the window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DiskReport {
    /// The disk.
    pub entity: Entity,
    /// What it did for whom, by part: `log: 16-32 KiB, sequential, one at a time, 0.21 ms; data: ...`.
    pub sentence: String,
    /// All of its requests, by operation.
    pub operations: Vec<IoPattern>,
    /// The same by what they are for: log, journal, data, metadata; those with most time first. Flushes and discards
    /// are among the operations only.
    pub parts: Vec<IoPattern>,
    /// Single files, journals, metadata, and processes whose file is not known, with most time first; at most 20.
    pub streams: Vec<IoPattern>,
    /// Processes that submitted requests, with most time first; at most 10.
    pub processes: Vec<IoPattern>,
    /// Control groups that requests were charged to, with most time first; at most 10.
    pub groups: Vec<IoPattern>,
}

/// What a block device did in a part of a recording, in short.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DiskWork {
    /// The disk.
    pub entity: Entity,
    /// As in `DiskReport`: `log: 16-32 KiB, sequential, one at a time, 0.21 ms; data: ...`.
    pub sentence: String,
    /// As in `DiskReport`.
    pub parts: Vec<IoPattern>,
}

/// What requests are for.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum IoPart {
    /// Writes of a file or process that are sequential and waited for on stable storage: told by that, not by a name.
    Log,
    /// A filesystem's own log.
    Journal,
    /// A filesystem's other structures.
    Metadata,
    /// Everything else that is read or written.
    Data,
    /// Of all of these, or neither: flushes, discards, totals.
    All,
}

impl IoPart {
    /// The word used in sentences and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Journal => "journal",
            Self::Metadata => "metadata",
            Self::Data => "data",
            Self::All => "all",
        }
    }
}

/// Requests of one operation over the window: their number, sizes, order, depth, bursts and times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IoPattern {
    /// Whose they are: a path where it is known, a process, a control group; the part's word for a part.
    pub name: String,
    /// What they are for.
    pub part: IoPart,
    /// `read`, `write`, `flush`, `discard` or `other`.
    pub operation: String,
    /// Files, processes and journals that they belong to.
    pub streams: u32,
    /// Requests completed.
    pub requests: u64,
    /// Requests per second.
    pub per_second: f64,
    /// Bytes read, written or discarded.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Four fifths of the requests have at least this size, bytes, by the buckets of the histogram; `None` without
    /// data.
    pub size_from: Option<u64>,
    /// And at most this size, or less than it where it is larger than `size_from`; `None` beyond the last bound.
    pub size_to: Option<u64>,
    /// Share of the requests that begin where the request before ended.
    pub sequential: f64,
    /// Share that somebody waits for on stable storage; `None` where it is not counted, or of reads.
    pub synced: Option<f64>,
    /// Share with FUA.
    pub fua: f64,
    /// Mean requests in progress, queued or at the device, while there is any of the same stream.
    pub depth: f64,
    /// Mean requests in progress over the whole window.
    pub in_flight: f64,
    /// Most requests in progress at once in one stream.
    pub in_flight_most: u64,
    /// How many times as often as on average requests come in the interval that the average request comes in, by
    /// intervals of 100 ms: 1 where they come evenly or at random; `None` where they are too few to say.
    pub bursts: Option<f64>,
    /// Most requests per second in an interval of 100 ms.
    pub peak_per_second: f64,
    /// From a request's beginning to its issue to the device.
    pub queue: IoTimes,
    /// From the issue to the completion.
    pub device: IoTimes,
}

/// How long requests take, ns; quantiles by a histogram of powers of two.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct IoTimes {
    /// Mean.
    pub mean_ns: f64,
    /// Median; `None` without requests.
    pub median_ns: Option<f64>,
    /// What 99 % do not exceed; `None` where requests are too few.
    pub p99_ns: Option<f64>,
}
