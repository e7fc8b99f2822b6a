//! One recording, as far as others are compared with it.

use std::collections::BTreeMap;

use model::{
    ComparedMark, ComparedRun, CoursePoint, EntityKind, Finding, GoalReport, LedgerClass, Load,
    Meta, PhaseVerdict, PointSetting, Provenance, Report, Resource, Role, ShareBasis, StallKind,
    Timeline, Window,
};

use super::code::Code;
use super::intervals::{Second, counted, seconds};
use super::used;
use crate::block_io;
use crate::exposure::Exposure;
use crate::facts;
use crate::measure::Of;
use crate::number_format::{duration, percent, rate};
use crate::scene::{Roles, Scene, Scope};
use crate::thresholds::Thresholds;
use crate::workload_metrics::{self, Bin};

/// What throughput would be without what others took; of runs that took turns alone.
pub(super) const ALONE: &str = "throughput.alone";
/// CPU time of server and load generator together, which others change less than anything else.
pub(super) const CPU: &str = "cpu.both";
/// No more points than these say how a run went: of a longer one each is of several seconds.
const MOST_POINTS: i64 = 3_600;
/// Marks that are shown.
const MOST_MARKS: usize = 200;
const SECOND_NS: i64 = 1_000_000_000;
/// Remedies that are kept.
const REMEDIES: usize = 2;

/// What a recording says, small enough to keep many.
pub struct Measured {
    /// What is shown of it.
    pub(crate) run: ComparedRun,
    /// Facts about machine and run.
    pub(super) facts: BTreeMap<String, String>,
    /// Figures by their keys.
    pub(super) values: BTreeMap<String, f64>,
    /// What was used over the judged window, by key: ns, bytes or numbers.
    pub(super) totals: BTreeMap<&'static str, f64>,
    /// Requests completed in it; `None` where nobody knows.
    pub(super) requests: Option<f64>,
    /// Where the latency comes from.
    pub(super) latency: Provenance,
    /// The judged window in intervals, for what varies within it.
    pub(super) seconds: Vec<Second>,
    /// The account in seconds, where it is of the response time.
    pub(super) account: Vec<AccountedSecond>,
    /// The target's CPU time by function; `None` where what it executed is not known.
    pub(super) code: Option<Code>,
    /// The load generator that an adapter understood, and what it was asked for.
    pub(super) asked: Option<(String, Load)>,
    /// The goals for latency that it was made with, and whether they were met.
    pub(crate) goals: Vec<GoalReport>,
    /// What others took of it, or why that is not known.
    pub(super) exposure: Result<Exposure, &'static str>,
    /// What it could use, and what was asked of it.
    pub(crate) setting: PointSetting,
}

/// A second of the account.
pub(super) struct AccountedSecond {
    /// Time of requests in each of `LedgerClass::ALL`, ns.
    pub(super) classes: Vec<f64>,
    /// Time that requests took, ns.
    pub(super) total_ns: f64,
}

impl Measured {
    /// Measures a prepared recording (`prepare`) over its steady phase.
    pub fn of(name: String, timeline: &Timeline, meta: &Meta) -> Self {
        let report = crate::diagnose(timeline, meta, None);
        let bins = workload_metrics::bins(timeline, meta);
        let window = report.window;
        let signal = |name: &str| report.signals.iter().find(|it| it.name == name);
        let throughput = signal("throughput").and_then(|it| it.mean);
        let mut values = values(&report, timeline);
        let mut totals = totals(&report, timeline);
        let accounted = accounted(timeline, meta, &report, |facts| {
            values.extend(used::shares(facts));
            totals.extend(used::cpu_of_machine(facts));
            used::setting(facts)
        });
        let (exposure, account, setting) = accounted;
        Self {
            facts: known_facts(&report, meta),
            values,
            totals,
            requests: throughput.map(|it| it * window.seconds()),
            latency: signal("latency").map_or(Provenance::None, |it| it.provenance),
            seconds: seconds(timeline, meta, &bins, window),
            account,
            code: Code::of(timeline, &bins, window),
            asked: asked(meta),
            exposure,
            setting,
            goals: report.goals.clone(),
            run: ComparedRun {
                name,
                identity: report.identity.clone(),
                window,
                steady_s: window.start.seconds_since(report.origin),
                rate_unit: rate_unit(meta),
                verdict: report.verdict.findings.first().map(headline),
                would_help: would_help(&report),
                course: course(timeline, &bins, &report),
                marks: marks(timeline, &report),
                round: None,
                taken: None,
                disks: block_io::working(timeline, window),
            },
        }
    }

