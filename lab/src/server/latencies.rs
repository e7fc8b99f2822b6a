//! How long operations took, counted by all threads without waiting for each other: buckets of equal
//! ratio, as in an HDR histogram, since a 99th percentile is asked for to a few percent and no closer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Each bucket reaches this much further than the one before.
const RATIO: f64 = 1.02;
/// The first ends here, ns.
const LEAST_NS: f64 = 1000.0;
/// The last begins at about 400 s.
const BUCKETS: usize = 1000;

/// Counts of operations by how long they took.
pub struct Latencies(Box<[AtomicU64]>);

impl Default for Latencies {
    fn default() -> Self {
        Self((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Latencies {
    /// One more operation.
    pub fn add(&self, took: Duration) {
        let bucket = (took.as_nanos() as f64 / LEAST_NS).max(1.0).ln() / RATIO.ln();
        self.0[(bucket as usize).min(BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// What a part of all, 0 to 1, did not exceed, ms; 0 without any.
    pub fn quantile_ms(&self, part: f64) -> f64 {
        let counts: Vec<u64> = self
            .0
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        let wanted = counts.iter().sum::<u64>() as f64 * part;
        let mut seen = 0;
        for (bucket, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            seen += count;
            if seen as f64 >= wanted {
                return LEAST_NS * RATIO.powf(bucket as f64 + 0.5) / 1e6;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_two_percent() {
        let latencies = Latencies::default();
        assert_eq!(latencies.quantile_ms(0.99), 0.0);
        for us in 1..=10_000 {
            latencies.add(Duration::from_micros(us));
        }
        for (part, ms) in [(0.5, 5.0), (0.99, 9.9), (1.0, 10.0)] {
            let found = latencies.quantile_ms(part);
            assert!((found / ms - 1.0).abs() < 0.02, "{part}: {found}");
        }
    }

    #[test]
    fn no_duration_is_too_short_or_too_long() {
        let latencies = Latencies::default();
        latencies.add(Duration::ZERO);
        latencies.add(Duration::MAX);
        assert!(latencies.quantile_ms(0.5) < 0.002);
        assert!(latencies.quantile_ms(1.0) > 300_000.0);
    }
}
