//! What the system is waiting for, worked out from a recording and nothing else.
//!
//! Pure: a timeline and the run's description in, a report out. No file, no clock, no rendering; but
//! the sentences are made here, once, so that every output says the same. Names of processes,
//! groups and files appear in sentences and decide nothing.
#![warn(missing_docs)]

mod account;
mod books;
mod bootstrap;
mod bounds;
mod by_lot;
mod causes;
mod changes;
mod cpus;
mod facts;
mod gates;
mod groups;
mod holders;
mod inherited;
mod innocent;
mod io;
mod kept;
mod ledger;
mod measure;
mod memory;
mod neighbours;
mod network;
mod over_time;
mod pauses;
mod phases;
mod pressure;
mod quantiles;
mod quota;
mod rank;
mod request_times;
mod rest;
mod sessions;
mod sight;
mod signals;
mod slices;
mod steal;
mod subject;
mod thresholds;
mod wait_events;
mod waits_for;
mod watched;
mod words;

pub use causes::{Cause, Kind as CauseKind, all as causes};
pub use inherited::without_inherited;
pub use over_time::{LedgerOverTime, THREAD_CLASSES, ThreadTime};
pub use request_times::RequestTimes;
pub use thresholds::Thresholds;
pub use words::{bound, count, duration, integer, percent, rate};

use facts::Scope;
use model::{Meta, PhaseVerdict, REPORT_SCHEMA, Report, Timeline, Timestamp, Verdict, Window};

/// The answer for one recording: over its steady phase, or over `asked` where the user names a window.
pub fn diagnose(timeline: &Timeline, meta: &Meta, asked: Option<Window>) -> Report {
    let thresholds = Thresholds::default();
    let bins = signals::bins(timeline, meta);
    let mut phases = phases::phases(timeline, meta, &bins, &thresholds);
    let window = asked.unwrap_or_else(|| phases::judged(&phases, timeline.window));
    let window = comparable(timeline, &bins, window);
    for phase in phases::of_several(&mut phases, &bins) {
        let of_phase = (phase.window, Scope::Phase);
        let facts = facts::measure(timeline, meta, &bins, of_phase, &thresholds);
        phase.verdict = headline(rank::rank(causes::judge(&facts, &thresholds), |cause| {
            facts.concerns(cause)
        }));
    }
    let facts = facts::measure(timeline, meta, &bins, (window, Scope::Run), &thresholds);
    let ranked = rank::rank(causes::judge(&facts, &thresholds), |cause| {
        facts.concerns(cause)
    });
    let ranked_healthy = ranked
        .findings
        .first()
        .is_some_and(|finding| finding.cause == "healthy");
    let verdict = Verdict {
        findings: ranked.findings,
        innocent: innocent::innocent(&facts, &thresholds),
        judged: ranked.judged,
        caveats: gates::caveats(&facts, &phases, &thresholds),
        not_seen: gates::not_seen(&facts),
        headroom: ranked_healthy.then(|| bounds::headroom(&facts)).flatten(),
        account: facts.account.clone(),
        generator: facts
            .generator
            .as_ref()
            .map(|generator| facts.threads_of(generator)),
    };
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        identity: meta.identity.clone(),
        window,
        origin: phases::origin(timeline, meta, &bins),
        workload: meta.workload.clone(),
        subjects: facts.subjects(),
        threads: steal::of_threads(timeline, meta, window),
        signals: signals::report(timeline, &bins, meta, window),
        pressure: facts.pressure.clone(),
        gaps: timeline.gaps.clone(),
        cost: meta.cost.clone(),
        environment: meta.environment.clone(),
        verdict,
        phases,
    }
}

/// The instant that is shown as 0 s, and the part of the recording that is judged where the user names
/// none.
pub fn judged(timeline: &Timeline, meta: &Meta) -> (Timestamp, Window) {
    let bins = signals::bins(timeline, meta);
    let phases = phases::phases(timeline, meta, &bins, &Thresholds::default());
    let window = phases::judged(&phases, timeline.window);
    (
        phases::origin(timeline, meta, &bins),
        comparable(timeline, &bins, window),
    )
}

/// The intervals of the workload's signal, in the order of their ends.
pub fn intervals(timeline: &Timeline, meta: &Meta) -> Vec<Window> {
    let bins = signals::bins(timeline, meta);
    bins.into_iter().map(|bin| bin.window).collect()
}

/// Threads and response times are compared over the same time: that of whole bins.
fn comparable(timeline: &Timeline, bins: &[signals::Bin], window: Window) -> Window {
    signals::whole_bins(bins, window)
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
    })
}