    /// The same as the run of a round of an experiment, from 1 on, in which it took turns with those of all groups.
    pub fn in_round(mut self, round: u32) -> Self {
        self.run.round = Some(round);
        if let Some(alone) = self.alone() {
            self.values.insert(ALONE.to_owned(), alone);
        }
        self.run.taken = self.exposure.ok().map(Exposure::taken);
        self
    }

    /// Why its throughput cannot be told as if alone: a clause; `None` where it can.
    pub fn uncorrectable(&self) -> Option<&'static str> {
        match self.exposure {
            _ if self.requests.is_none_or(|it| it <= 0.0) => Some("no requests were counted in it"),
            Err(why) => Some(why),
            Ok(_) => None,
        }
    }

    /// The length of the judged window, s.
    pub fn steady_for_s(&self) -> f64 {
        self.run.window.seconds()
    }

    /// Its throughput, and what others took of it, in words.
    pub fn in_short(&self) -> String {
        let unit = &self.run.rate_unit;
        match self.throughput().zip(self.exposed()) {
            Some((throughput, exposed)) => format!(
                "{} {unit}; others took {} of what it would do alone",
                rate(throughput),
                percent(exposed.lost())
            ),
            None => "its throughput is not known".to_owned(),
        }
    }

    /// Its throughput and the latencies that were asked about, in words.
    pub fn load_in_short(&self) -> String {
        let unit = &self.run.rate_unit;
        let throughput = self.throughput();
        let throughput = throughput.map_or("throughput not known".to_owned(), |it| {
            format!("{} {unit}", rate(it))
        });
        let goals = self
            .goals
            .iter()
            .filter_map(|it| Some((it.goal.of, it.value?)));
        let goals = goals.map(|(of, ns)| format!("{of} {}", duration(ns)));
        std::iter::once(throughput)
            .chain(goals)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Whether it met all goals that it was made with; `None` where that is not known.
    pub fn meets_goals(&self) -> Option<bool> {
        let mut met = Some(true);
        for goal in &self.goals {
            met = match (met, goal.met) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (_, None) => None,
                (known, _) => known,
            };
        }
        met
    }

    /// The workload's command, secrets replaced.
    pub fn command(&self) -> Option<&str> {
        self.facts.get("workload.command").map(String::as_str)
    }

    /// Operations per second in the judged window.
    pub fn throughput(&self) -> Option<f64> {
        self.values.get("throughput").copied()
    }

    /// CPU time of the load generator for a request, ns.
    pub(super) fn generator_cpu(&self) -> Option<f64> {
        let of_generator = *self.totals.get("cpu.generator")?;
        let requests = self.requests.filter(|it| *it > 0.0)?;
        Some(of_generator / requests).filter(|it| *it > 0.0)
    }

    /// Throughput as if alone.
    pub(super) fn alone(&self) -> Option<f64> {
        Some(self.throughput()? * self.exposure.ok()?.alone())
    }

    /// What others took of it.
    pub(super) fn exposed(&self) -> Option<Exposure> {
        self.exposure.ok()
    }
}

