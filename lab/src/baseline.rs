//! What is said without a diagnosis: the three rules by which people blame a resource. Scored on the
//! same runs, they show what the diagnosis is worth beyond them.
//!
//! A rule names a resource and nobody in particular. It is taken to blame the server, or the group
//! that holds nothing but the server: more than that it cannot know.

use std::fmt;

use model::{EntityKind, Report, Resource, StallKind};

use crate::scenario::{Expect, Who};
use crate::witness::{Metric, Metrics};

/// The rules, in the order in which they are shown.
pub const RULES: [&str; 3] = ["highest pressure", "80 % utilised", "biggest z-score"];
/// What the second rule calls utilised: the usual advice.
const UTILISED: f64 = 0.8;
/// Deviations from the healthy mean under which nothing is called unusual: the usual three sigma.
const UNUSUAL: f64 = 3.0;
/// The least deviation of a healthy metric, as a part of its mean and in its own unit (a share, or
/// one per second): a metric that never moved would make any change infinite.
const LEAST_PART: f64 = 0.05;
const LEAST: f64 = 0.01;
const LEAST_RATE: f64 = 1.0;

/// What a rule claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// This family of causes.
    Family(&'static str),
    /// Nothing is wrong.
    Healthy,
    /// It has nothing to go by.
    Silent,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Claim::Family(family) => family,
            Claim::Healthy => "healthy",
            Claim::Silent => "nothing",
        })
    }
}

impl Claim {
    /// Whether the claim is the expected answer. Busy CPUs mean that they are too few, and not a
    /// quota or one thread; of the other families any cause counts.
    pub fn is_right(self, expect: Expect) -> bool {
        let server = matches!(expect.entity, Who::Target | Who::LimitedGroup | Who::Anyone);
        match self {
            Claim::Family("cpu") => expect.cause == "cpu.saturated" && expect.phases.is_empty(),
            Claim::Family(family) => {
                server && expect.cause.split('.').next() == Some(family) && expect.phases.is_empty()
            }
            Claim::Healthy => expect.cause == "healthy",
            Claim::Silent => false,
        }
    }
}

/// The claims of all rules about one run.
pub fn claims(report: &Report, run: &Metrics, healthy: &Metrics) -> [Claim; 3] {
    [pressure(report), utilisation(run), deviation(run, healthy)]
}

/// The resource with the highest pressure is the bottleneck.
fn pressure(report: &Report) -> Claim {
    report
        .pressure
        .iter()
        .filter(|row| row.entity.kind == EntityKind::Machine && row.kind == StallKind::Some)
        .filter(|row| row.share > 0.0)
        .max_by(|a, b| a.share.total_cmp(&b.share))
        .map_or(Claim::Silent, |row| match row.resource {
            Resource::Cpu => Claim::Family("cpu"),
            Resource::Memory => Claim::Family("memory"),
            Resource::Io => Claim::Family("io"),
            Resource::Irq => Claim::Silent,
        })
}

/// A resource that is busy for 80 % of the time is the bottleneck, the busiest first.
fn utilisation(run: &Metrics) -> Claim {
    let busy = |name: &str| run.get(name).map(|metric| metric.mean);
    let used = [("cpu", busy("cpu busy")), ("io", busy("disk busy"))];
    if used.iter().all(|(_, busy)| busy.is_none()) {
        return Claim::Silent;
    }
    used.iter()
        .filter_map(|(family, busy)| Some((*family, (*busy)?)))
        .filter(|(_, busy)| *busy >= UTILISED)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(Claim::Healthy, |(family, _)| Claim::Family(family))
}

/// The metric that is furthest from what it is in healthy runs names the bottleneck.
fn deviation(run: &Metrics, healthy: &Metrics) -> Claim {
    let score = |(name, metric): (&String, &Metric)| {
        let usual = healthy.get(name)?;
        let least = if name.ends_with("busy") {
            LEAST
        } else {
            LEAST_RATE
        };
        let deviation = usual
            .deviation
            .max(usual.mean.abs() * LEAST_PART)
            .max(least);
        Some((family(name), (metric.mean - usual.mean) / deviation))
    };
    let furthest = run
        .iter()
        .filter_map(score)
        .max_by(|a, b| a.1.total_cmp(&b.1));
    match furthest {
        None => Claim::Silent,
        Some((_, score)) if score < UNUSUAL => Claim::Healthy,
        Some((family, _)) => Claim::Family(family),
    }
}

/// What people conclude from a metric that stands out.
fn family(metric: &str) -> &'static str {
    match metric {
        "cpu busy" | "running" => "cpu",
        "blocked" | "disk busy" | "disk reads" | "disk writes" => "io",
        "major faults" | "refaults" | "direct reclaim" | "swapping" => "memory",
        "network bytes" | "retransmits" => "net",
        _ => "lock",
    }
}

/// What is usual: the mean of healthy runs, and the larger of their inner and mutual deviation.
pub fn usual(runs: &[&Metrics]) -> Metrics {
    let mut usual = Metrics::new();
    for name in runs.iter().flat_map(|run| run.keys()) {
        let of: Vec<&Metric> = runs.iter().filter_map(|run| run.get(name)).collect();
        let means: Vec<f64> = of.iter().map(|metric| metric.mean).collect();
        let inner = of.iter().map(|metric| metric.deviation).fold(0.0, f64::max);
        if let Some(mutual) = Metric::of(&means) {
            let deviation = mutual.deviation.max(inner);
            let mean = mutual.mean;
            usual.insert(name.clone(), Metric { mean, deviation });
        }
    }
    usual
}

#[cfg(test)]
mod tests;
