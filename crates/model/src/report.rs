//! What diagnosis returns, ready to be shown: the verdict with its evidence, the phases, the signals.
//!
//! A `Report` holds everything that any output shows, so the terminal, the JSON file and the page are
//! pure writers of it. It is also the documented JSON: field names are a contract (`REPORT_SCHEMA`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::{Account, AccountPart, ThinkTime, ThreadTimes, ThreadsAccount};
use crate::connection_report::PortReport;
use crate::disk_report::DiskReport;
use crate::interval::Interval;
use crate::judged::{Caveat, Judged, RuledOut};
use crate::label_report::LabelReport;
use crate::{
    BySecond, Confidence, Cost, Entity, Formula, Gap, GoalReport, Identity, LedgerClass,
    LockHolder, Phase, Proof, Provenance, Role, SpikeReport, StackReport, StartedProgram,
    StatementTime, UnitKind, WaitEdge, Window, WorkloadRun,
};

/// Name and version of the JSON form of `Report`. Fields are added within a version; none changes
/// its meaning or goes away.
pub const REPORT_SCHEMA: &str = "stallscope.report/2";

/// The answer to "what is this system waiting for", over one window of one recording.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `REPORT_SCHEMA`.
    pub schema: String,
    /// The recording.
    pub identity: Identity,
    /// The window that was judged: the steady phase, or what `--from --to` asked for.
    pub window: Window,
    /// Start of the recording on the same clock: times are shown relative to the workload's start.
    pub origin: crate::Timestamp,
    /// The workload, its command line and its final report; `None` for `record`.
    pub workload: Option<WorkloadRun>,
    /// The entity that was measured.
    pub subjects: Vec<ReportSubject>,
    /// The target's threads one by one, ordered by how long they wanted a CPU; at most 50.
    #[serde(default)]
    pub threads: Vec<ThreadTimes>,
    /// The answer.
    pub verdict: Verdict,
    /// What an experiment on the running target showed (`prove`); `None` where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Of a recording of the whole machine, everybody who was followed; the rest of the report is about the
    /// first of them. `None` where targets were named or a workload was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineReport>,
    /// How long after `origin` the first finding was first named and stayed, ns: by judging windows from
    /// there on that grow by a second or a fifth. `None` where no cause is named, or none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_after_ns: Option<i64>,
    /// Parts of the run.
    pub phases: Vec<Phase>,
    /// The workload's own view.
    pub signals: Vec<Signal>,
    /// The operations of each label over the window, where the workload tells several apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelReport>,
    /// What block devices did for whom, those with most time first; empty where their requests were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DiskReport>,
    /// Who talked to whom, by the service's port: those of measured processes first, then those with most bytes; at most
    /// 20. Empty where it was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<PortReport>,
    /// The run second by second, with its stalls; `None` where neither the workload nor the kernel said what was completed when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_second: Option<BySecond>,
    /// Spikes of latency and dips of throughput of the whole run, their periods, and what comes before them; `None` where
    /// nothing stands out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spikes: Option<SpikeReport>,
    /// Programs that were started in the window, those with most CPU time first; empty where that was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<StartedProgram>,
    /// The statements of the target's database, those with most time first, with the time that belongs to none; at most
    /// 50, and the rare ones. Empty where that was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementTime>,
    /// Who held the locks of the target's database that others waited for, those first that most waited behind; at most
    /// 10. Empty where nobody waited, and where the database was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lock_holders: Vec<LockHolder>,
    /// Who waits for whom, between thread pools, those edges first in which most threads wait; at most 40, without waits for
    /// work. Empty where it was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wait_graph: Vec<WaitEdge>,
    /// What ran on the CPUs, in which functions; `None` where it was not asked for, or not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacks: Option<StackReport>,
    /// Think time of the load's clients; `None` where there is next to none, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// The user's goals, and whether they were met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalReport>,
    /// Pressure over the window.
    pub pressure: Vec<Pressure>,
    /// What was not seen.
    pub gaps: Vec<Gap>,
    /// What the recording cost.
    pub cost: Cost,
    /// Facts about the machine.
    pub environment: std::collections::BTreeMap<String, String>,
}

