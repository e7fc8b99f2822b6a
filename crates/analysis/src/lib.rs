//! What the system is waiting for, worked out from a recording and nothing else.
//!
//! Pure: a timeline and the run's description in, a report out. No file, no clock, no rendering; but
//! the sentences are made here, once, so that every output says the same. Names of processes,
//! groups and files appear in sentences and decide nothing.
#![warn(missing_docs)]

mod account;
mod behind;
mod block_io;
mod blocked;
mod borders;
mod bounds;
mod by_second;
mod causes;
mod caveats;
mod changes;
mod closed_loop;
pub mod cluster;
pub mod compare;
mod coverage;
mod cpus;
mod evaluator;
mod exposure;
pub mod facts;
mod file_waits;
mod flows;
mod formula;
mod gains;
mod goals;
mod groups;
mod holders;
mod idle;
mod in_line;
mod inherited;
mod io;
mod kernel_waits;
mod labels;
mod latency_sample;
mod ledger;
mod lock_holders;
mod machine;
mod measure;
mod memory;
mod monitored;
mod named;
mod neighbours;
mod network;
mod not_told;
mod number_format;
mod open_files;
mod over_time;
mod peers;
mod phases;
mod pieces;
mod poolers;
mod pools;
mod pressure;
pub mod program_runs;
pub mod proof;
mod quantiles;
mod quota;
mod random_sampling;
mod rank;
mod request_times;
mod ruled_out;
mod runtimes;
#[cfg(feature = "sensitivity")]
mod scaled;
pub mod scaling;
mod scene;
#[cfg(feature = "sensitivity")]
pub mod sensitivity;
mod serving;
mod sessions;
pub mod sizing;
mod slices;
mod so_far;
mod spikes;
pub mod stacks;
mod stalls;
mod statements;
pub mod stats;
mod steal;
mod subject;
pub mod sweep;
mod think_time;
mod thread_sample;
mod thread_times;
mod thresholds;
mod wait_events;
mod wait_graph;
mod waits_for;
mod wake_ups;
mod wakers;
mod workload_metrics;

pub use block_io::sizes;
pub use causes::{Cause, Family, Kind as CauseKind, Upstream, Wait, all as causes};
pub use machine::conclude;
pub use number_format::{bound, count, duration, gain, integer, memory, percent, rate, storage};
pub use over_time::{LedgerOverTime, THREAD_CLASSES, ThreadTime};
pub use request_times::RequestTimes;
pub use scene::serving_threads;
pub use so_far::so_far;
pub use thresholds::{Threshold, Thresholds};

use model::{
    Meta, Phase, PhaseVerdict, REPORT_SCHEMA, Report, Timeline, Timestamp, Verdict, Window,
};
use scene::{Roles, Scene, Scope};
use think_time::Think;

/// Makes a recording ready to be judged and shown: every byte of storage traffic counted once, every wait class there,
/// and what was counted in on-windows as it stands for all the time. Before `diagnose`, once.
pub fn prepare(timeline: &mut Timeline) {
    inherited::without_inherited(timeline);
    thread_times::with_every_class(timeline);
    coverage::estimate(timeline);
}

/// The answer for one recording: over its steady phase, or over `asked` where the user names a window.
pub fn diagnose(timeline: &Timeline, meta: &Meta, asked: Option<Window>) -> Report {
    judge(timeline, meta, asked, false)
}

/// `with_spikes` is whether they are looked for: over all phases, or over what was asked for.
fn judge(timeline: &Timeline, meta: &Meta, asked: Option<Window>, with_spikes: bool) -> Report {
    let thresholds = Thresholds::default();
    let roles = Roles::new(timeline, meta);
    let bins = &roles.bins;
    let mut phases = phases::phases(&roles, &thresholds);
    let window = asked.unwrap_or_else(|| phases::judged(&phases, timeline.window));
    let window = comparable(timeline, bins, window);
    let mut sides = Vec::new();
    for phase in phases::of_several(&mut phases, bins) {
        let scene = Scene::new(&roles, phase.window, Scope::Phase);
        let facts = facts::measure(&scene, &thresholds);
        phase.verdict = headline(rank::rank(causes::judge(&facts), &facts));
        sides.push(borders::Side::of(&facts));
    }
    borders::tell(&mut phases, &sides, &roles, &thresholds);
    let loaded = asked.unwrap_or_else(|| phases::all(&phases, window));
    let spikes = with_spikes.then(|| spikes::of(timeline, meta, loaded));
    let spikes = spikes.flatten();
    let scene = Scene::new(&roles, window, Scope::Run);
    let mut facts = facts::measure(&scene, &thresholds);
    facts.of_run = facts::OfRun {
        spikes: spikes.as_ref(),
        grown: borders::grown(&phases, window),
    };
    let mut verdict = verdict(&facts, &phases, &thresholds);
    for finding in &mut verdict.findings {
        if let Some(command) = proof::command(finding, meta) {
            finding.to_confirm = command;
        }
    }
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        identity: meta.identity.clone(),
        window,
        origin: phases::origin(timeline, meta, bins),
        workload: meta.workload.clone(),
        subjects: facts.subjects(),
        threads: steal::of_threads(&scene),
        signals: workload_metrics::report(timeline, bins, meta, window),
        labels: labels::report(timeline, meta, window),
        disks: Vec::new(),
        connections: Vec::new(),
        by_second: None,
        programs: Vec::new(),
        statements: Vec::new(),
        lock_holders: Vec::new(),
        wait_graph: Vec::new(),
        stacks: None,
        think_time: facts.think.map(Think::report),
        goals: facts.goals.clone(),
        pressure: facts.pressure.clone(),
        gaps: timeline.gaps.clone(),
        cost: meta.cost.clone(),
        environment: meta.environment.clone(),
        verdict,
        machine: None,
        proof: None,
        named_after_ns: None,
        // Their facts are borrowed up to here.
        spikes,
        phases,
    }
}

