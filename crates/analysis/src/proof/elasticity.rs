//! How throughput follows a capacity, and when that is known well enough.

use model::{Interval, ProofEstimate, ProofOutcome, ProofPair};

use crate::stats::{mean, mean_of_normal, t_95};

/// Fewer pairs of blocks decide nothing: their spread is not known.
const LEAST_PAIRS: usize = 4;
/// An interval that is narrower than this decides.
const NARROW: f64 = 0.3;
/// An interval that says neither is given up once it is narrower than this: the truth lies between.
const VERY_NARROW: f64 = 0.1;
/// A capacity limits where throughput follows it by at least half.
const FOLLOWS: f64 = 0.5;
/// It does not limit where throughput follows it by less than this either way.
const CARELESS: f64 = 0.2;
/// Where operations take more than so many times as long, the capacity is not ruled out, whatever throughput does.
pub(super) const SLOWER: f64 = 1.5;
/// Without some processes this much is the same.
const THE_SAME: f64 = 0.05;
/// A smaller change is not told from none.
const LEAST_CHANGE: f64 = 0.02;

/// How throughput follows a capacity, with how well that is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Elasticity {
    /// Change of throughput by change of capacity, both as logarithms.
    pub estimate: ProofEstimate,
    /// Pairs of blocks.
    pub pairs: usize,
}

impl Elasticity {
    /// The slope through no change of the pairs, each a change of capacity and of throughput as logarithms, by least
    /// squares, with Student's interval (Draper and Smith 1998, Applied Regression Analysis, 3rd ed., 1.7); `None` of
    /// fewer than two, or where the capacity was not lowered.
    pub fn of(pairs: &[ProofPair]) -> Option<Self> {
        let points: Vec<(f64, f64)> = pairs.iter().filter_map(point).collect();
        let squares: f64 = points.iter().map(|it| it.0 * it.0).sum();
        let products: f64 = points.iter().map(|it| it.0 * it.1).sum();
        let degrees = points.len().checked_sub(1)? as f64;
        let value = products / squares;
        let left: f64 = points.iter().map(|it| (it.1 - value * it.0).powi(2)).sum();
        let half = t_95(degrees)? * (left / degrees / squares).sqrt();
        (value.is_finite() && half.is_finite()).then_some(Self {
            estimate: ProofEstimate {
                value,
                interval: Interval {
                    low: value - half,
                    high: value + half,
                },
            },
            pairs: points.len(),
        })
    }

    fn width(&self) -> f64 {
        self.estimate.interval.high - self.estimate.interval.low
    }
}

/// The logarithms of how much more capacity and throughput there was as it is.
fn point(pair: &ProofPair) -> Option<(f64, f64)> {
    let capacity = (pair.available / pair.lowered_to).ln();
    // Of a block without any operation half a one is assumed, so that standing still counts.
    let least = 0.5;
    let throughput = (pair.throughput / pair.throughput_changed.max(least)).ln();
    (capacity.is_finite() && capacity > 0.0 && throughput.is_finite())
        .then_some((capacity, throughput))
}

/// Whether more pairs would hardly change what is known.
pub fn is_decided(pairs: &[ProofPair]) -> bool {
    let known = Elasticity::of(pairs);
    let says = outcome(known.as_ref()) != ProofOutcome::Inconclusive;
    known.is_some_and(|it| {
        let most = if says { NARROW } else { VERY_NARROW };
        it.pairs >= LEAST_PAIRS && it.width() < most
    })
}

/// What an elasticity says.
pub fn outcome(elasticity: Option<&Elasticity>) -> ProofOutcome {
    let Some(known) = elasticity.filter(|it| it.pairs >= LEAST_PAIRS) else {
        return ProofOutcome::Inconclusive;
    };
    let Interval { low, high } = known.estimate.interval;
    if low >= FOLLOWS {
        ProofOutcome::Proved
    } else if low > -CARELESS && high < CARELESS {
        ProofOutcome::RuledOut
    } else {
        ProofOutcome::Inconclusive
    }
}

/// The change of throughput over all pairs: -0.2 is a fifth less.
pub(super) fn change(pairs: &[ProofPair]) -> Option<f64> {
    effect_of(pairs, |it| Some((it.throughput, it.throughput_changed))).map(f64::exp_m1)
}

/// What the capacity was lowered to over all pairs.
pub(super) fn lowered_to(pairs: &[ProofPair]) -> Option<f64> {
    geometric_mean(pairs.iter().map(|it| it.lowered_to))
}

/// What was available of it over all pairs.
pub(super) fn available(pairs: &[ProofPair]) -> Option<f64> {
    geometric_mean(pairs.iter().map(|it| it.available))
}

/// How many times as long operations took, over all pairs in which that is known.
pub(super) fn slower(pairs: &[ProofPair]) -> Option<f64> {
    let times = pairs
        .iter()
        .filter_map(|it| Some(it.latency_changed_ns? / it.latency_ns?));
    geometric_mean(times)
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.map(f64::ln).filter(|it| it.is_finite()).collect();
    mean(&logarithms).map(f64::exp)
}

fn logarithms(pairs: &[ProofPair], of: impl Fn(&ProofPair) -> Option<(f64, f64)>) -> Vec<f64> {
    let change = |it: &ProofPair| {
        let (before, changed) = of(it)?;
        Some((changed / before).ln()).filter(|it| it.is_finite())
    };
    pairs.iter().filter_map(change).collect()
}

fn effect_of(pairs: &[ProofPair], of: impl Fn(&ProofPair) -> Option<(f64, f64)>) -> Option<f64> {
    mean(&logarithms(pairs, of))
}

/// The relative change of something over the pairs, with its interval.
pub(super) fn effect(
    pairs: &[ProofPair],
    of: impl Fn(&ProofPair) -> Option<(f64, f64)>,
) -> Option<ProofEstimate> {
    let found = mean_of_normal(&logarithms(pairs, of))?;
    Some(ProofEstimate {
        value: found.value.exp_m1(),
        interval: Interval {
            low: found.interval.low.exp_m1(),
            high: found.interval.high.exp_m1(),
        },
    })
}

/// Whether the target is better off without some processes.
pub(super) fn outcome_without(
    throughput: Option<&ProofEstimate>,
    latency: Option<&ProofEstimate>,
) -> ProofOutcome {
    let gains = throughput.is_some_and(|it| it.interval.low > LEAST_CHANGE);
    let is_quicker = latency.is_some_and(|it| it.interval.high < -LEAST_CHANGE);
    let is_same = |it: &ProofEstimate| it.interval.low > -THE_SAME && it.interval.high < THE_SAME;
    // Faster for fewer, or more of slower ones, is no proof.
    let is_worse = throughput.is_some_and(|it| it.value < -LEAST_CHANGE);
    if (gains || is_quicker) && !is_worse {
        return ProofOutcome::Proved;
    }
    match throughput.is_some_and(is_same) && latency.is_none_or(is_same) {
        true => ProofOutcome::RuledOut,
        false => ProofOutcome::Inconclusive,
    }
}
