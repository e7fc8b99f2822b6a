//! A predicted gain, and the one that was measured in the same rounds.

use model::{GainOf, Interval};
use serde::Serialize;

use super::round::Removed;
use crate::outcome::{Answer, Outcome, Prediction};
use crate::scenario::Scenario;
use crate::score::{Found, judge};
use crate::statistics::{interval_of_mean, mean};

/// One round: what was measured, and what the verdict predicted.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Run {
    pub removal: Removed,
    /// `None` where the verdict is wrong, or predicts nothing.
    pub prediction: Option<Prediction>,
    /// Why there is none, or empty.
    pub why: String,
}

impl Run {
    /// A round with its verdict.
    pub fn of(
        scenario: &Scenario,
        outcome: &Outcome,
        answer: Option<&Answer>,
        removal: Removed,
    ) -> Self {
        let right = answer.filter(|it| judge(it, scenario.expect, outcome) == Found::First);
        let prediction = right.and_then(|it| Prediction::of(&it.report));
        let first = answer.and_then(|it| it.report.verdict.findings.first());
        let why = match (first, right, &prediction) {
            (_, _, Some(_)) => String::new(),
            (None, ..) => "there is no verdict".to_owned(),
            (Some(first), None, _) => {
                format!("the verdict is {} of {}", first.cause, first.entity.name)
            }
            (Some(first), Some(_), None) => format!("{} predicts no gain here", first.cause),
        };
        Self {
            removal,
            prediction,
            why,
        }
    }

    /// What was measured, as a part of what there was with the cause, in what the prediction is.
    fn measured(&self, of: GainOf) -> f64 {
        let Removed { with, without, .. } = &self.removal;
        match of {
            GainOf::Throughput => without.throughput / with.throughput - 1.0,
            GainOf::ResponseTime => 1.0 - without.latency_ms / with.latency_ms,
        }
    }
}

/// What came of a situation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    pub scenario: &'static str,
    pub mechanism: &'static str,
    pub runs: Vec<Run>,
    /// Why it is not compared, or empty.
    pub why: String,
}

/// The prediction of a situation beside what was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Gain {
    /// Of the runs' predictions the one in the middle.
    pub predicted: Prediction,
    /// The mean of the rounds.
    pub measured: f64,
    /// Its 95 % interval by Student's t.
    pub range: Interval,
    /// Of how many rounds the measured gain lies inside of the prediction of their own run.
    pub rounds_inside: u32,
    pub rounds: u32,
    pub is_noisy: bool,
}

impl Compared {
    /// One that is not compared.
    pub fn without(scenario: &Scenario, why: &str) -> Self {
        Self {
            scenario: scenario.name,
            mechanism: scenario.mechanism,
            runs: Vec::new(),
            why: why.to_owned(),
        }
    }

    /// One with rounds.
    pub fn of(scenario: &Scenario, runs: Vec<Run>) -> Self {
        let is_predicted = runs.iter().any(|run| run.prediction.is_some());
        let why = runs.first().filter(|_| !is_predicted);
        Self {
            why: why.map_or(String::new(), |run| run.why.clone()),
            runs,
            ..Self::without(scenario, "")
        }
    }

    /// The gain, where it can be compared; predictions in something else than the middle one's are left out.
    pub fn gain(&self) -> Option<Gain> {
        let predicted = |run: &Run| Some((run.prediction.clone()?, run.clone()));
        let mut all: Vec<(Prediction, Run)> = self.runs.iter().filter_map(predicted).collect();
        all.sort_by(|a, b| a.0.gain.total_cmp(&b.0.gain));
        let middle = all.get(all.len().checked_sub(1)? / 2)?.0.clone();
        all.retain(|(prediction, _)| prediction.of == middle.of);
        let rounds: Vec<(Interval, f64)> = all
            .iter()
            .map(|(prediction, run)| (prediction.interval, run.measured(middle.of)))
            .collect();
        // Ratios: their logarithms have a mean.
        let logarithms: Vec<f64> = rounds
            .iter()
            .map(|(_, gain)| to_logarithm(*gain, middle.of))
            .collect();
        let back = |logarithm| from_logarithm(logarithm, middle.of);
        let (low, high) = interval_of_mean(&logarithms)?;
        let inside = rounds.iter().filter(|(it, gain)| holds(*it, *gain)).count();
        Some(Gain {
            measured: back(mean(&logarithms)?),
            range: in_order(back(low), back(high)),
            rounds_inside: u32::try_from(inside).ok()?,
            rounds: u32::try_from(rounds.len()).ok()?,
            is_noisy: all.iter().any(|(_, run)| run.removal.noisy.is_some()),
            predicted: middle,
        })
    }
}

