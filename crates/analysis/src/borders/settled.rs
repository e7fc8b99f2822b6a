//! How long throughput took to hold behind a border.

use model::Phase;

use super::{bins_of, is_ramp, verb};
use crate::number_format::{duration, rate};
use crate::stats::change_points::LEAST_BINS;
use crate::stats::{mean, median, median_and_noise};
use crate::thresholds::Thresholds;
use crate::workload_metrics::Bin;

/// Deviations of its own noise by which a level's throughput may be off it.
const DEVIATIONS: f64 = 3.0;
/// Part of what follows that must hold too: a stall in a long phase unsettles nothing.
const MOST_OF_IT: f64 = 0.9;
/// Part of a ramp at either end by which is said where it began and ended.
const END: f64 = 0.1;

/// Values at the end of a ramp that must hold: fewer of a slow ramp look level.
const LEAST_HELD: usize = 8;

/// When throughput held, and how that is said.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Settled {
    /// From the border on, ns; `None` where it never did.
    pub(super) after_ns: Option<i64>,
    pub(super) sentence: String,
}

/// Of a phase, and the one that followed it.
pub(super) fn of(
    phase: &Phase,
    followed: Option<&Phase>,
    bins: &[Bin],
    unit: &str,
    thresholds: &Thresholds,
) -> Settled {
    let own = bins_of(bins, phase.window);
    if is_ramp(phase) {
        return of_ramp(phase, followed, &own, unit, thresholds.phases.effect);
    }
    let throughput: Vec<f64> = own.iter().map(|bin| bin.throughput).collect();
    let start = |bin: &Bin| bin.window.start.max(phase.window.start);
    let held = held_from(&throughput, thresholds.phases.effect);
    let after_ns = held.map(|at| start(&own[at]).ns_since(phase.window.start));
    let sentence = match after_ns {
        Some(0) => "Throughput settled at once.".to_owned(),
        Some(ns) => format!("Throughput settled after {}.", duration(ns as f64)),
        None => "Throughput did not settle.".to_owned(),
    };
    Settled { after_ns, sentence }
}

/// The first value from which on they stay near their median: by the least difference that matters, or by what neighbours
/// vary anyway. A single one that is far off is none.
pub(super) fn held_from(values: &[f64], effect: f64) -> Option<usize> {
    let known: Vec<f64> = values.iter().copied().filter(|it| it.is_finite()).collect();
    let level = median(&known)?;
    // By neighbours, so that a slow approach is no noise.
    let steps: Vec<f64> = known.windows(2).map(|it| it[1] - it[0]).collect();
    let noise = median_and_noise(&steps).map_or(0.0, |(_, noise)| noise / std::f64::consts::SQRT_2);
    let band = (effect * level.abs()).max(DEVIATIONS * noise);
    let around = |at: usize| {
        let near = &values[at.saturating_sub(1)..(at + 2).min(values.len())];
        let near: Vec<f64> = near.iter().copied().filter(|it| it.is_finite()).collect();
        median(&near)
    };
    let holds: Vec<bool> = (0..values.len())
        .map(|at| around(at).is_some_and(|it| (it - level).abs() <= band))
        .collect();
    // How many hold from each on.
    let mut many = 0;
    let mut behind: Vec<usize> = holds
        .iter()
        .rev()
        .map(|it| {
            many += usize::from(*it);
            many
        })
        .collect();
    behind.reverse();
    let least = LEAST_BINS.min(values.len());
    (0..values.len().saturating_sub(least - 1)).find(|at| {
        let rest = (values.len() - at) as f64;
        holds[*at..at + least].iter().all(|it| *it) && behind[*at] as f64 >= MOST_OF_IT * rest
    })
}

/// The first value of a ramp from which on they stay near one level to its end, without a trend; `None` where the ramp
/// goes on.
pub(super) fn holds_at_end(values: &[f64], effect: f64) -> Option<usize> {
    let last = values.len().checked_sub(LEAST_HELD.max(values.len() / 4))?;
    (values.len() / 2..=last).find(|at| {
        let held = &values[*at..];
        let Some(level) = median(held) else {
            return false;
        };
        let is_near = |value: &f64| (value - level).abs() <= effect * level.abs();
        let (first, second) = held.split_at(held.len() / 2);
        let trend = mean(second)
            .zip(mean(first))
            .map(|(late, early)| (late - early).abs());
        held.iter().all(is_near) && trend.is_some_and(|it| it <= 0.5 * effect * level.abs())
    })
}

fn of_ramp(
    phase: &Phase,
    followed: Option<&Phase>,
    own: &[Bin],
    unit: &str,
    effect: f64,
) -> Settled {
    let throughputs: Vec<f64> = own.iter().map(|bin| bin.throughput).collect();
    let held = holds_at_end(&throughputs, effect).map(|at| own[at].window.start);
    let settled_ns = match followed {
        Some(next) if !is_ramp(next) => Some(phase.window.len_ns()),
        Some(_) => None,
        None => held.map(|at| at.ns_since(phase.window.start)),
    };
    let lasted = duration(settled_ns.unwrap_or(phase.window.len_ns()) as f64);
    let ends = |of: fn(&Bin) -> Option<f64>| {
        let values: Vec<f64> = own
            .iter()
            .filter_map(of)
            .filter(|it| it.is_finite())
            .collect();
        let many = ((values.len() as f64 * END) as usize).max(LEAST_BINS);
        let many = many.min(values.len());
        mean(&values[..many]).zip(mean(&values[values.len() - many..]))
    };
    let throughput = ends(|bin| Some(bin.throughput));
    let latency = ends(|bin| bin.latency_ns);
    let moved = |pair: Option<(f64, f64)>| match pair {
        Some((a, b)) if a > 0.0 && b > 0.0 => (b / a).ln().abs(),
        _ => 0.0,
    };
    let (what, words) = match (throughput, latency) {
        (_, Some(pair)) if moved(latency) > moved(throughput) * 2.0 => {
            ("Latency", Some((pair, duration(pair.0), duration(pair.1))))
        }
        (Some(pair), _) => (
            "Throughput",
            Some((pair, rate(pair.0), format!("{} {unit}", rate(pair.1)))),
        ),
        (None, _) => ("Throughput", None),
    };
    let Some(((a, b), from, to)) = words else {
        return Settled {
            after_ns: None,
            sentence: "Throughput did not settle.".to_owned(),
        };
    };
    let end = match settled_ns {
        Some(_) => "then settled",
        None => "and had not settled by then",
    };
    Settled {
        after_ns: settled_ns,
        sentence: format!(
            "{what} {} for {lasted}, from {from} to {to}, {end}.",
            verb(a, b)
        ),
    }
}