/// What others took of the judged window, its account second by second, and what else is taken from its facts.
fn accounted<T>(
    timeline: &Timeline,
    meta: &Meta,
    report: &Report,
    also: impl FnOnce(&facts::Facts<'_>) -> T,
) -> (Result<Exposure, &'static str>, Vec<AccountedSecond>, T) {
    let thresholds = Thresholds::default();
    let roles = Roles::new(timeline, meta);
    let scene = Scene::new(&roles, report.window, Scope::Run);
    let facts = facts::measure(&scene, &thresholds);
    let account = report.verdict.account.as_ref();
    let is_of_requests = account.is_some_and(|it| it.basis == ShareBasis::ResponseTime);
    let slices = facts.slices.iter().filter(|_| is_of_requests);
    let seconds = slices.map(|slice| AccountedSecond {
        classes: LedgerClass::ALL.map(|it| slice.ledger.get(it)).to_vec(),
        total_ns: slice.total_ns,
    });
    (Exposure::of(&facts), seconds.collect(), also(&facts))
}

fn asked(meta: &Meta) -> Option<(String, Load)> {
    let workload = meta.workload.as_ref()?;
    Some((workload.adapter.clone()?, workload.load.clone()))
}

fn rate_unit(meta: &Meta) -> String {
    let load = meta.workload.as_ref().map(|it| &it.load);
    let unit = load.map_or("", |it| it.rate_unit.as_str());
    if unit.is_empty() { "requests/s" } else { unit }.to_owned()
}

fn headline(finding: &Finding) -> PhaseVerdict {
    PhaseVerdict {
        cause: finding.cause.clone(),
        entity: finding.entity.clone(),
        share: finding.share,
        confidence: finding.confidence,
        sentence: finding.sentence.clone(),
        at_peer: finding.at_peer.as_ref().map(|it| it.cause.clone()),
    }
}

fn would_help(report: &Report) -> Vec<model::Remedy> {
    let first = report.verdict.findings.first();
    let remedies = first.map_or(&[][..], |it| &it.would_help);
    remedies.iter().take(REMEDIES).cloned().collect()
}

/// The first of its marks.
fn marks(timeline: &Timeline, report: &Report) -> Vec<ComparedMark> {
    let marks = timeline.marks.iter().take(MOST_MARKS);
    let mark = |mark: &model::Mark| ComparedMark {
        at_s: mark.at.seconds_since(report.origin),
        text: mark.text.clone(),
    };
    marks.map(mark).collect()
}

/// What the recording says of its machine, and what of its run is no figure.
fn known_facts(report: &Report, meta: &Meta) -> BTreeMap<String, String> {
    let mut facts = report.environment.clone();
    // Measured anew for each run: it tells nothing of the machine that another run could share.
    facts.retain(|name, _| !name.starts_with("clock.ahead"));
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|it| !it.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    add("machine.name", Some(meta.identity.node.clone()));
    add("cpu.number", Some(meta.cpus.to_string()));
    add("recorder.version", Some(meta.identity.stallscope.clone()));
    let workload = meta.workload.as_ref();
    add("workload.command", workload.map(|it| it.command.join(" ")));
    let summary = workload.and_then(|it| it.outcome.as_ref()?.summary.as_ref());
    add(
        "workload.version",
        summary.and_then(|it| it.version.clone()),
    );
    let target = meta.targets.iter().find(|it| it.role == Role::Target);
    add("target.name", target.map(|it| it.name.clone()));
    add("target.version", target.and_then(|it| it.version.clone()));
    let allowed = target.and_then(|it| it.cpus_allowed);
    add("target.cpus_allowed", allowed.map(|it| it.to_string()));
    facts
}

/// Figures that stand for themselves: throughput, latency, where a request's time goes, pressure, load average.
fn values(report: &Report, timeline: &Timeline) -> BTreeMap<String, f64> {
    let mut values: BTreeMap<String, f64> = BTreeMap::new();
    for signal in &report.signals {
        values.extend(signal.mean.map(|mean| (signal.name.clone(), mean)));
        for quantile in &signal.quantiles {
            let key = match quantile.q {
                0.5 => "latency.p50",
                0.99 => "latency.p99",
                1.0 => "latency.max",
                _ => continue,
            };
            values.insert(key.to_owned(), quantile.value);
        }
    }
    let account = report.verdict.account.as_ref();
    let account = account.filter(|it| it.basis == ShareBasis::ResponseTime);
    if let Some((account, response_ns)) = account.and_then(|it| Some((it, it.response_ns?))) {
        // A class in which nobody was is no item.
        let key = |class: LedgerClass| format!("wait.{}", class.word());
        values.extend(LedgerClass::ALL.map(|class| (key(class), 0.0)));
        for item in &account.items {
            // Think time and the rest outside are two items of one class.
            let own = values
                .entry(format!("wait.{}", item.class.word()))
                .or_insert(0.0);
            *own += item.share * response_ns as f64;
        }
    }
    let of_machine = report.pressure.iter();
    let of_machine = of_machine.filter(|it| it.entity.kind == EntityKind::Machine);
    values.extend(of_machine.map(|it| {
        let kind = match it.kind {
            StallKind::Some => "some",
            StallKind::Full => "full",
        };
        (format!("pressure.{}_{kind}", it.resource.word()), it.share)
    }));
    let load = machine(timeline, "load", report.window).and_then(|it| it.mean("load1_hundredths"));
    values.extend(load.map(|it| ("load1".to_owned(), it / 100.0)));
    values
}

fn machine<'a>(timeline: &'a Timeline, table: &'a str, window: Window) -> Option<Of<'a>> {
    let machine = timeline.entities.machine()?;
    Some(Of::new(timeline, table, machine.id, window))
}

/// What the target used of CPUs, and everybody of disks and networks.
fn totals(report: &Report, timeline: &Timeline) -> BTreeMap<&'static str, f64> {
    let mut totals = BTreeMap::new();
    for subject in &report.subjects {
        let key = match subject.role {
            Role::Target => "cpu.target",
            Role::Generator => "cpu.generator",
            _ => continue,
        };
        for key in [key, CPU] {
            *totals.entry(key).or_insert(0.0) += subject.cpu_ns as f64;
        }
    }
    let mut add = |key, kind, table, columns: &[&str]| {
        let entities = timeline.entities.of_kind(kind);
        let grown = entities.flat_map(|it| {
            let of = Of::new(timeline, table, it.id, report.window);
            columns.iter().filter_map(move |column| of.growth(column))
        });
        if let Some(sum) = grown.reduce(|a, b| a + b) {
            totals.insert(key, sum);
        }
    };
    add("disk.read", EntityKind::Disk, "disk", &["read_bytes"]);
    add("disk.written", EntityKind::Disk, "disk", &["write_bytes"]);
    add(
        "disk.operations",
        EntityKind::Disk,
        "disk",
        &["reads", "writes"],
    );
    add("disk.flushes", EntityKind::Disk, "disk", &["flushes"]);
    add(
        "network.sent",
        EntityKind::Interface,
        "network",
        &["tx_bytes"],
    );
    totals
}

