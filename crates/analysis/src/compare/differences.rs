//! How far one group's figure is from another's, and how sure that is.

use std::collections::BTreeMap;

use model::{Difference, Interval, IntervalMethod, LedgerClass};

use super::intervals::Second;
use super::measured::{AccountedSecond, Measured};
use super::{Group, code, in_turns};
use crate::stats::{histogram, mean, median, resamples, shift};

/// The difference of a figure; `None` where one of both has no value.
pub(super) fn between(
    baseline: &Group,
    other: &Group,
    key: &str,
    value: impl Fn(&Measured) -> Option<f64>,
) -> Option<Difference> {
    let of = |group: &Group| group.runs.iter().filter_map(&value).collect::<Vec<f64>>();
    let (first, second) = (of(baseline), of(other));
    let (before, after) = (median(&first)?, median(&second)?);
    let relative = (before != 0.0).then(|| after / before - 1.0);
    let plain = Difference {
        absolute: after - before,
        relative,
        interval: None,
        method: IntervalMethod::None,
    };
    if let Some(pairs) = in_turns::pairs(baseline, other, &value) {
        return Some(in_turns::difference(&pairs, plain));
    }
    if first.len() + second.len() > 2 {
        return Some(between_runs(&first, &second, plain));
    }
    let runs = baseline.runs.first().zip(other.runs.first());
    let interval = runs.and_then(|(one, other)| within(one, other, key));
    Some(match interval {
        Some(interval) => Difference {
            interval: Some(interval),
            method: IntervalMethod::WithinRuns,
            ..plain
        },
        None => plain,
    })
}

/// By the runs of both groups. Ratios where every value is above 0, so their logarithms are compared; else differences,
/// as parts of the baseline.
fn between_runs(first: &[f64], second: &[f64], plain: Difference) -> Difference {
    let are_positive = first.iter().chain(second).all(|it| *it > 0.0);
    let estimate = match are_positive {
        true => {
            let logs = |values: &[f64]| values.iter().map(|it| it.ln()).collect::<Vec<f64>>();
            shift(&logs(first), &logs(second))
                .map(|it| [it.value, it.interval.low, it.interval.high].map(f64::exp_m1))
        }
        false => median(first).filter(|it| *it != 0.0).and_then(|before| {
            let it = shift(first, second)?;
            Some([it.value, it.interval.low, it.interval.high].map(|it| it / before))
        }),
    };
    match estimate {
        Some([relative, low, high]) => Difference {
            relative: Some(relative),
            interval: Some(Interval { low, high }),
            method: IntervalMethod::BetweenRuns,
            ..plain
        },
        None => plain,
    }
}

/// By what varies within two runs; `None` where that is not known of this figure, or the runs are too short.
fn within(first: &Measured, second: &Measured, key: &str) -> Option<Interval> {
    const BOTH_ENDS: f64 = 0.025;
    let mut ratios = match key {
        "throughput" => ratios(&first.seconds, &second.seconds, throughput),
        "latency" => ratios(&first.seconds, &second.seconds, latency),
        "latency.p99" => ratios(&first.seconds, &second.seconds, p99),
        _ => match key.strip_prefix(code::KEY) {
            Some(function) => of_function(first, second, function)?,
            None => of_wait(first, second, key)?,
        },
    };
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len().checked_sub(1)? as f64;
    let at = |q: f64| ratios[(last * q).round() as usize] - 1.0;
    Some(Interval {
        low: at(BOTH_ENDS),
        high: at(1.0 - BOTH_ENDS),
    })
}

/// What a figure of the second is of that of the first, of each resample of both.
fn ratios<T>(first: &[T], second: &[T], of: impl Fn(&[T], &[usize]) -> Option<f64>) -> Vec<f64> {
    let drawn = resamples(first.len(), 1).into_iter();
    let drawn = drawn.zip(resamples(second.len(), 2));
    let ratio =
        |(one, other): (Vec<usize>, Vec<usize>)| Some(of(second, &other)? / of(first, &one)?);
    let ratios = drawn.filter_map(ratio);
    ratios.filter(|it| it.is_finite()).collect()
}

/// The same of a function's CPU time for a request.
fn of_function(first: &Measured, second: &Measured, function: &str) -> Option<Vec<f64>> {
    let [one, other] = [first, second].map(|it| Some(it.code.as_ref()?.pieces(function)));
    Some(ratios(&one?, &other?, code::for_a_request))
}

/// The same of a wait per request: its share of the response time times that.
fn of_wait(first: &Measured, second: &Measured, key: &str) -> Option<Vec<f64>> {
    let mut classes = LedgerClass::ALL.iter();
    let class = classes.position(|it| key.strip_prefix("wait.") == Some(it.word()))?;
    let share = |seconds: &[AccountedSecond], places: &[usize]| {
        let sum = |of: &dyn Fn(&AccountedSecond) -> f64| -> f64 {
            places.iter().map(|it| of(&seconds[*it])).sum()
        };
        let (own, all) = (sum(&|it| it.classes[class]), sum(&|it| it.total_ns));
        (own > 0.0 && all > 0.0).then(|| own / all)
    };
    let shares = ratios(&first.account, &second.account, share);
    let latencies = ratios(&first.seconds, &second.seconds, latency);
    Some(
        shares
            .into_iter()
            .zip(latencies)
            .map(|(share, latency)| share * latency)
            .collect(),
    )
}

fn throughput(seconds: &[Second], places: &[usize]) -> Option<f64> {
    let sum = |of: fn(&Second) -> f64| places.iter().map(|it| of(&seconds[*it])).sum::<f64>();
    let length = sum(|it| it.length_s);
    (length > 0.0).then(|| sum(|it| it.requests) / length)
}

fn latency(seconds: &[Second], places: &[usize]) -> Option<f64> {
    let known = places.iter().map(|it| &seconds[*it]);
    let known = known.filter_map(|it| Some((it.response_ns?, it.requests)));
    let (ns, requests) = known.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (requests > 0.0).then(|| ns / requests)
}

fn p99(seconds: &[Second], places: &[usize]) -> Option<f64> {
    // Bounds above 0 are in the order of their bits.
    let mut all: BTreeMap<u64, f64> = BTreeMap::new();
    for place in places {
        for (bound, count) in &seconds[*place].buckets {
            if *count > 0.0 {
                *all.entry(bound.to_bits()).or_default() += count;
            }
        }
    }
    let buckets: Vec<(f64, f64)> = all
        .into_iter()
        .map(|(bits, count)| (f64::from_bits(bits), count))
        .collect();
    histogram::quantile(&buckets, None, 0.99).filter(|it| *it > 0.0)
}

/// How far runs of one group are apart: their standard deviation as a part of their mean, of all groups together; `None`
/// where no group has two.
pub(super) fn noise(groups: &[Group], value: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for group in groups {
        let values: Vec<f64> = group.runs.iter().filter_map(&value).collect();
        let Some(centre) = mean(&values).filter(|it| values.len() > 1 && *it != 0.0) else {
            continue;
        };
        squares += values
            .iter()
            .map(|it| (it / centre - 1.0).powi(2))
            .sum::<f64>();
        degrees += (values.len() - 1) as f64;
    }
    (degrees > 0.0).then(|| (squares / degrees).sqrt())
}
