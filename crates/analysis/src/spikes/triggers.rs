//! Which events come before spikes, and whether that is more than chance.
//!
//! Events that come with the spikes' own period always precede them by some time: what tells the cause from a stranger
//! with the same period is how short that time is, and whether both vary together. So three things are looked at. How
//! near the events come before the onsets, against the same events shifted in a circle. Whether the deviations of both
//! from their periods go together. Whether cycles in which the event is missing have no spike.

use model::{Confidence, Trigger};

use super::events::Stream;
use super::trains::Found;
use crate::stats::Xorshift;
use crate::stats::median;

/// An event is looked for this long before an onset, s, at most, and for this part of the median gap between spikes.
const MOST_BEFORE: f64 = 5.0;
const BEFORE: f64 = 0.5;
/// An event may be this much after an onset, in intervals that onsets are known to: one, as an onset is where its interval
/// begins, and one more, as a spike that begins in an interval's last moments may, or may not, be seen in it.
const LATE: f64 = 2.0;
/// Circular shifts, and permutations of cycles.
const SHIFTS: usize = 500;
/// What is said of a stream needs this recall.
const LEAST_RECALL: f64 = 0.5;
/// The false discovery rate that is accepted (Benjamini, Hochberg, Journal of the Royal Statistical Society B 57(1),
/// 1995), of events that come before spikes, and of those that vary or miss with them.
const FALSE_DISCOVERIES: f64 = 0.05;
/// The jitter of a train that can be that of events, in parts of the interval that onsets are known to: evenly spread
/// over one, they have 0.29.
const LEAST_JITTER: f64 = 0.5;
/// From so many spikes without a period on, and at this level, coming before them is enough.
const LEAST_IRREGULAR: usize = 5;
const LEVEL_IRREGULAR: f64 = 0.01;
/// Fewer spikes than this tell nothing of what comes before them.
const LEAST_SPIKES: usize = 3;
/// Triggers that are reported.
const MOST: usize = 10;
/// Links of one chain: as good as the best to within this much, and no looser than so many times its spread.
const AS_GOOD: f64 = 0.2;
const AS_TIGHT: f64 = 3.0;

/// The triggers among some streams, the likeliest first, and how many were compared. Times are seconds; `interval` is
/// that of the onsets.
pub(super) fn of(
    streams: &[Stream],
    onsets: &[f64],
    trains: &[Found],
    span: f64,
    interval: f64,
) -> (Vec<Trigger>, u64) {
    if onsets.len() < LEAST_SPIKES {
        return (Vec::new(), 0);
    }
    let before = reach(onsets);
    let own = in_train(onsets, trains);
    let scored = streams.iter().map(|stream| {
        let late = LATE * interval + stream.resolution;
        let reach = Reach { before, late };
        Scored {
            trigger: score(stream, onsets, &own, span, reach),
            recall: recall_in_train(&stream.times, onsets, trains, reach),
            alike: alike(&stream.times, onsets, trains, reach, interval),
        }
    });
    let mut found: Vec<Scored> = scored.filter(|it| it.recall >= LEAST_RECALL).collect();
    let p_values: Vec<f64> = found.iter().map(|it| it.trigger.p_value).collect();
    let bar = discoveries(&p_values);
    found.retain(|it| it.trigger.p_value <= bar);
    let alike: Vec<f64> = found.iter().map(|it| it.alike).collect();
    let bar = discoveries(&alike);
    let is_irregular = trains.is_empty() && onsets.len() >= LEAST_IRREGULAR;
    for it in &mut found {
        let is_no_chance = is_irregular && it.trigger.p_value <= LEVEL_IRREGULAR;
        if it.alike <= bar || is_no_chance {
            it.trigger.confidence = Confidence::Consistent;
        }
    }
    rank(&mut found);
    let found = found.into_iter().map(|it| it.trigger).take(MOST);
    (found.collect(), streams.len() as u64)
}

/// A stream beside the spikes.
struct Scored {
    trigger: Trigger,
    /// Part of the spikes of the first train that an event precedes; of all spikes without one.
    recall: f64,
    /// How often chance makes both vary, or miss, so much together.
    alike: f64,
}

impl Scored {
    /// How well events and spikes come together: the harmonic mean of recall and precision.
    fn fit(&self) -> f64 {
        let (recall, precision) = (self.recall, self.trigger.precision);
        2.0 * recall * precision / (recall + precision).max(1e-9)
    }

    fn spread(&self) -> f64 {
        self.trigger.lag_spread_ns.max(self.trigger.resolution_ns) / 1e9
    }
}

/// How far before and after an onset an event may be.
#[derive(Clone, Copy)]
struct Reach {
    before: f64,
    late: f64,
}