/// A target, the generator, or the rest, with what it used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReportSubject {
    /// Its role.
    pub role: Role,
    /// The entity.
    pub entity: Entity,
    /// How it was found.
    pub found_by: String,
    /// The name of one of its serving processes.
    pub unit: String,
    /// Serving processes, or processes when nothing is known to serve.
    pub serving: u32,
    /// CPU time over the window, ns.
    pub cpu_ns: i64,
    /// Where its threads' time went.
    pub threads: Option<ThreadsAccount>,
}

/// Who of a machine waits, for what, and who makes them wait.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineReport {
    /// Services, containers, virtual machines and processes that were followed, by the time that they lost,
    /// most first.
    pub units: Vec<UnitReport>,
    /// Pressure of at least 1 % in control groups outside of these, `some` alone, most first; at most 10.
    pub not_followed: Vec<Pressure>,
}

/// A service, container, virtual machine or process with its descendants, judged as a target of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnitReport {
    /// What kind it is.
    pub kind: UnitKind,
    /// What people call it: a container's name, a unit without `.service`.
    pub name: String,
    /// How it can be named as a target: `unit:nginx`, `cgroup:/system.slice/docker-0f.scope`, `pid:17`.
    pub target: String,
    /// What was judged.
    pub window: Window,
    /// Time lost: of its requests where these were measured, else of its threads that were at work, s per
    /// second.
    pub lost_per_second: f64,
    /// What it waits for, most first.
    pub waits: Vec<UnitWait>,
    /// Its requests, where it answers any.
    pub signals: Vec<Signal>,
    /// The user's goals, and whether it met them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalReport>,
    /// It, with where the time of its threads went.
    pub subjects: Vec<ReportSubject>,
    /// Its threads one by one, as in the report.
    pub threads: Vec<ThreadTimes>,
    /// Pressure of the machine and of its group, or of its processes.
    pub pressure: Vec<Pressure>,
    /// The verdict; `None` beyond the first (`--top`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// What somebody waits for, and who makes them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnitWait {
    /// The class.
    pub class: LedgerClass,
    /// In words: `waiting for a CPU`.
    pub label: String,
    /// Time lost in it, s per second.
    pub lost_per_second: f64,
    /// Who held what was waited for, as far as that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<AccountPart>,
}

/// A number that a finding rests on, with what is needed to draw it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What it is, in words.
    pub what: String,
    /// Table and column it was worked out from: `thread.wait_ns`.
    pub column: String,
    /// Whose.
    pub entity: Entity,
    /// When.
    pub window: Window,
    /// The value: a share of 1 unless `unit` says otherwise.
    pub value: f64,
    /// `share`, `per_second`, `ns`, `count`.
    pub unit: String,
    /// The threshold with which it was compared.
    pub threshold: Option<f64>,
    /// Whether it passed: what the cause needs.
    pub passed: bool,
    /// How it is worked out, over any window; `None` where only the columns are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<Formula>,
}

impl Evidence {
    /// The same with how it is worked out.
    #[must_use]
    pub fn by(self, formula: Formula) -> Self {
        let formula = Some(formula);
        Self { formula, ..self }
    }
}

/// What a gain is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GainOf {
    /// More throughput: 0.5 is +50 %.
    Throughput,
    /// Less response time, at the same rate of requests: 0.5 is half of it.
    ResponseTime,
}

/// A change that would help, with an estimate of what it would bring if the rest of a request stays as it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// The change: `a third CPU`.
    pub change: String,
    /// Throughput then, operations per second, in the middle of the estimate; `None` where the gain is
    /// none in throughput, or not known.
    pub throughput: Option<f64>,
    /// The middle of the estimate: 0.5 is 50 % of what `gain_of` says; `None` where nothing sound can be said.
    pub gain: Option<f64>,
    /// Its low and high end, by what is known to be uncertain; never below 0. No confidence level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_interval: Option<Interval>,
    /// What it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_of: Option<GainOf>,
    /// Its model, in a few words: `CPU law`; empty where the gain is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub gain_model: String,
    /// Why, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
}

