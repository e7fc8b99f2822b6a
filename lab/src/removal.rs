//! What taking a cause away changed, as `validate` measured it without stallscope: `score` sees by it whether a decoy
//! costs nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::outcome::read_json;
use crate::validate::Summary;

/// A decoy that makes the mean operation this much longer is a cause (share of 1).
const MOST_OF_THE_MEAN: f64 = 0.10;
/// The same for the 99th percentile, which varies more between runs (share of 1).
const MOST_OF_THE_P99: f64 = 0.30;

/// Less than this is nobody's loss: a thread that wakes on another CPU costs as much, ms.
const LEAST_MS: f64 = 0.05;

/// The same load with the cause and without it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Removal {
    /// Mean of the loads with the cause.
    pub with: Summary,
    /// Mean of those before and after, without it.
    pub without: Summary,
}

impl Removal {
    /// How much longer the mean operation takes with the cause than without: 0.5 is +50 %.
    pub fn mean_longer(&self) -> f64 {
        self.with.latency_ms / self.without.latency_ms - 1.0
    }

    /// The same for the 99th percentile, where the generator says that.
    pub fn p99_longer(&self) -> Option<f64> {
        Some(self.with.p99_ms? / self.without.p99_ms? - 1.0)
    }

    /// Whether the load alone is not noticeably faster, in its mean and in its 99th percentile.
    pub fn is_harmless(&self) -> bool {
        let (with, without) = (self.with, self.without);
        let tails = with.p99_ms.zip(without.p99_ms);
        is_little(with.latency_ms, without.latency_ms, MOST_OF_THE_MEAN)
            && tails.is_none_or(|(with, without)| is_little(with, without, MOST_OF_THE_P99))
    }

    /// Writes it.
    pub fn save(&self, folder: &Path, scenario: &str) -> Result<()> {
        let text = serde_json::to_string_pretty(self).context("a removal becomes JSON")?;
        let path = path(folder, scenario);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// What an earlier `validate` wrote, if it did.
    pub fn load(folder: &Path, scenario: &str) -> Result<Option<Self>> {
        read_json(&path(folder, scenario))
    }
}

/// Whether a latency, ms, is hardly longer than another: by this share of it, or by next to nothing.
fn is_little(with: f64, without: f64, most: f64) -> bool {
    with - without < LEAST_MS || with / without - 1.0 <= most
}

fn path(folder: &Path, scenario: &str) -> PathBuf {
    folder.join(format!("{scenario}.removal.json"))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A removal with these throughputs, mean latencies and 99th percentiles, with and without.
    pub fn removal(with: (f64, f64, f64), without: (f64, f64, f64)) -> Removal {
        let summary = |(throughput, latency_ms, p99_ms)| Summary {
            throughput,
            latency_ms,
            p99_ms: Some(p99_ms),
        };
        Removal {
            with: summary(with),
            without: summary(without),
        }
    }

    #[test]
    fn a_tail_alone_is_harm_enough() {
        assert!(removal((500.0, 1.0, 4.2), (500.0, 1.0, 4.0)).is_harmless());
        assert!(removal((500.0, 0.06, 0.14), (500.0, 0.03, 0.1)).is_harmless());
        assert!(!removal((500.0, 1.05, 9.0), (500.0, 1.0, 4.0)).is_harmless());
        assert!(!removal((100.0, 2.0, 4.0), (150.0, 1.0, 4.0)).is_harmless());
    }

    #[test]
    fn is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(
            Removal::load(folder.path(), "a").expect("nothing there"),
            None
        );
        let saved = removal((1.0, 2.0, 3.0), (4.0, 5.0, 6.0));
        saved.save(folder.path(), "a").expect("written");
        assert_eq!(
            Removal::load(folder.path(), "a").expect("readable"),
            Some(saved)
        );
    }
}
