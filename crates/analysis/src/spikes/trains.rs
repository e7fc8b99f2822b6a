//! Periods of events: whether their times are those of a clock, with its interval.
//!
//! A period is looked for by the H test (O. C. de Jager, B. C. Raubenheimer, J. W. H. Swanepoel, A powerful test for
//! weak periodic signals with unknown light curve shape in sparse data, Astronomy and Astrophysics 221, 1989), which
//! wants no shape and no bins. Its usual significance is that of independent events. Spikes are not: after one no other
//! can be seen for a while. So what chance gives is drawn: as many events at random times with the same dead time.

use model::Train;

use crate::stats::{Xorshift, median, t_95};

/// Harmonics of the H test.
const HARMONICS: usize = 5;
/// Fewer cycles than this are repetitions, and no period.
const LEAST_CYCLES: f64 = 8.0;
/// Steps of frequency per cycle of the whole span: so that the highest harmonic's phase hardly moves between two.
const STEPS: f64 = 20.0;
/// No more steps than this.
const MOST_STEPS: usize = 20_000;
/// So many events at most, the latest.
const MOST_EVENTS: usize = 150;
/// Trains of events at random times to compare with, and how many of them may be as periodic.
const SURROGATES: usize = 300;
const MOST_AS_PERIODIC: usize = 2;
/// An event belongs to a cycle where it is not further from its time than this part of the period.
const NEAR: f64 = 0.15;
/// Or so many median absolute deviations of those that are, where that is less, but never than this part.
const DEVIATIONS: f64 = 6.0;
const NEAREST: f64 = 0.02;
/// Most events lie so much nearer to each other than to a line that others draw away from them.
const DRAWN_AWAY: f64 = 0.5;
/// Their deviation from the period's own times is this part of it at most. That of ten events whose own is 0.05 is above
/// 0.06 once in five times.
const MOST_JITTER: f64 = 0.08;
/// This part of the cycles at least has an event, and this part of the events that are in no other train is in it.
const LEAST_COVERAGE: f64 = 0.6;
const LEAST_PURITY: f64 = 0.5;
/// A train is every other cycle of another one where this part of its cycles has an event half-way to the next, and more
/// than half of the other events are such.
const LEAST_BETWEEN: f64 = 0.3;
/// What the largest spikes add of all that spikes add.
const MOST_OF_TIME: f64 = 0.9;
/// Trains that are looked for.
const MOST_TRAINS: usize = 3;

/// Events that come with a period; times in seconds.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Found {
    pub(super) period: f64,
    /// Half the width of its 95 % confidence interval.
    pub(super) half_width: f64,
    /// The time of cycle 0.
    pub(super) start: f64,
    pub(super) jitter: f64,
    pub(super) coverage: f64,
    pub(super) purity: f64,
    pub(super) cycles: u64,
    /// Its events by their numbers, with the cycle of each.
    pub(super) members: Vec<(usize, i64)>,
}

impl Found {
    /// A train that was reported, of events at these times.
    pub(super) fn again(train: &Train, times: &[f64]) -> Option<Self> {
        let own = train.spikes.iter().map(|it| *it as usize);
        let own: Vec<(usize, f64)> = own.filter_map(|it| Some((it, *times.get(it)?))).collect();
        let (first, period) = (own.first()?.1, train.period_ns / 1e9);
        let members = own
            .iter()
            .map(|(number, at)| (*number, ((at - first) / period).round() as i64));
        let members: Vec<(usize, i64)> = members.collect();
        let starts = members
            .iter()
            .map(|(number, cycle)| times[*number] - period * *cycle as f64);
        Some(Self {
            period,
            half_width: (train.period_high_ns - train.period_low_ns) / 2e9,
            start: median(&starts.collect::<Vec<f64>>())?,
            jitter: train.jitter_ns / 1e9,
            coverage: train.coverage,
            purity: train.purity,
            cycles: train.cycles,
            members,
        })
    }

    /// When a cycle should have its event.
    pub(super) fn at(&self, cycle: i64) -> f64 {
        self.start + self.period * cycle as f64
    }
}

