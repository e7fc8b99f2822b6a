//! Runs that took turns: differences within rounds, whatever the machine did between them, and throughput as if alone.
//!
//! Each round runs every command once in random order (a randomised block: Fisher 1935, The Design of Experiments,
//! chapter 4), so that what drifts between rounds is in none of the differences. What others took of a run is put back by
//! its account (`exposure.rs`). What that does not know, such as cold caches, follows exposure: `beside_exposure.rs` takes
//! it out as far as the rounds tell, and makes the interval wider where only one arm was exposed.

use std::collections::BTreeMap;

use model::{Difference, Interval, IntervalMethod};

use super::Group;
use super::beside_exposure::{Expected, Round, beside_exposure};
use super::measured::Measured;
use crate::stats::{Estimate, hodges_lehmann, mean_of_normal, median};

/// From so many rounds on ranks leave out 5 %, and a few rounds that are far off move nothing.
const ENOUGH_FOR_RANKS: usize = 8;

/// The values of both in each round that has both; `None` where the runs took no turns.
pub(super) fn pairs<T: Copy>(
    baseline: &Group,
    other: &Group,
    value: impl Fn(&Measured) -> Option<T>,
) -> Option<Vec<(T, T)>> {
    let by_round = |group: &Group| -> Option<BTreeMap<u32, T>> {
        let all = group
            .runs
            .iter()
            .map(|run| Some((run.run.round?, value(run))));
        let all: Option<Vec<(u32, Option<T>)>> = all.collect();
        let known = all?
            .into_iter()
            .filter_map(|(round, it)| Some((round, it?)));
        Some(known.collect())
    };
    let (first, second) = (by_round(baseline)?, by_round(other)?);
    let both = first
        .iter()
        .filter_map(|(round, one)| Some((*one, *second.get(round)?)));
    Some(both.collect())
}

/// The difference by pairs: of ratios where every value is above 0, else of differences as parts of the baseline.
/// `plain` stays where no round has both.
pub(super) fn difference(pairs: &[(f64, f64)], plain: Difference) -> Difference {
    let are_positive = pairs.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
    let estimate = match are_positive {
        true => {
            let ratios: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
            middle(&ratios).map(|it| [it.value, it.interval.low, it.interval.high].map(f64::exp_m1))
        }
        false => {
            let before: Vec<f64> = pairs.iter().map(|it| it.0).collect();
            let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
            let before = median(&before).filter(|it| *it != 0.0);
            before.zip(middle(&differences)).map(|(before, it)| {
                [it.value, it.interval.low, it.interval.high].map(|it| it / before)
            })
        }
    };
    match estimate {
        Some([relative, low, high]) => Difference {
            relative: Some(relative),
            interval: Some(Interval { low, high }),
            method: IntervalMethod::InTurns,
            ..plain
        },
        None => plain,
    }
}

/// The middle of differences within rounds; `None` of fewer than two.
fn middle(differences: &[f64]) -> Option<Estimate> {
    match differences.len() < ENOUGH_FOR_RANKS {
        true => mean_of_normal(differences),
        false => hodges_lehmann(differences),
    }
}

/// How far the throughput as if alone of one group is from the baseline's; `None` where it is not known of both in any
/// round.
pub(super) fn alone(baseline: &Group, other: &Group) -> Option<Difference> {
    let plain = apart(&pairs(baseline, other, Measured::alone)?)?;
    let both = (baseline, other);
    let doubt = |run: &Measured| run.exposed().map_or(0.0, |it| it.doubt());
    let values = Values {
        value: Measured::alone,
        doubt,
        generator: |_: &Measured| None,
    };
    Some(adjusted(plain, both, values, Expected::ALONE))
}

/// The same of CPU time per request, whose value is `value`: as others on the CPUs change it, it is compared as if both had
/// been exposed alike, and is the less sure the less that was so. What the load generator needs for a request tells what the
/// machine did, where all generators were asked for the same. `plain` stays of runs that took no turns.
pub(super) fn cpu(
    plain: Difference,
    both: (&Group, &Group),
    value: impl Fn(&Measured) -> Option<f64>,
) -> Difference {
    if plain.method != IntervalMethod::InTurns {
        return plain;
    }
    let mut runs = both.0.runs.iter().chain(&both.1.runs);
    let first = runs.next().and_then(|it| it.asked.as_ref());
    let are_alike = first.is_some() && runs.all(|it| it.asked.as_ref() == first);
    let values = Values {
        value,
        doubt: |_: &Measured| 0.0,
        generator: |run: &Measured| run.generator_cpu().filter(|_| are_alike),
    };
    adjusted(plain, both, values, Expected::CPU)
}

/// What is taken of a run: what is compared, the doubt of its model, and what the generator needed of the CPUs for a request.
struct Values<V, D, G> {
    value: V,
    doubt: D,
    generator: G,
}

/// How far the medians of both are apart.
fn apart(pairs: &[(f64, f64)]) -> Option<Difference> {
    let median_of =
        |of: fn(&(f64, f64)) -> f64| median(&pairs.iter().map(of).collect::<Vec<f64>>());
    let (before, after) = (median_of(|it| it.0)?, median_of(|it| it.1)?);
    Some(Difference {
        absolute: after - before,
        relative: (before > 0.0).then(|| after / before - 1.0),
        interval: None,
        method: IntervalMethod::None,
    })
}

/// A difference at equal exposure; `plain` stays where fewer than two rounds have both.
fn adjusted(
    plain: Difference,
    (baseline, other): (&Group, &Group),
    values: Values<
        impl Fn(&Measured) -> Option<f64>,
        impl Fn(&Measured) -> f64,
        impl Fn(&Measured) -> Option<f64>,
    >,
    expected: Expected,
) -> Difference {
    let of = |run: &Measured| {
        let value = (values.value)(run).filter(|it| *it > 0.0)?;
        let generator = (values.generator)(run);
        Some((value, run.exposed()?, (values.doubt)(run), generator))
    };
    let Some(both) = pairs(baseline, other, of) else {
        return plain;
    };
    // Of all rounds or of none: else a round without it would stand for one in which both needed as much.
    let is_known = both.iter().all(|(a, b)| a.3.is_some() && b.3.is_some());
    let rounds: Vec<Round> = both
        .iter()
        .map(
            |((before, first, doubt, less), (after, second, other, more))| Round {
                by: (after / before).ln(),
                exposed_by: second.lost() - first.lost(),
                beside_by: second.others_part() - first.others_part(),
                doubt_by: other - doubt,
                generator_by: match (less, more) {
                    (Some(less), Some(more)) if is_known => (more / less).ln(),
                    _ => 0.0,
                },
            },
        )
        .collect();
    let Some(Estimate { value, interval }) = beside_exposure(&rounds, expected) else {
        return plain;
    };
    Difference {
        relative: Some(value.exp_m1()),
        interval: Some(Interval {
            low: interval.low.exp_m1(),
            high: interval.high.exp_m1(),
        }),
        method: IntervalMethod::InTurns,
        ..plain
    }
}
