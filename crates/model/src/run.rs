//! One recorded execution: who and where, what was planned, what the workload said, what it cost.
//!
//! This is the content of a recording's `meta.json`.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::{EntityId, Gap, Plan, Provenance, Role, Sentence, Timestamp, Window};

/// The version of the recording format that this program writes.
pub const FORMAT_VERSION: u32 = 7;

/// Everything about a recording that is not a row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the format; readers refuse newer ones with a sentence.
    pub format_version: u32,
    /// Who recorded what, where.
    pub identity: Identity,
    /// What was asked for.
    pub plan: Plan,
    /// What it covers, as far as was known when this was written.
    pub window: Window,
    /// Whether the recording was closed; false after a crash.
    pub complete: bool,
    /// Logical CPUs online at the start.
    pub cpus: u32,
    /// Facts about the machine by name, read once.
    pub environment: BTreeMap<String, String>,
    /// The processes that the verdict is about, and those of the load generator.
    pub targets: Vec<Target>,
    /// Why no target was found, as it was said to the user; `None` when one was.
    #[serde(default)]
    pub no_target: Option<Sentence>,
    /// The workload, when one was run.
    pub workload: Option<WorkloadRun>,
    /// What was not seen.
    pub gaps: Vec<Gap>,
    /// What the recording itself cost.
    pub cost: Cost,
    /// Which part of a longer recording this is; `None` for one that is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Segment>,
    /// When a trigger expression came true and something was saved for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub firings: Vec<Firing>,
}

impl Meta {
    /// Says of each sentence that is known only by its text what it is made of, as far as `made` has it.
    pub fn take_apart(&mut self, made: &HashMap<String, Sentence>) {
        for sentence in self.sentences_mut() {
            if let Some(made) = made.get(&sentence.to_string()) {
                sentence.clone_from(made);
            }
        }
    }

    /// Every sentence in it. One that is not here is written as its text alone, which is foreign.
    pub fn sentences_mut(&mut self) -> impl Iterator<Item = &mut Sentence> {
        let gaps = self.gaps.iter_mut();
        let gaps =
            gaps.flat_map(|gap| [&mut gap.what].into_iter().chain(gap.reason.sentence_mut()));
        let found_by = self.targets.iter_mut().map(|target| &mut target.found_by);
        let of_workload = self.workload.iter_mut().flat_map(|workload| {
            let outcome = workload.outcome.iter_mut();
            let remarks = outcome.flat_map(|outcome| &mut outcome.remarks);
            workload.notices.iter_mut().chain(remarks)
        });
        gaps.chain(found_by)
            .chain(of_workload)
            .chain(&mut self.plan.targets)
            .chain(&mut self.no_target)
            .chain(self.cost.programs.values_mut().flatten())
    }
}

/// A part of a recording that is written as segments, each a recording by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Its number, from 1; the folder's name is made of it.
    pub number: u32,
    /// Whether the recorder went on in another segment: what was measured last then holds up to the window's end,
    /// as in a recording that was not closed.
    pub continues: bool,
}

/// A trigger expression that came true.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Firing {
    /// When.
    pub at: Timestamp,
    /// The trigger expression: `pressure.cpu.some>60% for 4s`.
    pub trigger: String,
    /// The value at that moment, with its unit: `71 %`.
    pub value: String,
    /// Firings of any trigger since the saving before, for which nothing was saved.
    pub suppressed: u64,
}

/// The identity of this recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Identity {
    /// Random, made at the start.
    pub recording_id: String,
    /// `/etc/machine-id`; empty when there is none.
    pub machine_id: String,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
    /// Host name.
    pub node: String,
    /// Version of the program that recorded.
    pub stallscope: String,
    /// Wall-clock time at `anchor_boottime`, ns since 1970.
    pub anchor_realtime_ns: i64,
    /// The same instant on `CLOCK_BOOTTIME`.
    pub anchor_boottime: Timestamp,
}

/// A process tree that plays a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Target, generator or dependency.
    pub role: Role,
    /// The tree's root process; `None` when it ended before it was sampled.
    pub root: Option<EntityId>,
    /// The name a person uses: the root's.
    pub name: String,
    /// What one serving process is called: `backend` behind pgbench, else `process`.
    pub unit: String,
    /// Version of the server, where its program tells: PostgreSQL's major one, `15`.
    #[serde(default)]
    pub version: Option<String>,
    /// How it was found: `unix socket /tmp/.s.PGSQL.5432`, `port 5432`, `pid 17`.
    pub found_by: Sentence,
    /// Connections of the generator that lead to it.
    pub connections: u32,
    /// CPUs that its affinity and cpuset allow; `None` when that could not be read.
    pub cpus_allowed: Option<u32>,
    /// Their numbers, of those that are online; empty when that could not be read.
    #[serde(default)]
    pub allowed: Vec<u32>,
    /// When it was found.
    pub found_at: Timestamp,
    /// What it is of a machine that was recorded as a whole; `None` for a target that was named or followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_unit: Option<MachineUnit>,
}