/// The whole run, from the workload's start on.
fn course(timeline: &Timeline, bins: &[Bin], report: &Report) -> Vec<CoursePoint> {
    let known = Window::new(
        report.origin.max(timeline.window.start),
        timeline.window.end,
    );
    let finer = counted(timeline, bins, report.window);
    let bins = finer.as_ref().map_or(bins, |(_, finer)| finer);
    let length = SECOND_NS.max(known.len_ns() / MOST_POINTS);
    let point = |at: i64| {
        let start = known.start + at * length;
        let window = Window::new(start, (start + length).min(known.end));
        let mean = workload_metrics::mean_at(bins, window);
        let pressure = |resource: Resource, kind| {
            let column = format!("{}_{kind}_ns", resource.word());
            let rate = machine(timeline, "pressure", window)?.rate(&column)?;
            Some(rate / 1e9)
        };
        let load = machine(timeline, "load", window);
        CoursePoint {
            at_s: start.seconds_since(report.origin),
            length_s: window.seconds(),
            throughput: mean.map(|it| it.throughput),
            latency_ns: mean.and_then(|it| it.latency_ns),
            cpu_some: pressure(Resource::Cpu, "some"),
            io_some: pressure(Resource::Io, "some"),
            io_full: pressure(Resource::Io, "full"),
            memory_some: pressure(Resource::Memory, "some"),
            load1: load
                .and_then(|it| it.mean("load1_hundredths"))
                .map(|it| it / 100.0),
        }
    };
    (0..known.len_ns() / length).map(point).collect()
}
