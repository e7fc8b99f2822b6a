//! Spikes of latency and dips of throughput: how often they come, and what comes before them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Confidence, EntityId, Provenance, Unit, Window};

/// The spikes of a run, or of the window that was asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpikeReport {
    /// Where they were looked for: the whole load, since a period takes many cycles, or what was asked for.
    pub window: Window,
    /// Where throughput and latency come from: `kernel` for requests at sockets. With `log` the spikes are bursts of
    /// calls that logs report, and throughput and latency are those of all calls.
    pub provenance: Provenance,
    /// Length of the intervals that were compared, ns: no onset is known better.
    pub interval_ns: i64,
    /// Median over the intervals of the mean latency in each, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_latency_ns: Option<f64>,
    /// Median over the intervals of the throughput, per second; 0 where it is not known (`account`).
    pub usual_throughput: f64,
    /// Median over the intervals of the number of the target's threads that work or wait for what they need; only where
    /// that is the signal (`account`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_threads: Option<f64>,
    /// Each spike, in the order of time.
    pub spikes: Vec<Spike>,
    /// Time of the window that lies in spikes, ns.
    pub spiking_ns: i64,
    /// p99 of the requests that ended in spikes, ns; `None` where too few were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_inside_ns: Option<f64>,
    /// p99 of all others, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_outside_ns: Option<f64>,
    /// Part of all the time that requests took which the spikes add to what they usually take, 0 to 1; `None` where no
    /// latency is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<f64>,
    /// Requests that were not served because of the spikes, at the usual throughput.
    pub lost: f64,
    /// Periodic trains among them, the one with most spikes first.
    pub trains: Vec<Train>,
    /// What comes before the spikes, the likeliest to start them first.
    pub triggers: Vec<Trigger>,
    /// Streams of events that were compared with the spikes.
    pub compared: u64,
    /// From what starts the spikes to what waits in them, one sentence; empty where nothing comes before them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub chain: String,
    /// What is different in spikes, what explains most of them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<SpikeDifference>,
    /// Measures that were compared for that; 0 where there are too few spikes.
    #[serde(default)]
    pub measures: u64,
    /// What is called far more in the spikes than between them, as logs report it; most calls first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<BurstingMethod>,
}

/// A method that is called far more in spikes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BurstingMethod {
    /// What is called: `yb.master.MasterService.GetTableSchema`.
    pub method: String,
    /// Who is called, by address and port.
    pub callee: String,
    /// How many addresses call in the spikes.
    pub callers: u64,
    /// In how many of the spikes it is called far more.
    pub spikes: u64,
    /// Median over the spikes of the calls in each, up to 0.1 s after its end.
    pub calls: f64,
    /// Calls in as much time between the spikes.
    pub usual_calls: f64,
    /// How long a call takes in the spikes on average, ns, by the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The same between them, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_mean_ns: Option<f64>,
}

/// One spike.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Spike {
    /// From its onset to where latency and throughput are back.
    pub window: Window,
    /// The highest mean latency of an interval, ns; `None` where nothing was completed in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_latency_ns: Option<f64>,
    /// The lowest throughput of an interval, per second.
    pub lowest_throughput: f64,
    /// The most threads that work or wait in an interval of it; only where that is the signal (`account`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_threads: Option<f64>,
    /// Requests that were not served, at the usual throughput.
    pub lost: f64,
}

/// Spikes that come with a period.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Train {
    /// The period, ns, by least squares over the onsets.
    pub period_ns: f64,
    /// Its 95 % confidence interval, ns.
    pub period_low_ns: f64,
    /// See `period_low_ns`.
    pub period_high_ns: f64,
    /// Standard deviation of the onsets around the period's own times, ns.
    pub jitter_ns: f64,
    /// Part of the cycles that have a spike, 0 to 1.
    pub coverage: f64,
    /// Part of all spikes that belong to it, 0 to 1.
    pub purity: f64,
    /// Cycles from its first spike to its last.
    pub cycles: u64,
    /// Its spikes, by their numbers in the report.
    pub spikes: Vec<u64>,
    /// What keeps the period.
    pub schedule: Schedule,
}

/// What keeps a period.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Schedule {
    /// The clock: onsets come at the same time within each minute or hour.
    Clock {
        /// The period that divides the minute or the hour, ns.
        every_ns: f64,
        /// Its first onset within each minute, of periods of a minute and more within each hour, ns, in UTC.
        phase_ns: f64,
    },
    /// A pause between two runs: deviations of the onsets add up.
    Loop,
    /// Neither is clear.
    Unknown,
}