fn reach(onsets: &[f64]) -> f64 {
    let gaps: Vec<f64> = onsets.windows(2).map(|it| it[1] - it[0]).collect();
    median(&gaps).map_or(MOST_BEFORE, |gap| (BEFORE * gap).min(MOST_BEFORE))
}

/// The time from the last event before an onset to it, for each onset that has one.
fn lags(times: &[f64], onsets: &[f64], reach: Reach) -> Vec<Option<f64>> {
    let lag = |onset: &f64| {
        let after = times.partition_point(|it| *it <= onset + reach.late);
        let time = times[..after].last()?;
        (onset - time <= reach.before).then_some(onset - time)
    };
    onsets.iter().map(lag).collect()
}

/// Onsets that an event precedes, each weighing the more the nearer it is.
fn nearness(times: &[f64], onsets: &[f64], reach: Reach) -> f64 {
    let lags = lags(times, onsets, reach).into_iter().flatten();
    let near = lags.map(|lag| 1.0 - lag.max(0.0) / (reach.before + reach.late));
    near.sum::<f64>() / onsets.len() as f64
}

/// The onsets of the first train, or all without one. Spikes beside the train have another cause.
fn in_train(onsets: &[f64], trains: &[Found]) -> Vec<f64> {
    match trains.first() {
        Some(train) => train.members.iter().map(|(at, _)| onsets[*at]).collect(),
        None => onsets.to_vec(),
    }
}

/// `own` are those onsets that the events have to come near to.
fn score(stream: &Stream, onsets: &[f64], own: &[f64], span: f64, reach: Reach) -> Trigger {
    let times = &stream.times;
    let each = lags(times, onsets, reach);
    let known: Vec<f64> = each.iter().copied().flatten().collect();
    let lag = median(&known).unwrap_or(0.0);
    let off: Vec<f64> = known.iter().map(|it| (it - lag).abs()).collect();
    let spread = median(&off).unwrap_or(0.0);
    let followed = times.iter().filter(|time| {
        let next = onsets.partition_point(|it| *it < **time - reach.late);
        onsets
            .get(next)
            .is_some_and(|it| it - **time <= reach.before)
    });
    let followed = followed.count();
    let recall = known.len() as f64 / onsets.len() as f64;
    let by_chance = covered(times, span, reach);
    let p_value = shifted(times, own, span, reach);
    Trigger {
        kind: stream.kind,
        name: stream.name.clone(),
        parent: stream.parent.clone(),
        node: stream.node.clone(),
        entity: stream.entity,
        events: times.len() as u64,
        followed: followed as u64,
        recall,
        precision: followed as f64 / times.len() as f64,
        lift: recall / by_chance.max(1e-3),
        lag_ns: lag * 1e9,
        lag_spread_ns: spread * 1e9,
        resolution_ns: stream.resolution * 1e9,
        p_value,
        confidence: Confidence::Suspected,
    }
}

fn recall_in_train(times: &[f64], onsets: &[f64], trains: &[Found], reach: Reach) -> f64 {
    let each = lags(times, onsets, reach);
    let own: Vec<Option<f64>> = match trains.first() {
        Some(train) => train.members.iter().map(|(at, _)| each[*at]).collect(),
        None => each,
    };
    own.iter().flatten().count() as f64 / own.len().max(1) as f64
}

/// The smaller p value of both tests, for both of them.
fn alike(times: &[f64], onsets: &[f64], trains: &[Found], reach: Reach, interval: f64) -> f64 {
    let Some(train) = trains.first() else {
        return 1.0;
    };
    let each = lags(times, onsets, reach);
    // Onsets that vary by no more than they are known by do not vary with anything.
    let varies = match train.jitter >= LEAST_JITTER * interval {
        true => varies_alike(&each, onsets, train),
        false => 1.0,
    };
    (2.0 * varies.min(misses_alike(times, train, reach))).min(1.0)
}

/// Part of the time that lies within reach after an event.
fn covered(times: &[f64], span: f64, reach: Reach) -> f64 {
    let mut until = 0.0_f64;
    let mut sum = 0.0;
    for time in times {
        let (from, to) = (time - reach.late, (time + reach.before).min(span));
        sum += (to - from.max(until)).max(0.0);
        until = until.max(to);
    }
    (sum / span).min(1.0)
}

/// How often the same events, shifted in a circle, come as near. A shift by less than they are known by is none.
fn shifted(times: &[f64], onsets: &[f64], span: f64, reach: Reach) -> f64 {
    let own = nearness(times, onsets, reach);
    let late = reach.late.min(span / 4.0);
    let mut random = Xorshift::new(times.len() as u64 ^ onsets.len() as u64 ^ span.to_bits());
    let mut as_near = 0;
    for _ in 0..SHIFTS {
        let by = late + random.share() * (span - 2.0 * late);
        let split = times.partition_point(|it| it + by < span);
        let wrapped = times[split..].iter().map(|it| it + by - span);
        let moved: Vec<f64> = wrapped
            .chain(times[..split].iter().map(|it| it + by))
            .collect();
        as_near += usize::from(nearness(&moved, onsets, reach) >= own);
    }
    (as_near + 1) as f64 / (SHIFTS + 1) as f64
}