/// All trains among events at rising `times` of a window of `span` seconds; after each event no other can be seen for
/// `dead` seconds.
pub(super) fn trains(times: &[f64], span: f64, dead: f64) -> Vec<Found> {
    let all: Vec<(usize, f64)> = times.iter().copied().enumerate().collect();
    let mut left = all[all.len().saturating_sub(MOST_EVENTS)..].to_vec();
    let mut found: Vec<Found> = Vec::new();
    while found.len() < MOST_TRAINS {
        let Some(train) = train(&left, times.len(), span, dead) else {
            break;
        };
        let is_in = |number: usize| train.members.iter().any(|(own, _)| *own == number);
        left.retain(|(number, _)| !is_in(*number));
        found.push(train);
    }
    found
}

/// The same where many small spikes lie between a few large ones: of the largest, that add most of the time.
pub(super) fn of_the_largest(times: &[f64], weights: &[f64], span: f64, dead: f64) -> Vec<Found> {
    let all: f64 = weights.iter().sum();
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let mut sum = 0.0;
    let mut largest: Vec<usize> = Vec::new();
    for number in order {
        if sum >= MOST_OF_TIME * all {
            break;
        }
        sum += weights[number];
        largest.push(number);
    }
    if largest.len() == times.len() {
        return Vec::new();
    }
    largest.sort_unstable();
    let own: Vec<f64> = largest.iter().map(|it| times[*it]).collect();
    let mut found = trains(&own, span, dead);
    for train in &mut found {
        train.members.iter_mut().for_each(|it| it.0 = largest[it.0]);
        train.purity = train.members.len() as f64 / times.len() as f64;
    }
    found
}

fn train(events: &[(usize, f64)], count: usize, span: f64, dead: f64) -> Option<Found> {
    let times: Vec<f64> = events.iter().map(|it| it.1).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    let length = last - first;
    if (times.len() as f64) < LEAST_COVERAGE * LEAST_CYCLES || length <= 0.0 {
        return None;
    }
    let search = Search::of(&times, length, dead)?;
    let mut candidates = search.peaks(&times);
    candidates.truncate(20);
    let best = candidates.first()?.0;
    let fit = candidates
        .iter()
        .take_while(|(h, _)| *h >= 0.5 * best)
        .find_map(|(_, frequency)| Some((fit(events, count, 1.0 / frequency)?, *frequency)));
    let (found, frequency) = fit?;
    is_beyond_chance(&search, &times, span, dead, h_statistic(&times, frequency)).then_some(found)
}

/// Frequencies that are tried.
struct Search {
    least: f64,
    step: f64,
    steps: usize,
}

impl Search {
    fn of(times: &[f64], length: f64, dead: f64) -> Option<Self> {
        let mut gaps: Vec<f64> = times.windows(2).map(|it| it[1] - it[0]).collect();
        gaps.sort_by(f64::total_cmp);
        // Two trains may be laid over each other.
        let shortest = (gaps[gaps.len() / 2] / 2.0).max(dead).max(length / 1e4);
        let least = 0.9 * (LEAST_CYCLES - 1.0) / length;
        let most = 1.0 / shortest;
        if most <= least {
            return None;
        }
        let wanted = ((most - least) * STEPS * length).ceil() as usize;
        let steps = wanted.clamp(1, MOST_STEPS);
        Some(Self {
            least,
            step: (most - least) / steps as f64,
            steps,
        })
    }

    fn frequencies(&self) -> impl Iterator<Item = f64> {
        (0..=self.steps).map(|it| self.least + self.step * it as f64)
    }

    /// H at each frequency, in their order.
    fn statistics(&self, times: &[f64]) -> impl Iterator<Item = f64> {
        // From one frequency to the next an event always turns by the same angle: four products instead of a sine and a
        // cosine. Begun anew now and then, so that rounding does not add up.
        const AFRESH: usize = 256;
        let angles = |frequency: f64| -> Vec<(f64, f64)> {
            let angle = |time: &f64| (std::f64::consts::TAU * frequency * time).sin_cos();
            times.iter().map(angle).collect()
        };
        let turns = angles(self.step);
        let mut events = Vec::new();
        self.frequencies().enumerate().map(move |(at, frequency)| {
            if at % AFRESH == 0 {
                events = angles(frequency);
            } else {
                for ((sin, cos), (by_sin, by_cos)) in events.iter_mut().zip(&turns) {
                    (*sin, *cos) = (*sin * by_cos + *cos * by_sin, *cos * by_cos - *sin * by_sin);
                }
            }
            strongest(&events)
        })
    }