/// A part of a machine that people have a name for, as `record` without a target finds them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MachineUnit {
    /// The kind of it.
    pub kind: UnitKind,
    /// The path of the control group that has all of its processes; `None` for a process with its
    /// descendants.
    pub group: Option<String>,
}

/// The kinds of parts of a machine.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// A unit of systemd's.
    Service,
    /// A container of Docker, Podman, containerd, CRI-O, LXC or systemd-nspawn.
    Container,
    /// A virtual machine of QEMU.
    VirtualMachine,
    /// Any other control group.
    Group,
    /// A process with its descendants.
    Process,
}

impl UnitKind {
    /// In words.
    pub const fn word(self) -> &'static str {
        match self {
            UnitKind::Service => "service",
            UnitKind::Container => "container",
            UnitKind::VirtualMachine => "virtual machine",
            UnitKind::Group => "group",
            UnitKind::Process => "process",
        }
    }
}

/// The workload that was run, and what it reported.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorkloadRun {
    /// Its name: `pgbench`.
    pub name: String,
    /// The command line as it was executed, secrets replaced.
    pub command: Vec<String>,
    /// The adapter that understood it; `None` for any other command.
    pub adapter: Option<String>,
    /// What was changed or noticed, as reported to the user.
    pub notices: Vec<Sentence>,
    /// The patterns by which its output was read, as typed: `latency:us=lat ([0-9]+)us`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
    /// Whether its standard error, or all that it printed, was searched for complaints. Recordings of before do not
    /// say so of commands that had an adapter or a pattern, and whose output was.
    #[serde(default)]
    pub is_heard: bool,
    /// The option that would have recorded quantiles: `--quantiles`; `None` where it was used, or would
    /// not help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantiles_option: Option<String>,
    /// The load that its command line asks for.
    pub load: Load,
    /// Where its latency comes from.
    pub latency: Provenance,
    /// When it was started.
    pub started: Timestamp,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
}

/// The load that a command line asks for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Load {
    /// Concurrent clients; `None` when unknown.
    pub clients: Option<u32>,
    /// Threads of the generator.
    pub threads: Option<u32>,
    /// Asked-for rate, operations per second; `None` for a closed loop.
    pub rate: Option<f64>,
    /// The word for one operation's rate: `tps`.
    pub rate_unit: String,
    /// The option that sets the clients, so that advice can be typed: `-c`.
    #[serde(default)]
    pub clients_option: Option<String>,
    /// The option that sets the rate: `-R`.
    #[serde(default)]
    pub rate_option: Option<String>,
}

/// How a workload ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Outcome {
    /// When its end was noticed.
    pub ended: Timestamp,
    /// Exit code or signal.
    pub exit: ExitKind,
    /// The tool's own final report, where it printed one.
    pub summary: Option<Summary>,
    /// What its final report means, in sentences: an aborted run, clients that failed.
    pub remarks: Vec<Sentence>,
    /// Errors in its output, by kind: known only of output that the program reads, that is with an
    /// adapter or with `--metric`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<Complaint>,
}

/// Lines of a workload's output that report the same kind of error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Complaint {
    /// The trouble.
    pub kind: ComplaintKind,
    /// Number of such lines. A generator that gives up at the first refusal prints one.
    pub count: u64,
    /// The first of them, secrets replaced, cut at 200 characters.
    pub message: String,
}

/// The kinds of errors, recognised by common messages of databases and the C library.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComplaintKind {
    /// The server has as many connections as it allows (PostgreSQL's 53300, MySQL's 1040).
    TooManyConnections,
    /// Nobody listens.
    ConnectionRefused,
    /// The server ended a connection, or itself.
    ServerGone,
    /// No space left on a device, or a quota used up.
    NoSpace,
    /// Memory was refused.
    OutOfMemory,
    /// The limit of open files was met.
    TooManyFiles,
    /// One that this version does not know.
    #[serde(other)]
    Unknown,
}

/// Exit code or signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitKind {
    /// It returned this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
}

impl ExitKind {
    /// The status a shell would report: the code, or 128 + the signal.
    pub const fn status(self) -> i32 {
        match self {
            ExitKind::Code(code) => code,
            ExitKind::Signal(signal) => 128 + signal,
        }
    }
}

