//! The single operations of a file of results: put together to intervals of each label while they are read, and a sample
//! of what they took. What is kept is bounded, whatever the file holds.

use std::collections::BTreeMap;

use model::{MISSING, Timestamp};

use crate::bin::Bin;
use crate::labels::Labels;

/// The shortest interval, ns.
const LEAST_NS: i64 = 1_000_000_000;
/// Intervals and labels that are kept; beyond, intervals are made twice as long.
const MOST_CELLS: usize = 50_000;
/// Operations that are kept; beyond, every other one is left out.
const MOST_SAMPLED: usize = 100_000;

/// One completed operation, some of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// When it had ended, ns since 1970.
    pub ended_unix_ns: i64,
    /// The number of its label.
    pub label: usize,
    /// How long it took, ns.
    pub latency_ns: i64,
}

/// When the operations of a file were, and how long they took.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Operations {
    /// The labels, by number.
    pub labels: Vec<String>,
    /// Intervals with their label's number; their ends are ns since 1970, and an interval without an operation of a label
    /// is not there.
    pub by_label: Vec<(usize, Bin)>,
    /// Intervals of all operations without a gap, those without an operation too; times as above.
    pub of_all: Vec<Bin>,
    /// Every so-manieth completed operation, in the order of their ends.
    pub sampled: Vec<Operation>,
}

/// What ended in an interval.
#[derive(Clone, Copy, Default)]
struct Cell {
    completed: u64,
    failed: u64,
    /// Time of the completed ones together, ns.
    time_ns: i128,
}

/// Takes operations in any order.
pub(crate) struct Timed {
    /// Where the first interval begins, ns since 1970.
    begun_unix_ns: i64,
    interval_ns: i64,
    labels: Labels,
    /// By number of the interval and of the label.
    cells: BTreeMap<(i64, usize), Cell>,
    /// When the last operation ended, ns since 1970.
    last_unix_ns: i64,
    sampled: Vec<Operation>,
    /// One of so many operations is kept, and how many came since.
    step: u64,
    since: u64,
}

impl Timed {
    /// Of a run that began at this time, ns since 1970.
    pub(crate) fn new(begun_unix_ns: i64) -> Self {
        Self {
            begun_unix_ns,
            interval_ns: LEAST_NS,
            labels: Labels::default(),
            cells: BTreeMap::new(),
            last_unix_ns: begun_unix_ns,
            sampled: Vec::new(),
            step: 1,
            since: 0,
        }
    }

    /// An operation ended, and took so long where it was completed. One from before the run is none of it.
    pub(crate) fn ended(&mut self, name: &str, ended_unix_ns: i64, latency_ns: Option<i64>) {
        let Some(since_ns) = ended_unix_ns
            .checked_sub(self.begun_unix_ns)
            .filter(|it| *it >= 0)
        else {
            return;
        };
        let label = self.labels.number(name);
        let cell = self
            .cells
            .entry((since_ns / self.interval_ns, label))
            .or_default();
        self.last_unix_ns = self.last_unix_ns.max(ended_unix_ns);
        match latency_ns {
            None => cell.failed += 1,
            Some(latency_ns) => {
                cell.completed += 1;
                cell.time_ns += i128::from(latency_ns);
                self.sample(Operation {
                    ended_unix_ns,
                    label,
                    latency_ns,
                });
            }
        }
        while self.cells.len() > MOST_CELLS {
            self.widen();
        }
    }

    fn sample(&mut self, operation: Operation) {
        self.since += 1;
        if self.since < self.step {
            return;
        }
        self.since = 0;
        self.sampled.push(operation);
        if self.sampled.len() > MOST_SAMPLED {
            let mut is_odd = false;
            self.sampled.retain(|_| {
                is_odd = !is_odd;
                is_odd
            });
            self.step *= 2;
        }
    }

    fn widen(&mut self) {
        self.interval_ns = self.interval_ns.saturating_mul(2);
        for ((number, label), cell) in std::mem::take(&mut self.cells) {
            let sum = self.cells.entry((number / 2, label)).or_default();
            sum.completed += cell.completed;
            sum.failed += cell.failed;
            sum.time_ns += cell.time_ns;
        }
    }

    /// All operations.
    pub(crate) fn finish(mut self) -> Operations {
        self.sampled.sort_unstable_by_key(|it| it.ended_unix_ns);
        let by_label = self.cells.iter();
        let by_label = by_label
            .filter_map(|((number, label), cell)| Some((*label, self.bin(*number, *cell)?)));
        Operations {
            by_label: by_label.collect(),
            of_all: self.of_all(),
            labels: self.labels.all().to_vec(),
            sampled: std::mem::take(&mut self.sampled),
        }
    }