    /// Local maxima, the highest first: (H, frequency).
    fn peaks(&self, times: &[f64]) -> Vec<(f64, f64)> {
        let all: Vec<(f64, f64)> = self.statistics(times).zip(self.frequencies()).collect();
        let is_peak = |at: usize| {
            let own = all[at].0;
            let before = at.checked_sub(1).is_none_or(|it| all[it].0 <= own);
            before && all.get(at + 1).is_none_or(|it| it.0 < own)
        };
        let mut peaks: Vec<(f64, f64)> = (0..all.len())
            .filter(|at| is_peak(*at))
            .map(|at| all[at])
            .collect();
        peaks.sort_by(|a, b| b.0.total_cmp(&a.0));
        peaks
    }
}

/// De Jager's H at one frequency.
fn h_statistic(times: &[f64], frequency: f64) -> f64 {
    let angle = |time: &f64| (std::f64::consts::TAU * frequency * time).sin_cos();
    strongest(&times.iter().map(angle).collect::<Vec<_>>())
}

/// De Jager's H of events by sine and cosine of their phase: the strongest sum of harmonics, each further one at a price.
fn strongest(events: &[(f64, f64)]) -> f64 {
    let mut sums = [(0.0, 0.0); HARMONICS];
    for (sin, cos) in events {
        let (mut own_cos, mut own_sin) = (*cos, *sin);
        for sum in &mut sums {
            sum.0 += own_cos;
            sum.1 += own_sin;
            (own_cos, own_sin) = (own_cos * cos - own_sin * sin, own_sin * cos + own_cos * sin);
        }
    }
    let (mut z, mut highest) = (0.0, 0.0_f64);
    for (harmonics, (cos, sin)) in sums.iter().enumerate() {
        z += 2.0 / events.len() as f64 * (cos * cos + sin * sin);
        highest = highest.max(z - 4.0 * harmonics as f64);
    }
    highest
}

/// Whether events at random times are hardly ever as periodic.
fn is_beyond_chance(search: &Search, times: &[f64], span: f64, dead: f64, own: f64) -> bool {
    let mut random = Xorshift::new(times.len() as u64 ^ span.to_bits());
    let free = span - dead * (times.len() - 1) as f64;
    // Where events leave no room for chance, nothing tells them from a period.
    if free <= 0.1 * span {
        return true;
    }
    let mut as_periodic = 0;
    for _ in 0..SURROGATES {
        let mut drawn: Vec<f64> = times.iter().map(|_| random.share() * free).collect();
        drawn.sort_by(f64::total_cmp);
        let drawn: Vec<f64> = drawn
            .iter()
            .enumerate()
            .map(|(at, time)| time + dead * at as f64)
            .collect();
        as_periodic += usize::from(search.statistics(&drawn).any(|it| it >= own));
        if as_periodic > MOST_AS_PERIODIC {
            return false;
        }
    }
    true
}

/// Fits a period by least squares over the events near its times; `None` where it is not one after all.
fn fit(events: &[(usize, f64)], count: usize, guess: f64) -> Option<Found> {
    let mut period = guess;
    let mut start = phase(events, period);
    let mut near = NEAR * period;
    // Near the guess the events of the last cycles may be beyond its reach, and strangers within.
    for _ in 0..10 {
        let members = members(events, start, period, near);
        let line = least_squares(events, &members)?;
        (start, period) = (line.start, line.period);
        let off: Vec<f64> = members
            .iter()
            .map(|(at, cycle)| events[*at].1 - start - period * *cycle as f64)
            .collect();
        let deviation = |from: f64| {
            let each: Vec<f64> = off.iter().map(|it| (it - from).abs()).collect();
            median(&each)
        };
        let (middle, mut own) = (median(&off)?, deviation(0.0)?);
        // A few that are far off draw the line away from most.
        if deviation(middle)? <= DRAWN_AWAY * own {
            start += middle;
            own = deviation(middle)?;
        }
        near = (DEVIATIONS * own).clamp(NEAREST * period, NEAR * period);
    }
    let members = members(events, start, period, near);
    let line = least_squares(events, &members)?;
    let (first, last) = (members.first()?.1, members.last()?.1);
    let cycles = (last - first + 1) as f64;
    let found = Found {
        period: line.period,
        half_width: line.half_width,
        start: line.start,
        jitter: line.deviation,
        coverage: members.len() as f64 / cycles,
        purity: members.len() as f64 / count as f64,
        cycles: cycles as u64,
        members: members
            .iter()
            .map(|(at, cycle)| (events[*at].0, *cycle))
            .collect(),
    };
    let is_one = found.coverage >= LEAST_COVERAGE
        && members.len() as f64 >= LEAST_PURITY * events.len() as f64
        && cycles >= LEAST_CYCLES
        && found.jitter <= MOST_JITTER * period;
    (is_one && !is_every_other(events, &found)).then_some(found)
}