fn verdict(facts: &facts::Facts<'_>, phases: &[Phase], thresholds: &Thresholds) -> Verdict {
    let ranked = rank::rank(causes::judge(facts), facts);
    let ranked_healthy = ranked
        .findings
        .first()
        .is_some_and(|finding| finding.cause == "healthy");
    Verdict {
        findings: ranked.findings,
        ruled_out: ruled_out::ruled_out(facts, thresholds),
        judged: ranked.judged,
        caveats: caveats::caveats(facts, phases, thresholds),
        not_collected: caveats::not_collected(facts),
        headroom: ranked_healthy.then(|| bounds::headroom(facts)).flatten(),
        account: facts.account.clone(),
        generator: facts
            .generator
            .as_ref()
            .map(|generator| facts.threads_of(generator)),
    }
}

/// The same with the disks, connections, programs, statements and who waits for whom, with the run by the second and its spikes; where the user names no window, with when its cause was named.
pub fn answer(timeline: &Timeline, meta: &Meta, asked: Option<Window>) -> Report {
    let report = block_io::with_disks(judge(timeline, meta, asked, true), timeline);
    let report = flows::with_connections(report, timeline);
    let report = program_runs::with_programs(report, timeline);
    let report = statements::with_statements(report, timeline);
    let report = lock_holders::with_lock_holders(report, timeline, meta);
    let report = wait_graph::with_wait_graph(report, timeline);
    let report = by_second::with_seconds(report, timeline, meta);
    // What needs the whole run to be seen has no time at which it was named.
    match asked {
        None if !causes::is_event(&report) => named::with_time(report, timeline, meta),
        _ => report,
    }
}

/// The instant that is shown as 0 s, and the part of the recording that is judged where the user names
/// none.
pub fn judged(timeline: &Timeline, meta: &Meta) -> (Timestamp, Window) {
    let roles = Roles::new(timeline, meta);
    let phases = phases::phases(&roles, &Thresholds::default());
    let window = phases::judged(&phases, timeline.window);
    (
        phases::origin(timeline, meta, &roles.bins),
        comparable(timeline, &roles.bins, window),
    )
}

/// The intervals of the workload's signal, in the order of their ends.
pub fn intervals(timeline: &Timeline, meta: &Meta) -> Vec<Window> {
    let bins = workload_metrics::bins(timeline, meta);
    bins.into_iter().map(|bin| bin.window).collect()
}

/// How many operations the workload says it completed in each of some windows; none where it does not say.
pub fn completed(timeline: &Timeline, windows: &[Window]) -> Vec<f64> {
    let bins = workload_metrics::workload_bins(timeline);
    let in_window = |window: &Window| {
        let each = bins.iter().filter_map(|bin| {
            let both = bin.window.intersect(*window)?;
            Some(bin.throughput * both.len_ns() as f64 / 1e9)
        });
        each.sum()
    };
    match bins.is_empty() {
        true => Vec::new(),
        false => windows.iter().map(in_window).collect(),
    }
}

/// Threads and response times are compared over the same time: that of whole bins.
fn comparable(timeline: &Timeline, bins: &[workload_metrics::Bin], window: Window) -> Window {
    workload_metrics::whole_bins(bins, window)
        .intersect(timeline.window)
        .unwrap_or(window)
}

fn headline(ranked: rank::Ranked) -> Option<PhaseVerdict> {
    let finding = ranked.findings.into_iter().next()?;
    Some(PhaseVerdict {
        cause: finding.cause,
        entity: finding.entity,
        share: finding.share,
        confidence: finding.confidence,
        sentence: finding.sentence,
        at_peer: finding.at_peer.map(|it| it.cause),
    })
}