/// A load generator's closing report.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// The tool's own version line.
    pub version: Option<String>,
    /// False when the generator reported that the run was aborted: the rest is then incomplete.
    pub complete: bool,
    /// What ran: `<builtin: select only>`.
    pub transaction_type: Option<String>,
    /// Number of clients that it reported.
    pub clients: Option<u32>,
    /// Number of threads that it reported.
    pub threads: Option<u32>,
    /// Length of the run as the tool reports it, s.
    pub duration_s: Option<f64>,
    /// Operations completed.
    pub completed: Option<u64>,
    /// Operations failed.
    pub failed: Option<u64>,
    /// Operations skipped because they were late.
    pub skipped: Option<u64>,
    /// Operations that were retried.
    pub retried: Option<u64>,
    /// Retries in all.
    pub retries: Option<u64>,
    /// Operations above the latency limit.
    pub late: Option<u64>,
    /// Mean latency, ns.
    pub latency_mean_ns: Option<i64>,
    /// Standard deviation of latency, ns.
    pub latency_stddev_ns: Option<i64>,
    /// Quantiles of latency as the tool printed them, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_quantiles: Vec<LatencyQuantile>,
    /// Whether the mean was computed from clients / tps and not measured.
    pub latency_derived: bool,
    /// Mean lag behind the schedule, ns.
    pub lag_mean_ns: Option<i64>,
    /// Highest lag behind the schedule, ns.
    pub lag_max_ns: Option<i64>,
    /// Time to connect, ns.
    pub connect_ns: Option<i64>,
    /// Operations per second.
    pub throughput: Option<f64>,
    /// Per script.
    pub scripts: Vec<ScriptSummary>,
}

/// One script's part of a final report.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ScriptSummary {
    /// The name as printed.
    pub name: String,
    /// The script's weight (`-b NAME@WEIGHT`).
    pub weight: Option<u32>,
    /// Operations completed.
    pub completed: Option<u64>,
    /// Operations failed.
    pub failed: Option<u64>,
    /// Operations per second.
    pub throughput: Option<f64>,
    /// Mean latency, ns.
    pub latency_mean_ns: Option<i64>,
    /// Standard deviation of latency, ns.
    pub latency_stddev_ns: Option<i64>,
    /// Quantiles of latency, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_quantiles: Vec<LatencyQuantile>,
}

/// A quantile of latency in a load generator's closing report: of its whole run, and as exact as the tool is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LatencyQuantile {
    /// 0 to 1; 1 is the highest.
    pub q: f64,
    /// Latency, ns.
    pub latency_ns: i64,
}

/// What a recording cost and how well the sampler kept its times.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cost {
    /// CPU time of the recorder, its threads included, ns.
    pub cpu_ns: i64,
    /// Length of the recording, ns.
    pub wall_ns: i64,
    /// Wake-ups of the sampler.
    pub ticks: u64,
    /// Wake-ups later than half a period.
    pub late_ticks: u64,
    /// The latest wake-up, ns after its deadline.
    pub lateness_max_ns: i64,
    /// Period of the target's threads at the end, ns: longer where sampling cost too much.
    pub fast_period_ns: i64,
    /// Whether memory was locked.
    pub memory_locked: bool,
    /// The priority that the sampler had: `SCHED_RR 1`, `nice -10`, `normal`.
    pub priority: String,
    /// The recorder's peak resident memory, bytes; 0 where an older version recorded.
    #[serde(default)]
    pub resident_bytes: i64,
    /// The most of the kernel's memory that programs took, by name, bytes.
    #[serde(default, deserialize_with = "by_program")]
    pub kernel_bytes: BTreeMap<String, i64>,
    /// Readings that decreased and were held, by `table.column`.
    pub corrections: BTreeMap<String, u64>,
    /// BPF programs by name, and why those that were not used could not be.
    #[serde(default, deserialize_with = "by_program")]
    pub programs: BTreeMap<String, Option<Sentence>>,
    /// How thread-time accounting agreed with the kernel's own counts of the same threads.
    #[serde(default, alias = "ledger", skip_serializing_if = "Option::is_none")]
    pub cross_check: Option<CrossCheck>,
}

/// Values by the name of a program. Until 2026-11-24 `thread_time` was called `ledger`.
fn by_program<'de, D, V>(from: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: serde::Deserializer<'de>,
    V: Deserialize<'de>,
{
    let mut values = BTreeMap::<String, V>::deserialize(from)?;
    if let Some(value) = values.remove("ledger") {
        values.insert("thread_time".to_owned(), value);
    }
    Ok(values)
}

/// How thread-time accounting agreed with the scheduler's own run times and run-queue delays: per
/// thread and interval between two readings they may differ by 20 us, or 0.1 % of the interval.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CrossCheck {
    /// Intervals that were compared.
    pub compared: u64,
    /// Comparisons in which the two differed by more than that.
    #[serde(alias = "apart")]
    pub diff: u64,
    /// The largest difference within an interval, ns.
    pub worst_ns: i64,
    /// Switches and wake-ups that were missed, and backfilled from the scheduler's own counts.
    pub switches_missed: u64,
    /// Events of target and generator that were not counted because there was no memory for a thread's
    /// record.
    pub drops: u64,
}

impl Meta {
    /// Whether the whole machine was recorded: no target was named, and none was followed from a workload.
    pub fn is_of_machine(&self) -> bool {
        self.workload.is_none() && self.plan.command == "record" && self.plan.targets.is_empty()
    }
}

impl Cost {
    /// Share of one CPU that the recorder used.
    pub fn cpu_share(&self) -> f64 {
        if self.wall_ns > 0 {
            self.cpu_ns as f64 / self.wall_ns as f64
        } else {
            0.0
        }
    }
}