/// Whether most of the other events lie half-way between its cycles: then the period is half of it, and has too much jitter or
/// too many missed cycles to be told.
fn is_every_other(events: &[(usize, f64)], train: &Found) -> bool {
    let is_in = |number: usize| train.members.iter().any(|(own, _)| *own == number);
    let others = events.iter().filter(|(number, _)| !is_in(*number));
    let (mut between, mut all) = (0, 0);
    for (_, time) in others {
        let cycles = (time - train.start) / train.period;
        all += 1;
        between += usize::from((cycles - cycles.floor() - 0.5).abs() <= NEAR);
    }
    between as f64 >= LEAST_BETWEEN * train.cycles as f64 && 2 * between > all
}

/// The time of cycle 0 by the mean angle of all events.
fn phase(events: &[(usize, f64)], period: f64) -> f64 {
    let (mut sin, mut cos) = (0.0, 0.0);
    for (_, time) in events {
        let (own_sin, own_cos) = (std::f64::consts::TAU * time / period).sin_cos();
        sin += own_sin;
        cos += own_cos;
    }
    sin.atan2(cos) / std::f64::consts::TAU * period
}

/// Events near a cycle's time, the nearest of each cycle: (place, cycle).
fn members(events: &[(usize, f64)], start: f64, period: f64, near: f64) -> Vec<(usize, i64)> {
    let mut members: Vec<(usize, i64)> = Vec::new();
    let off = |at: usize, cycle: i64| (events[at].1 - start - period * cycle as f64).abs();
    for (at, (_, time)) in events.iter().enumerate() {
        let cycle = ((time - start) / period).round() as i64;
        if off(at, cycle) > near {
            continue;
        }
        match members.last_mut() {
            Some(last) if last.1 == cycle => {
                if off(at, cycle) < off(last.0, cycle) {
                    last.0 = at;
                }
            }
            _ => members.push((at, cycle)),
        }
    }
    members
}

/// A line through times by cycle.
struct Line {
    start: f64,
    period: f64,
    half_width: f64,
    deviation: f64,
}

fn least_squares(events: &[(usize, f64)], members: &[(usize, i64)]) -> Option<Line> {
    let n = members.len() as f64;
    if members.len() < 4 {
        return None;
    }
    let points = || {
        members
            .iter()
            .map(|(at, cycle)| (*cycle as f64, events[*at].1))
    };
    let mean = |of: fn((f64, f64)) -> f64| points().map(of).sum::<f64>() / n;
    let (mean_cycle, mean_time) = (mean(|it| it.0), mean(|it| it.1));
    let spread: f64 = points()
        .map(|(cycle, _)| (cycle - mean_cycle).powi(2))
        .sum();
    if spread <= 0.0 {
        return None;
    }
    let both: f64 = points()
        .map(|(cycle, time)| (cycle - mean_cycle) * (time - mean_time))
        .sum();
    let period = both / spread;
    let start = mean_time - period * mean_cycle;
    let squares: f64 = points()
        .map(|(cycle, time)| (time - start - period * cycle).powi(2))
        .sum();
    let deviation = (squares / (n - 2.0)).sqrt();
    (period > 0.0).then_some(Line {
        start,
        period,
        half_width: t_95(n - 2.0)? * deviation / spread.sqrt(),
        deviation,
    })
}

#[cfg(test)]
mod tests;
