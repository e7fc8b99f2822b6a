//! Bursts: steps in which counters grow far more than usual.

use model::{Series, Window};

use crate::stats::{median, median_and_noise};

/// Events nearer to each other than this are one, s.
const ONE: f64 = 1.0;
/// How exactly a time is known that the kernel or a server gave to an event, s.
pub(super) const EXACT: f64 = 0.001;
/// The shortest step in which a counter's growth is looked at, ns.
const STEP_NS: i64 = 100_000_000;
/// No more steps than this.
const MOST_STEPS: i64 = 100_000;
/// A burst grows by more than so many times the median of all steps, and by more deviations than noise has.
const BURST: f64 = 3.0;
const DEVIATIONS: f64 = 6.0;
/// What bursts of a stream take of its steps at most.
const MOST_BURSTING: f64 = 0.3;

/// The first of those that come close together.
pub(super) fn firsts(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    let mut last = f64::NEG_INFINITY;
    times.retain(|time| time - std::mem::replace(&mut last, *time) > ONE);
    times
}

/// How many steps bursts take: one that lies across the border of two takes one.
fn lasting(bursting: &[usize]) -> usize {
    let runs = bursting.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| (run.len() - 1).max(1)).sum()
}

/// How much some counters grow together, step by step.
pub(super) struct Steps {
    /// Length of each.
    pub(super) seconds: f64,
    grown: Vec<f64>,
    /// When they were read, s after the window's start.
    readings: Vec<f64>,
}

/// When they grow far more than usual, s after the window's start, and how exactly that is known, s.
pub(super) struct Bursts {
    pub(super) times: Vec<f64>,
    pub(super) resolution: f64,
}

impl Bursts {
    /// The same beginning at the first of these times that is near each, where every one has such a time.
    pub(super) fn beginning_at(self, known: &[f64]) -> Self {
        let first = |burst: &f64| {
            let near = known.partition_point(|it| *it < burst - self.resolution);
            let first = known.get(near).copied();
            first.filter(|it| *it <= burst + self.resolution)
        };
        // Two of them may have the same first one.
        let known: Option<Vec<f64>> = self.times.iter().map(first).collect();
        match known {
            Some(times) => Self {
                times: firsts(times),
                resolution: EXACT,
            },
            None => self,
        }
    }
}

impl Steps {
    /// `None` where they do not grow.
    pub(super) fn of(all: Vec<Series<'_>>, window: Window) -> Option<Self> {
        let grows = |it: &Series<'_>| it.growth(window).is_some_and(|grown| grown > 0.0);
        let all: Vec<Series<'_>> = all.into_iter().filter(grows).collect();
        let longest = all.iter().max_by_key(|it| it.values_in(window).count())?;
        let rows: Vec<_> = longest.values_in(window).map(|(at, _)| at).collect();
        let gaps: Vec<f64> = rows
            .windows(2)
            .map(|it| it[1].ns_since(it[0]) as f64)
            .collect();
        // Rows are left out while nothing changes: the shorter gaps are the readings.
        let mut sorted = gaps;
        sorted.sort_by(f64::total_cmp);
        let usual = sorted.get(sorted.len() / 4).copied().unwrap_or(0.0) as i64;
        let length = usual.max(STEP_NS).max(window.len_ns() / MOST_STEPS);
        let count = usize::try_from(window.len_ns() / length).ok()?;
        let mut grown = vec![0.0; count];
        for series in all {
            let mut cursor = series.cursor();
            for (at, sum) in grown.iter_mut().enumerate() {
                let start = window.start + at as i64 * length;
                let own = cursor.growth(Window::new(start, start + length));
                *sum += own.unwrap_or(0.0);
            }
        }
        Some(Self {
            seconds: length as f64 / 1e9,
            grown,
            readings: rows
                .iter()
                .map(|it| it.ns_since(window.start) as f64 / 1e9)
                .collect(),
        })
    }

    /// Whether in most steps nothing grows.
    pub(super) fn are_mostly_idle(&self) -> bool {
        let idle = self.grown.iter().filter(|it| **it <= 0.0).count();
        2 * idle > self.grown.len()
    }

    /// Bursts of `least` or more in a step; `None` where they are no exception.
    pub(super) fn bursts(&self, least: f64) -> Option<Bursts> {
        let (usual, noise) = median_and_noise(&self.grown)?;
        let bar = (BURST * usual).max(usual + DEVIATIONS * noise);
        let is_burst = |it: &f64| *it >= least && *it > bar;
        let steps = 0..self.grown.len();
        let bursting: Vec<usize> = steps.filter(|at| is_burst(&self.grown[*at])).collect();
        if lasting(&bursting) as f64 > MOST_BURSTING * self.grown.len() as f64 {
            return None;
        }
        let middle = |at: &usize| (*at as f64 + 0.5) * self.seconds;
        let times = firsts(bursting.iter().map(middle).collect());
        let gaps: Vec<f64> = times.iter().map(|it| self.gap_around(*it)).collect();
        Some(Bursts {
            resolution: median(&gaps)?.max(self.seconds),
            times,
        })
    }

    /// The time between the readings around a step: a counter may have grown at any time between them. Rows are left out
    /// while nothing changes, so of several it is the shortest in which it grew.
    fn gap_around(&self, time: f64) -> f64 {
        let (from, to) = (time - self.seconds / 2.0, time + self.seconds / 2.0);
        let first = self.readings.partition_point(|it| *it <= from);
        let around = self.readings[first.saturating_sub(1)..].windows(2);
        let around = around.take_while(|it| it[0] < to);
        let shortest = around.map(|it| it[1] - it[0]).min_by(f64::total_cmp);
        shortest.unwrap_or(self.seconds)
    }
}
