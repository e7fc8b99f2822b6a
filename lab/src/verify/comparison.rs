//! The comparisons: each has the report's figure, the independent one, and how far apart they may be.

use std::fmt;

use model::{LedgerClass, Report, ReportSubject, Role};

use super::witness::Testimony;

/// Two ways to measure one thing may differ by this share of it.
const TOLERANCE: f64 = 0.02;
/// Most of the target's time that may be of unknown kind.
const MOST_UNKNOWN: f64 = 0.10;
const NS_PER_S: f64 = 1e9;

/// One line of the check.
#[derive(Clone, PartialEq, Debug)]
pub enum Comparison {
    /// Two figures for one thing.
    Figures {
        what: &'static str,
        unit: &'static str,
        ours: f64,
        other: f64,
        source: &'static str,
    },
    /// A share that must not be larger than a limit.
    AtMost {
        what: &'static str,
        share: f64,
        limit: f64,
    },
    /// A figure that is missing, and which.
    Missing { what: &'static str, why: String },
}

impl Comparison {
    /// Whether the report passes.
    pub fn holds(&self) -> bool {
        match self {
            Comparison::Figures { ours, other, .. } => {
                difference(*ours, *other).is_some_and(|difference| difference.abs() <= TOLERANCE)
            }
            Comparison::AtMost { share, limit, .. } => share <= limit,
            Comparison::Missing { .. } => false,
        }
    }
}

/// The first less the second, as a share of the second; `None` when that says nothing.
fn difference(ours: f64, other: f64) -> Option<f64> {
    let share = (ours - other) / other;
    share.is_finite().then_some(share)
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.holds() { "ok  " } else { "OFF " };
        match self {
            Comparison::Figures {
                what,
                unit,
                ours,
                other,
                source,
            } => {
                let apart = difference(*ours, *other)
                    .map_or("cannot be compared".to_owned(), |d| {
                        format!("{:+.2} %", d * 100.0)
                    });
                write!(
                    f,
                    "{word}{what:22} report {ours:.3} {unit}, {source} {other:.3} {unit}: {apart} \
                     (allowed {:.0} %)",
                    TOLERANCE * 100.0
                )
            }
            Comparison::AtMost { what, share, limit } => write!(
                f,
                "{word}{what:22} report {:.2} % of its threads' time (allowed {:.0} %)",
                share * 100.0,
                limit * 100.0
            ),
            Comparison::Missing { what, why } => write!(f, "{word}{what:22} {why}"),
        }
    }
}

/// Every comparison of a run. `printed` is what pgbench printed.
pub fn all(report: &Report, testimony: &Testimony, printed: &str) -> Vec<Comparison> {
    let targets: Vec<&ReportSubject> = report
        .subjects
        .iter()
        .filter(|subject| subject.role == Role::Target)
        .collect();
    vec![
        throughput(report, printed),
        cpu_time(report, &targets, testimony),
        cpu_wait(report, &targets, testimony),
        unknown(&targets),
    ]
}

/// pgbench's summary is about its whole run and the report's signal about the window that was
/// judged, which differ whenever the rate does. So the phases are compared, which add up to the whole
/// run; the signal must be what the phase of the same window says.
fn throughput(report: &Report, printed: &str) -> Comparison {
    let what = "throughput";
    let signal = report.signals.iter().find(|signal| signal.name == what);
    let judged = report
        .phases
        .iter()
        .find(|phase| phase.window == report.window);
    let agree = match (
        signal.and_then(|s| s.mean),
        judged.and_then(|p| p.throughput),
    ) {
        (Some(signal), Some(phase)) => (signal - phase).abs() <= 0.001 * phase.abs(),
        (None, _) => return missing(what, "the report has no throughput"),
        (Some(_), None) => {
            return missing(what, "no phase of the report has the window's throughput");
        }
    };
    match (whole_run(report), summary_tps(printed)) {
        _ if !agree => missing(
            what,
            "the report's signal differs from its phase of that window",
        ),
        (Some(ours), Some(other)) => Comparison::Figures {
            what,
            unit: "tps",
            ours,
            other,
            source: "pgbench's summary",
        },
        (None, _) => missing(what, "the report's phases have no throughput"),
        (_, None) => missing(what, "pgbench printed no tps"),
    }
}

/// Mean throughput of all phases, by their lengths; the remainder after the last whole interval has
/// none.
pub(super) fn whole_run(report: &Report) -> Option<f64> {
    let phases = report.phases.iter();
    let counted: Vec<(f64, f64)> = phases
        .filter_map(|phase| Some((phase.window.seconds(), phase.throughput?)))
        .collect();
    let seconds: f64 = counted.iter().map(|(seconds, _)| seconds).sum();
    let operations: f64 = counted
        .iter()
        .map(|(seconds, throughput)| seconds * throughput)
        .sum();
    (seconds > 0.0).then(|| operations / seconds)
}

/// `tps = 20928.12 (without initial connection time)`
fn summary_tps(printed: &str) -> Option<f64> {
    let line = printed
        .lines()
        .find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

fn cpu_time(report: &Report, targets: &[&ReportSubject], testimony: &Testimony) -> Comparison {
    let what = "CPU of the target";
    match testimony.usage_over(report.window) {
        _ if targets.is_empty() => missing(what, "the report has no target"),
        None => missing(
            what,
            "the group's CPU time was not read over the whole window",
        ),
        Some(other) => Comparison::Figures {
            what,
            unit: "s",
            ours: targets
                .iter()
                .map(|target| target.cpu_ns as f64)
                .sum::<f64>()
                / NS_PER_S,
            other: other / NS_PER_S,
            source: "its control group",
        },
    }
}

fn cpu_wait(report: &Report, targets: &[&ReportSubject], testimony: &Testimony) -> Comparison {
    let what = "CPU wait of the target";
    // The scheduler's delay holds the time that a quota took too.
    let waits = [LedgerClass::CpuWait, LedgerClass::Throttled];
    match (total(targets, &waits), testimony.delay.is_empty()) {
        (None, _) => missing(what, "the report has no account of the target's threads"),
        (_, true) => missing(what, "no process of the group was seen in /proc"),
        (Some((ours, _)), false) => Comparison::Figures {
            what,
            unit: "s",
            ours: ours / NS_PER_S,
            other: testimony.delay_over(report.window) / NS_PER_S,
            source: "schedstat of its processes",
        },
    }
}

fn unknown(targets: &[&ReportSubject]) -> Comparison {
    let what = "unknown";
    match total(targets, &[LedgerClass::Unknown]) {
        Some((unknown, wall)) if wall > 0.0 => Comparison::AtMost {
            what,
            share: unknown / wall,
            limit: MOST_UNKNOWN,
        },
        _ => missing(what, "the report has no account of the target's threads"),
    }
}

/// (ns in the classes, ns in all) of the targets' threads.
fn total(targets: &[&ReportSubject], classes: &[LedgerClass]) -> Option<(f64, f64)> {
    let accounts: Vec<_> = targets
        .iter()
        .filter_map(|target| target.threads.as_ref())
        .collect();
    if accounts.is_empty() {
        return None;
    }
    let items = accounts.iter().flat_map(|account| &account.items);
    let inside = items
        .filter(|item| classes.contains(&item.class))
        .map(|item| item.ns as f64);
    Some((
        inside.sum(),
        accounts.iter().map(|account| account.wall_ns as f64).sum(),
    ))
}

fn missing(what: &'static str, why: &str) -> Comparison {
    Comparison::Missing {
        what,
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests;