/// One finding: a cause that is present.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The cause: `cpu.saturated`.
    pub cause: String,
    /// The entity: the target, the process or group that causes the delay, or the group with the limit.
    pub entity: Entity,
    /// How sure.
    pub confidence: Confidence,
    /// Share of the response time (or of busy time), 0 to 1.
    pub share: Option<f64>,
    /// 95 % interval of the share by block bootstrap over seconds.
    pub share_interval: Option<Interval>,
    /// One full sentence with the number.
    pub sentence: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What would help, best first.
    pub would_help: Vec<Remedy>,
    /// What would not.
    pub would_not_help: Vec<String>,
    /// What is evidence against it, or nothing.
    pub evidence_against: Vec<String>,
    /// How to to confirm, to be typed.
    pub to_confirm: String,
    /// Of a peer that was recorded as a dependency: what it waits for itself, as if it were the target; shares are of
    /// the calls to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_peer: Option<Box<Finding>>,
}

/// The least that is known to be free, from a load that found no limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Headroom {
    /// Throughput that the CPU law allows at least, operations per second.
    pub throughput: f64,
    /// One sentence.
    pub sentence: String,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The causes that are present; the first is the headline, `healthy` and `undetermined` included.
    pub findings: Vec<Finding>,
    /// What was ruled out.
    pub ruled_out: Vec<RuledOut>,
    /// The answer for every cause.
    pub judged: Vec<Judged>,
    /// Doubts about the measurement.
    pub caveats: Vec<Caveat>,
    /// What could not be seen, and what would show it.
    pub not_collected: Vec<String>,
    /// Where the response time went; `None` without a target.
    pub account: Option<Account>,
    /// Where the time of the generator's threads went.
    pub generator: Option<ThreadsAccount>,
    /// What this load proves to be free.
    pub headroom: Option<Headroom>,
}

/// One metric of the workload over the window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Signal {
    /// `throughput`, `latency`, `failed`, `skipped`, `lag`.
    pub name: String,
    /// `per_second`, `ns`, `count`.
    pub unit: String,
    /// The mean over the window; `None` when nothing was completed.
    pub mean: Option<f64>,
    /// Standard deviation of single operations, where the tool reports it.
    pub stddev: Option<f64>,
    /// Quantiles of single operations, 1 being the highest; empty where the tool has none.
    pub quantiles: Vec<Quantile>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Intervals of the window in which nothing was completed.
    pub empty_intervals: u32,
}

/// A quantile.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Quantile {
    /// 0 to 1.
    pub q: f64,
    /// In the signal's unit.
    pub value: f64,
    /// Number of operations, taken at random, that it was worked out from; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<u64>,
    /// Whether the true value is this or more: requests that had no reply yet count as if it had come at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Whether the load generator printed it at its end: it is of its whole run, warm-up included, and not of the
    /// window alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_whole_run: bool,
}

/// The resources of pressure-stall information.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// CPU.
    Cpu,
    /// Memory.
    Memory,
    /// I/O.
    Io,
    /// Interrupts.
    Irq,
}

impl Resource {
    /// All, in the order in which they are shown.
    pub const ALL: [Resource; 4] = [Resource::Cpu, Resource::Memory, Resource::Io, Resource::Irq];

    /// The word: `cpu`.
    pub const fn word(self) -> &'static str {
        match self {
            Resource::Cpu => "cpu",
            Resource::Memory => "memory",
            Resource::Io => "io",
            Resource::Irq => "irq",
        }
    }
}

/// The two kinds of stall.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StallKind {
    /// At least one task waited.
    Some,
    /// All non-idle tasks waited at once.
    Full,
}

/// Pressure of one group and resource over the window, from differences of `total=`, folded over 2 s.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// Machine or cgroup.
    pub entity: Entity,
    /// Resource.
    pub resource: Resource,
    /// Some or full.
    pub kind: StallKind,
    /// Share of the window, 0 to 1.
    pub share: f64,
    /// Interval over which the kernel's per-CPU times were folded, ns.
    pub fold_ns: i64,
}