/// What kind of event comes before spikes.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// A program was started.
    Program,
    /// Many connections were opened at a time.
    Connections,
    /// Much was sent at a time, on connections that may have been open before.
    Sends,
    /// A process began to use a CPU.
    CpuBurst,
    /// A counter of an application grew, which it rarely does.
    Counter,
    /// Lines of a template were logged: many at a time, or any of a rare one.
    Log,
    /// A log reported many calls of a method at a time.
    Calls,
    /// A database ran a statement of a rare kind: GRANT, DDL, CHECKPOINT.
    Statement,
}

/// Events that come before spikes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Trigger {
    /// What kind of event it is.
    pub kind: TriggerKind,
    /// The event: a command by its template, a process, a service's port, a counter, a log's template, a method.
    pub name: String,
    /// What started it: the parent's command, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Where it is: a node, in a report on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Whom it is about, where that is an entity of the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
    /// How many there were in the window; those close together are one.
    pub events: u64,
    /// How many of them a spike followed.
    pub followed: u64,
    /// Part of the spikes that such an event preceded, 0 to 1.
    pub recall: f64,
    /// Part of the events that a spike followed, 0 to 1.
    pub precision: f64,
    /// How many times as often it preceded a spike as it would at random times.
    pub lift: f64,
    /// Median time from the event to the onset of the spike, ns; below 0 within one interval where the onset was seen
    /// first.
    pub lag_ns: f64,
    /// Median absolute deviation of that, ns.
    pub lag_spread_ns: f64,
    /// How exactly the times of the events are known, ns: what is counted at readings, to the time between two.
    pub resolution_ns: f64,
    /// How often events at other times, shifted in a circle, come as close before the spikes: 0 to 1.
    pub p_value: f64,
    /// How sure that is: `suspected` where it only comes in time, `consistent` where it also varies as the spikes do.
    pub confidence: Confidence,
}

impl Trigger {
    /// How long before the onset the event surely was, ns; below 0 where it may have been after. What is counted at
    /// readings may have happened just before the second of them, and its time is the middle of a step that the first
    /// may lie in.
    pub fn surely_before_ns(&self) -> f64 {
        self.lag_ns - 1.5 * self.resolution_ns
    }

    /// How exactly times between the event and the onset are known, ns; `interval_ns` is that of the onsets.
    pub fn known_to_ns(&self, interval_ns: i64) -> f64 {
        self.resolution_ns.max(interval_ns as f64)
    }
}

/// What kind of measure is different in spikes.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MeasureKind {
    /// Time of threads in a wait class, by pool of threads.
    Time,
    /// Time of the target's threads in calls to a peer.
    Calls,
    /// CPU time in a function, what it calls included.
    Code,
    /// Time waited in a function.
    Waits,
    /// CPU time of a process.
    Cpu,
    /// CPU time of a control group.
    Group,
    /// Connections, requests and bytes between processes of a name and a port.
    Traffic,
    /// A disk's operations, bytes and time.
    Disk,
    /// A counter of the kernel's, of the whole machine.
    Kernel,
    /// A counter of an application's own.
    Application,
    /// Time of a database's processes in a statement.
    Statement,
}

/// A measure that is different in spikes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpikeDifference {
    /// What kind of measure it is.
    pub kind: MeasureKind,
    /// Whose: a pool of threads, a process, connections, a disk, a table of counters.
    pub who: String,
    /// What of it: a wait class, functions, a column.
    pub what: String,
    /// Whom it is about, where that is one entity of the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
    /// Unit of the two that follow, each per second: of nanoseconds 1e9 are one thread or one CPU all the time.
    pub unit: Unit,
    /// Mean in the spikes.
    pub inside: f64,
    /// Mean in calm stretches, each of the same cycle as a spike.
    pub outside: f64,
    /// Spikes in which it is clearly different, in the same direction.
    pub spikes: u64,
    /// Of all spikes that have a calm stretch beside them.
    pub of_spikes: u64,
    /// Part that it is of what spikes add to the time of the target's threads, 0 to 1; of code, of what they add to CPU
    /// time. `None` of other measures, and where it falls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// How often chance makes any of all measures so different: 0 to 1.
    pub p_value: f64,
}
