//! What load generators print at their end, as far as throughput and mean latency go.

use std::fmt;

use crate::statistics::mean;

/// The result of one load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Operations per second.
    pub throughput: f64,
    /// Mean, ms; infinite where the generator says none.
    pub latency_ms: f64,
}

impl Summary {
    /// From everything that was printed.
    pub fn parse(text: &str) -> Option<Self> {
        [pgbench, own, redis, sysbench]
            .iter()
            .find_map(|parse| parse(text))
    }

    /// The mean of several.
    pub fn mean<'a>(of: impl Iterator<Item = &'a Summary>) -> Option<Self> {
        let both = of.map(|one| (one.throughput, one.latency_ms));
        let (throughput, latency_ms): (Vec<f64>, Vec<f64>) = both.unzip();
        Some(Self {
            throughput: mean(&throughput)?,
            latency_ms: mean(&latency_ms)?,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}/s, {:.2} ms", self.throughput, self.latency_ms)
    }
}

fn pgbench(text: &str) -> Option<Summary> {
    Some(Summary {
        throughput: after(text, "tps = ")?,
        latency_ms: after(text, "latency average = ")?,
    })
}

fn own(text: &str) -> Option<Summary> {
    let line = text.lines().find(|line| line.starts_with("total: "))?;
    Some(Summary {
        throughput: after(line, " s, ")?,
        latency_ms: after(line, "lat ")?,
    })
}

/// redis-benchmark: the mean stands first in the line below its heading.
fn redis(text: &str) -> Option<Summary> {
    let (_, latencies) = text.split_once("latency summary (msec):")?;
    let values = latencies.lines().nth(2)?;
    Some(Summary {
        throughput: after(text, "throughput summary: ")?,
        latency_ms: values.split_ascii_whitespace().next()?.parse().ok()?,
    })
}

fn sysbench(text: &str) -> Option<Summary> {
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with("transactions:"))?;
    let (_, mean) = text.split_once("avg:")?;
    Some(Summary {
        throughput: after(line, "(")?,
        latency_ms: after(mean, "")?,
    })
}

/// The number that follows a word.
fn after(text: &str, word: &str) -> Option<f64> {
    let (_, rest) = text.split_once(word)?;
    let rest = rest.trim_start();
    let end = rest
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(f64, f64)> {
        Summary::parse(text).map(|summary| (summary.throughput, summary.latency_ms))
    }

    #[test]
    fn each_generator_is_understood() {
        let pgbench = "progress: 1.0 s, 3.0 tps, lat 9 ms\nlatency average = 0.423 ms\n\
                       tps = 20928.1 (without initial connection time)\n";
        assert_eq!(parsed(pgbench), Some((20928.1, 0.423)));
        let own = "progress: 1.0 s, 9.0 tps, lat 9.000 ms, 0 failed\n\
                   total: 5.0 s, 2500.5 tps, lat 1.250 ms, 3 failed\n";
        assert_eq!(parsed(own), Some((2500.5, 1.25)));
        let redis = "Summary:\n  throughput summary: 90909.09 requests per second\n  latency \
                     summary (msec):\n          avg       min       p50\n        0.301     0.100\n";
        assert_eq!(parsed(redis), Some((90909.09, 0.301)));
        let sysbench = "    transactions:                        1000   (199.90 per sec.)\n\
                        Latency (ms):\n         min:      0.1\n         avg:                5.00\n";
        assert_eq!(parsed(sysbench), Some((199.9, 5.0)));
        assert_eq!(parsed("killed"), None);
    }

    #[test]
    fn the_mean_of_none_is_none() {
        assert_eq!(Summary::mean([].iter()), None);
    }
}