/// How often permutations of the cycles make the onsets as late where the events are.
fn varies_alike(lags: &[Option<f64>], onsets: &[f64], train: &Found) -> f64 {
    let both = train.members.iter().filter_map(|(number, cycle)| {
        let off = onsets[*number] - train.at(*cycle);
        Some((off, off - lags[*number]?))
    });
    let both: Vec<(f64, f64)> = both.collect();
    if both.len() < 6 {
        return 1.0;
    }
    let centre = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
    let (mean_onset, mean_event) = (centre(|it| it.0), centre(|it| it.1));
    let onsets: Vec<f64> = both.iter().map(|it| it.0 - mean_onset).collect();
    let mut events: Vec<f64> = both.iter().map(|it| it.1 - mean_event).collect();
    let product = |events: &[f64]| onsets.iter().zip(events).map(|(a, b)| a * b).sum::<f64>();
    let own = product(&events);
    if own <= 0.0 {
        return 1.0;
    }
    let mut random = Xorshift::new(both.len() as u64);
    let mut as_high = 0;
    for _ in 0..SHIFTS {
        for at in (1..events.len()).rev() {
            events.swap(at, random.below(at + 1));
        }
        as_high += usize::from(product(&events) >= own * (1.0 - 1e-9));
    }
    (as_high + 1) as f64 / (SHIFTS + 1) as f64
}

/// How often as many cycles as have neither would have neither by chance (the hypergeometric distribution).
fn misses_alike(times: &[f64], train: &Found, reach: Reach) -> f64 {
    let Some((first, last)) = train.members.first().zip(train.members.last()) else {
        return 1.0;
    };
    let has_spike = |cycle: i64| train.members.iter().any(|it| it.1 == cycle);
    let has_event = |cycle: i64| {
        let at = train.at(cycle);
        let after = times.partition_point(|it| *it <= at + reach.late + 2.0 * train.jitter);
        let last = times[..after].last();
        last.is_some_and(|it| at - it <= reach.before)
    };
    let cycles: Vec<(bool, bool)> = (first.1..=last.1)
        .map(|it| (has_spike(it), has_event(it)))
        .collect();
    let count = |of: fn(&&(bool, bool)) -> bool| cycles.iter().filter(of).count() as u64;
    let (spikes, events, both) = (count(|it| it.0), count(|it| it.1), count(|it| it.0 && it.1));
    at_least_together(cycles.len() as u64, spikes, events, both)
}

/// The probability that of `all` cycles at least `both` have each of two things, of which `first` and `second` have one.
fn at_least_together(all: u64, first: u64, second: u64, both: u64) -> f64 {
    let ln_choose = |n: u64, k: u64| -> f64 {
        (0..k)
            .map(|it| ((n - it) as f64 / (it + 1) as f64).ln())
            .sum()
    };
    let least = (first + second).saturating_sub(all).max(both);
    let whole = ln_choose(all, second);
    (least..=first.min(second))
        .map(|it| (ln_choose(first, it) + ln_choose(all - first, second - it) - whole).exp())
        .sum()
}

/// The highest p value that is still a discovery.
fn discoveries(p_values: &[f64]) -> f64 {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ranked = sorted.iter().enumerate().rev();
    let mut passing =
        ranked.filter(|(at, p)| **p <= FALSE_DISCOVERIES * (at + 1) as f64 / p_values.len() as f64);
    passing.next().map_or(-1.0, |(_, p)| *p)
}

/// The likeliest first. Of a chain, whose links fit about as well and as tightly, the first link begins it.
fn rank(found: &mut [Scored]) {
    let sure = |it: &Scored| it.trigger.confidence;
    found.sort_by(|a, b| {
        let fit = b.fit().total_cmp(&a.fit());
        let tight = a.spread().total_cmp(&b.spread());
        sure(b).cmp(&sure(a)).then(fit).then(tight)
    });
    let Some(best) = found.first() else {
        return;
    };
    let (confidence, fit, spread) = (sure(best), best.fit(), best.spread());
    let is_link = |it: &Scored| {
        let is_tight = it.spread() <= (AS_TIGHT * spread).max(0.1);
        sure(it) == confidence && it.fit() >= fit - AS_GOOD && is_tight
    };
    // Stable: what is no link keeps its place behind them.
    found.sort_by_key(|it| !is_link(it));
    let links = found.partition_point(is_link);
    let before = |it: &Scored| it.trigger.surely_before_ns();
    found[..links].sort_by(|a, b| before(b).total_cmp(&before(a)));
}

#[cfg(test)]
mod tests;
