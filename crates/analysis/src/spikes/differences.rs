//! What is different in spikes: each measure of the recording in the spikes, against calm stretches of the same cycles.

mod code;
mod counters;
mod threads;

use model::{EntityId, MeasureKind, Meta, Spike, SpikeDifference, Timeline, Unit, Window};

use super::pairs::{Pair, pairs};
use crate::stats::{family_p_values, median_and_noise};

/// Fewer spikes than this tell nothing: signs of five pairs agree by chance once in sixteen times.
const LEAST_PAIRS: usize = 6;
/// How sure it has to be that it is no chance, over all measures.
const LEVEL: f64 = 0.05;
/// What differs by less than this factor explains nothing.
const LEAST_FACTOR: f64 = 1.5;
/// And what differs by less time, ns a second.
const LEAST_TIME: f64 = 0.02e9;
/// It is clearly different where it is so many deviations away.
const CLEARLY: f64 = 3.0;
/// No noise is less than this part of the larger side.
const LEAST_NOISE: f64 = 0.05;
/// Measures that are reported.
const MOST: usize = 60;

/// What is measured beside spikes.
#[derive(Clone, PartialEq, Debug)]
struct Measure {
    kind: MeasureKind,
    who: String,
    what: String,
    entity: Option<EntityId>,
    unit: Unit,
    /// Of each pair, per second: in the spike, and in its calm stretch.
    rates: Vec<[f64; 2]>,
    share: Option<f64>,
    /// Whether it is reported: of functions that call each other one is.
    told: bool,
}

/// What is different, what explains most first, and how many measures were compared.
pub(super) fn of(
    timeline: &Timeline,
    meta: &Meta,
    spikes: &[Spike],
    window: Window,
) -> (Vec<SpikeDifference>, u64) {
    let pairs = pairs(spikes, window);
    if pairs.len() < LEAST_PAIRS {
        return (Vec::new(), 0);
    }
    let (mut measures, added_ns) = threads::measures(timeline, meta, &pairs, window);
    measures.extend(code::ran(timeline, &pairs));
    measures.extend(code::waited(timeline, &pairs, added_ns));
    measures.extend(counters::measures(timeline, &pairs));
    measures.retain(|it| it.rates.len() == pairs.len());
    (found(&measures), measures.len() as u64)
}

fn found(measures: &[Measure]) -> Vec<SpikeDifference> {
    let differences: Vec<Vec<f64>> = measures.iter().map(Measure::differences).collect();
    let each = measures.iter().zip(family_p_values(&differences));
    let mut found: Vec<(f64, SpikeDifference)> = each
        .filter(|(measure, p_value)| measure.told && *p_value <= LEVEL)
        .map(|(measure, p_value)| (measure.size(), measure.difference(p_value)))
        .filter(|(_, it)| is_large(it))
        .collect();
    // What it adds up to first, then what stands out most; what falls, falls because of that.
    found.sort_by(|(a_size, a), (b_size, b)| {
        let rises = |it: &SpikeDifference| it.inside > it.outside;
        let share = |it: &SpikeDifference| it.share.unwrap_or(0.0);
        rises(b)
            .cmp(&rises(a))
            .then(share(b).total_cmp(&share(a)))
            .then(b_size.total_cmp(a_size))
    });
    found.truncate(MOST);
    found.into_iter().map(|(_, it)| it).collect()
}

fn is_large(it: &SpikeDifference) -> bool {
    let (most, least) = (it.inside.max(it.outside), it.inside.min(it.outside));
    let is_little_time = it.unit == Unit::Nanoseconds && most - least < LEAST_TIME;
    most >= LEAST_FACTOR * least && !is_little_time
}

impl Measure {
    fn mean(&self, side: usize) -> f64 {
        self.rates.iter().map(|it| it[side]).sum::<f64>() / self.rates.len().max(1) as f64
    }

    fn differences(&self) -> Vec<f64> {
        self.rates.iter().map(|it| it[0] - it[1]).collect()
    }

    /// Standard deviation of its calm stretches.
    fn noise(&self) -> f64 {
        let calm: Vec<f64> = self.rates.iter().map(|it| it[1]).collect();
        let (_, noise) = median_and_noise(&calm).unwrap_or_default();
        let larger = self.mean(0).max(self.mean(1));
        noise.max(LEAST_NOISE * larger).max(f64::MIN_POSITIVE)
    }

    /// By how many deviations it differs on average.
    fn size(&self) -> f64 {
        (self.mean(0) - self.mean(1)).abs() / self.noise()
    }

    fn difference(&self, p_value: f64) -> SpikeDifference {
        let (inside, outside) = (self.mean(0), self.mean(1));
        let sign = (inside - outside).signum();
        let least = CLEARLY * self.noise();
        let clear = self
            .differences()
            .into_iter()
            .filter(|it| it * sign >= least);
        SpikeDifference {
            kind: self.kind,
            who: self.who.clone(),
            what: self.what.clone(),
            entity: self.entity,
            unit: self.unit,
            inside,
            outside,
            spikes: clear.count() as u64,
            of_spikes: self.rates.len() as u64,
            share: self.share.filter(|_| inside > outside),
            p_value,
        }
    }
}

/// Rates of a pair from what was counted around the spike and in the calm stretch. What is read seldom is read late: all
/// that was more than calm around the spike belongs to it.
fn rates(pair: &Pair, around: f64, calm: f64) -> [f64; 2] {
    let usual = calm / pair.calm.seconds();
    let added = around - usual * pair.around.seconds();
    [(usual + added / pair.spike.seconds()).max(0.0), usual]
}

#[cfg(test)]
mod tests;