impl Gain {
    /// Whether what was measured lies between the predicted ends.
    pub fn holds(&self) -> bool {
        holds(self.predicted.interval, self.measured)
    }

    /// Half of the predicted interval's width, as a part of the prediction: of one of nothing, of 1 %.
    pub fn half_width(&self) -> f64 {
        let Interval { low, high } = self.predicted.interval;
        (high - low) / 2.0 / self.predicted.gain.max(0.01)
    }

    /// Predicted over measured, of the throughputs or response times then: 1 is exact.
    pub fn ratio(&self) -> f64 {
        let of = self.predicted.of;
        (to_logarithm(self.predicted.gain, of) - to_logarithm(self.measured, of)).exp()
    }
}

fn holds(Interval { low, high }: Interval, gain: f64) -> bool {
    (low..=high).contains(&gain)
}

fn in_order(low: f64, high: f64) -> Interval {
    Interval {
        low: low.min(high),
        high: low.max(high),
    }
}

/// Of what there is then as a part of what there is now.
fn to_logarithm(gain: f64, of: GainOf) -> f64 {
    match of {
        GainOf::Throughput => (1.0 + gain).ln(),
        GainOf::ResponseTime => (1.0 - gain).ln(),
    }
}

fn from_logarithm(logarithm: f64, of: GainOf) -> f64 {
    match of {
        GainOf::Throughput => logarithm.exp() - 1.0,
        GainOf::ResponseTime => 1.0 - logarithm.exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Summary;

    fn summary(throughput: f64, latency_ms: f64) -> Summary {
        Summary {
            throughput,
            latency_ms,
            p99_ms: None,
        }
    }

    /// A round in which half of the response time goes, and a prediction of so much.
    fn run(of: GainOf, gain: f64, without: f64) -> Run {
        Run {
            removal: Removed {
                with: summary(100.0, 4.0),
                without: summary(without, 2.0),
                noisy: None,
            },
            prediction: Some(Prediction {
                change: String::new(),
                of,
                gain,
                interval: Interval {
                    low: gain * 0.8,
                    high: gain * 1.2,
                },
                model: String::new(),
            }),
            why: String::new(),
        }
    }

    fn compared(runs: Vec<Run>) -> Compared {
        Compared {
            scenario: "x",
            mechanism: "y",
            runs,
            why: String::new(),
        }
    }

    #[test]
    fn the_middle_prediction_is_held_against_the_mean() {
        let of = GainOf::Throughput;
        let runs = [(0.5, 150.0), (0.6, 160.0), (2.0, 155.0)];
        let runs = runs.map(|(gain, without)| run(of, gain, without));
        let gain = compared(runs.to_vec()).gain().expect("predicted");
        assert_eq!(gain.predicted.gain, 0.6);
        assert!((gain.measured - 0.55).abs() < 1e-3);
        assert!(gain.range.low < 0.55 && gain.range.high > 0.55);
        assert!(gain.holds() && (gain.half_width() - 0.2).abs() < 1e-9);
        assert_eq!((gain.rounds_inside, gain.rounds), (2, 3));
        assert!((gain.ratio() - 1.6 / 1.55).abs() < 1e-3);
    }

    #[test]
    fn a_response_time_that_halves_is_half_gained() {
        let runs = vec![run(GainOf::ResponseTime, 0.45, 100.0); 2];
        let gain = compared(runs).gain().expect("predicted");
        assert!((gain.measured - 0.5).abs() < 1e-9 && gain.holds());
        assert!((gain.ratio() - 0.55 / 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_predicted_is_not_compared() {
        let none = Run {
            prediction: None,
            ..run(GainOf::Throughput, 0.5, 150.0)
        };
        assert_eq!(compared(vec![none]).gain(), None);
        assert_eq!(compared(Vec::new()).gain(), None);
    }
}