    /// Without gaps, so that a stall of all of them is seen; none where most of the time would be without an operation,
    /// as of a file with times that are not the run's.
    fn of_all(&self) -> Vec<Bin> {
        let mut sums: BTreeMap<i64, Cell> = BTreeMap::new();
        for ((number, _), cell) in &self.cells {
            let sum = sums.entry(*number).or_default();
            sum.completed += cell.completed;
            sum.failed += cell.failed;
            sum.time_ns += cell.time_ns;
        }
        let (Some((first, _)), Some((last, _))) = (sums.first_key_value(), sums.last_key_value())
        else {
            return Vec::new();
        };
        if last - first > MOST_CELLS as i64 {
            return Vec::new();
        }
        let each =
            (*first..=*last).map(|number| (number, sums.get(&number).copied().unwrap_or_default()));
        each.filter_map(|(number, cell)| self.bin(number, cell))
            .collect()
    }

    /// The last interval ends with the last operation.
    fn bin(&self, number: i64, cell: Cell) -> Option<Bin> {
        let start = number
            .checked_mul(self.interval_ns)?
            .checked_add(self.begun_unix_ns)?;
        let end = start.checked_add(self.interval_ns)?.min(self.last_unix_ns);
        let interval_ns = end.checked_sub(start).filter(|it| *it > 0)?;
        let mut bin = Bin::silent(Timestamp::from_ns(end), interval_ns);
        bin.throughput_milli = bin.rate_of(cell.completed)?;
        bin.failed = i64::try_from(cell.failed).ok()?;
        let mean = cell.time_ns / i128::from(cell.completed.max(1));
        if cell.completed > 0 {
            bin.latency_mean_ns = i64::try_from(mean).unwrap_or(MISSING);
        }
        Some(bin)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BEGUN: i64 = 1_000_000_000_000;
    const S: i64 = 1_000_000_000;

    #[test]
    fn operations_lie_where_they_ended() {
        let mut timed = Timed::new(BEGUN);
        timed.ended("a", BEGUN - 1, Some(1));
        timed.ended("a", BEGUN + S / 2, Some(4_000));
        timed.ended("a", BEGUN + S / 2, Some(6_000));
        timed.ended("b", BEGUN + S / 4, None);
        timed.ended("b", BEGUN + 3 * S + S / 2, Some(9_000));
        let found = timed.finish();
        let drawn = |bin: &Bin| {
            let end = (bin.end.as_ns() - BEGUN) * 10 / S;
            (
                end,
                bin.interval_ns * 10 / S,
                bin.throughput_milli,
                bin.failed,
                bin.latency_mean_ns,
            )
        };
        assert_eq!(found.labels, ["a", "b"]);
        let by_label: Vec<_> = found
            .by_label
            .iter()
            .map(|(label, bin)| (*label, drawn(bin)))
            .collect();
        let expected = [
            (0, (10, 10, 2000, 0, 5_000)),
            (1, (10, 10, 0, 1, MISSING)),
            (1, (35, 5, 2000, 0, 9_000)),
        ];
        assert_eq!(by_label, expected);
        let of_all: Vec<_> = found.of_all.iter().map(drawn).collect();
        let expected = [
            (10, 10, 2000, 1, 5_000),
            (20, 10, 0, 0, MISSING),
            (30, 10, 0, 0, MISSING),
            (35, 5, 2000, 0, 9_000),
        ];
        assert_eq!(of_all, expected);
        assert_eq!(found.sampled.len(), 3);
    }

    #[test]
    fn what_is_odd_is_bounded_and_nothing_is_lost() {
        let mut timed = Timed::new(BEGUN);
        let all = 4 * MOST_SAMPLED as i64;
        for n in 0..all {
            timed.ended(&format!("{}", n % 2000), BEGUN + n * S, Some(n));
        }
        let found = timed.finish();
        assert!(found.sampled.len() <= MOST_SAMPLED && found.sampled.len() > MOST_SAMPLED / 2 - 1);
        assert!(found.by_label.len() <= MOST_CELLS);
        let sum = |bins: &mut dyn Iterator<Item = &Bin>| {
            bins.map(Bin::completed).sum::<f64>().round() as i64
        };
        // Rates are kept in thousandths, which is less than an operation in an interval of usual length.
        let counted = sum(&mut found.by_label.iter().map(|it| &it.1));
        assert!((all - all / 1000..=all).contains(&counted), "{counted}");
        let of_all = sum(&mut found.of_all.iter());
        assert!((all - all / 1000..=all).contains(&of_all), "{of_all}");
    }

    proptest! {
        #[test]
        fn any_times_are_survived(times in prop::collection::vec((any::<i64>(), any::<i64>()), 0..20), begun in any::<i64>()) {
            let mut timed = Timed::new(begun);
            for (at, took) in times {
                timed.ended("x", at, Some(took));
            }
            let found = timed.finish();
            let bins = found.by_label.iter().map(|it| &it.1).chain(&found.of_all);
            for bin in bins {
                prop_assert!(bin.interval_ns > 0 && bin.completed().is_finite());
            }
        }
    }
}
