//! The user's goals for latency (`--slo`), and whether they were met.

use model::{Goal, GoalReport, Latency, Provenance, Signal};

use crate::number_format::duration;

/// Each goal beside what was measured over the window.
pub(crate) fn judged(goals: &[Goal], signals: &[Signal]) -> Vec<GoalReport> {
    let latency = signals.iter().find(|signal| signal.name == "latency");
    // What a tool derives from clients and throughput is no evidence.
    let latency =
        latency.filter(|it| !matches!(it.provenance, Provenance::Derived | Provenance::None));
    let judged = goals.iter().map(|goal| {
        let measured = latency.and_then(|latency| measured(goal.of, latency));
        let below = goal.below_ns as f64;
        GoalReport {
            goal: *goal,
            value: measured.map(|it| it.value),
            met: measured.and_then(|it| it.is_below(below)),
        }
    });
    judged.collect()
}

/// A latency. Of requests without a reply, and of the highest of a sample, only a lower bound is known.
#[derive(Clone, Copy)]
struct Measured {
    value: f64,
    at_least: bool,
}

impl Measured {
    fn is_below(self, bound: f64) -> Option<bool> {
        let is_below = self.value < bound;
        (!is_below || !self.at_least).then_some(is_below)
    }
}

fn measured(of: Latency, latency: &Signal) -> Option<Measured> {
    match of {
        Latency::Mean => Some(Measured {
            value: latency.mean?,
            at_least: false,
        }),
        Latency::Quantile(q) => {
            let mut quantiles = latency.quantiles.iter();
            // What is of the whole run says nothing of a part of it.
            let quantile = quantiles.find(|it| (it.q - q).abs() < 1e-9 && !it.of_whole_run)?;
            Some(Measured {
                value: quantile.value,
                at_least: quantile.at_least || (q >= 1.0 && quantile.sampled.is_some()),
            })
        }
    }
}

/// Why the goals are not met, or cannot be told to be; `None` where each is.
pub(crate) fn unmet(goals: &[GoalReport]) -> Option<String> {
    let missed = goals.iter().find(|it| it.met == Some(false));
    missed
        .or_else(|| goals.iter().find(|it| it.met.is_none()))
        .map(in_words)
}

/// `p99 latency was 23.0 ms, over the goal of 10.0 ms`
pub(crate) fn in_words(report: &GoalReport) -> String {
    let goal = duration(report.goal.below_ns as f64);
    let of = report.goal.of;
    match (report.met, report.value) {
        (Some(true), Some(value)) => {
            format!(
                "{of} latency was {}, below the goal of {goal}",
                duration(value)
            )
        }
        (Some(false), Some(value)) => {
            format!(
                "{of} latency was {}, over the goal of {goal}",
                duration(value)
            )
        }
        (_, Some(value)) => format!(
            "{of} latency was at least {}, and whether it was below the goal of {goal} is not known",
            duration(value)
        ),
        (_, None) => format!(
            "{of} latency was not measured, so whether it was below the goal of {goal} is not known"
        ),
    }
}

#[cfg(test)]
mod tests {
    use model::Quantile;

    use super::*;

    /// What becomes of a goal of 20 ms for a latency whose mean and highest were 10 ms.
    fn met(of: Latency, provenance: Provenance, sampled: Option<u64>) -> Option<bool> {
        let highest = Quantile {
            q: 1.0,
            value: 1e7,
            sampled,
            at_least: false,
            of_whole_run: false,
        };
        let latency = Signal {
            name: "latency".to_owned(),
            unit: "ns".to_owned(),
            mean: Some(1e7),
            stddev: None,
            quantiles: vec![highest],
            provenance,
            empty_intervals: 0,
        };
        let goal = Goal {
            of,
            below_ns: 20_000_000,
        };
        judged(&[goal], &[latency])[0].met
    }

    #[test]
    fn only_evidence_meets_a_goal() {
        let highest = Latency::Quantile(1.0);
        assert_eq!(met(Latency::Mean, Provenance::Kernel, None), Some(true));
        assert_eq!(met(Latency::Mean, Provenance::Derived, None), None);
        assert_eq!(met(highest, Provenance::Kernel, None), Some(true));
        // Of all the others nothing is known.
        assert_eq!(met(highest, Provenance::Kernel, Some(500)), None);
        assert_eq!(met(Latency::Quantile(0.99), Provenance::Kernel, None), None);
    }
}
