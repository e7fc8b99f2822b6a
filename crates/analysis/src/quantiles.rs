//! Quantiles of latency from single operations that were taken at random from all.

use model::{Quantile, Timeline, Window};

use crate::latency_sample::Samples;
use crate::stats::{is_supported, nearest_rank};

/// Those that are reported, where enough operations lie beyond; then the highest.
pub(crate) const WANTED: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Quantiles of the sampled operations that were completed in `window`; none without samples.
pub(crate) fn of(timeline: &Timeline, window: Window) -> Vec<Quantile> {
    let sample = Samples::of(timeline).inside(window);
    let Some(highest) = sample.last() else {
        return Vec::new();
    };
    let quantile = |q, value: i64| Quantile {
        q,
        value: value as f64,
        sampled: Some(sample.len() as u64),
        at_least: false,
        of_whole_run: false,
    };
    let count = sample.len() as f64;
    let known = WANTED.into_iter().filter(|q| is_supported(count, *q));
    let of = |q| Some(quantile(q, nearest_rank(&sample, q)?));
    let mut quantiles: Vec<Quantile> = known.filter_map(of).collect();
    quantiles.push(quantile(1.0, *highest));
    quantiles
}

#[cfg(test)]
mod tests {
    use model::{Column, EntityId, EntityKind, MISSING, Table, Timestamp, Unit};

    use super::*;

    static COLUMNS: &[Column] = &[Column::gauge("latency_ns", Unit::Nanoseconds, "", "")];
    static SAMPLE: Table = Table::new("latency_sample", EntityKind::Workload, "", COLUMNS);

    /// Samples of 1, 2, 3... ns, 1 ms apart; the window holds those from the second on.
    fn quantiles(count: i64) -> Vec<(f64, f64, Option<u64>)> {
        let at = |ms: i64| Timestamp::from_ns(ms * 1_000_000);
        let window = Window::new(at(0), at(count + 1));
        let mut timeline = Timeline::new(window);
        let table = timeline.table_mut(&SAMPLE);
        table.push(at(-1), EntityId(1), &[9_999_999]);
        for n in 1..=count {
            // Neither their order nor a missing value matters.
            table.push(at(n), EntityId(1), &[count + 1 - n]);
            table.push(at(n), EntityId(1), &[MISSING]);
        }
        let all = of(&timeline, window);
        all.iter().map(|it| (it.q, it.value, it.sampled)).collect()
    }

    #[test]
    fn nothing_is_said_of_too_few() {
        let window = Window::new(Timestamp::from_ns(0), Timestamp::from_ns(9));
        assert!(of(&Timeline::new(window), window).is_empty());
        assert!(quantiles(0).is_empty());
        assert_eq!(quantiles(1), [(1.0, 1.0, Some(1))]);
        assert_eq!(quantiles(10)[0], (0.5, 5.0, Some(10)));
        assert_eq!(quantiles(10).len(), 2);
        assert_eq!(quantiles(499).len(), 4);
    }

    #[test]
    fn ranks_are_exact() {
        let n = Some(5000);
        let expected = [
            (0.5, 2500.0, n),
            (0.9, 4500.0, n),
            (0.95, 4750.0, n),
            (0.99, 4950.0, n),
            (0.999, 4995.0, n),
            (1.0, 5000.0, n),
        ];
        assert_eq!(quantiles(5000), expected);
    }
}
