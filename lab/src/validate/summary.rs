//! What load generators print at their end, as far as throughput and mean latency go.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::statistics::mean;

/// The result of one load.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Operations per second.
    pub throughput: f64,
    /// Mean, ms.
    pub latency_ms: f64,
    /// What 99 of 100 operations did not exceed, ms; `None` where the generator says none.
    pub p99_ms: Option<f64>,
}

impl Summary {
    /// From everything that was printed.
    pub fn parse(text: &str) -> Option<Self> {
        [pgbench, own, redis, sysbench, wrk, hey, ab]
            .iter()
            .find_map(|parse| parse(text))
    }

    /// The mean of several.
    pub fn mean<'a>(of: impl Iterator<Item = &'a Summary>) -> Option<Self> {
        let all: Vec<&Summary> = of.collect();
        let each =
            |value: fn(&Summary) -> f64| all.iter().map(|one| value(one)).collect::<Vec<_>>();
        let p99_ms: Vec<f64> = all.iter().filter_map(|one| one.p99_ms).collect();
        Some(Self {
            throughput: mean(&each(|one| one.throughput))?,
            latency_ms: mean(&each(|one| one.latency_ms))?,
            p99_ms: mean(&p99_ms),
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}/s, {:.2} ms", self.throughput, self.latency_ms)?;
        self.p99_ms.map_or(Ok(()), |ms| write!(f, " (p99 {ms:.2})"))
    }
}

fn pgbench(text: &str) -> Option<Summary> {
    Some(Summary {
        throughput: after(text, "tps = ")?,
        latency_ms: after(text, "latency average = ")?,
        p99_ms: None,
    })
}

fn own(text: &str) -> Option<Summary> {
    let line = text.lines().find(|line| line.starts_with("total: "))?;
    Some(Summary {
        throughput: after(line, " s, ")?,
        latency_ms: after(line, "lat ")?,
        p99_ms: after(line, "p99 "),
    })
}

/// redis-benchmark: the line below its heading has mean, least, p50, p95, p99 and most.
fn redis(text: &str) -> Option<Summary> {
    let (_, latencies) = text.split_once("latency summary (msec):")?;
    let values = latencies.lines().nth(2)?;
    let mut values = values.split_ascii_whitespace();
    Some(Summary {
        throughput: after(text, "throughput summary: ")?,
        latency_ms: values.next()?.parse().ok()?,
        p99_ms: values.nth(3).and_then(|value| value.parse().ok()),
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
        p99_ms: after(text, "99th percentile:"),
    })
}

/// wrk: the mean stands first behind `Latency`, and each time has its unit.
fn wrk(text: &str) -> Option<Summary> {
    let of = |word: &str| {
        let mut lines = text.lines().map(str::trim_start);
        let rest = lines.find_map(|line| line.strip_prefix(word))?;
        milliseconds(rest.split_ascii_whitespace().next()?)
    };
    Some(Summary {
        throughput: after(text, "Requests/sec:")?,
        latency_ms: of("Latency ")?,
        p99_ms: of("99%"),
    })
}

/// `1.20ms`, `850.00us`, `1.01s`.
fn milliseconds(text: &str) -> Option<f64> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    units.iter().find_map(|(unit, scale)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * scale)
    })
}

/// hey: times are in seconds.
fn hey(text: &str) -> Option<Summary> {
    Some(Summary {
        throughput: after(text, "Requests/sec:")?,
        latency_ms: after(text, "Average:")? * 1e3,
        p99_ms: after(text, "99% in ").map(|seconds| seconds * 1e3),
    })
}

/// ab: its first time per request is a connection's, and its quantiles are whole milliseconds.
fn ab(text: &str) -> Option<Summary> {
    Some(Summary {
        throughput: after(text, "Requests per second:")?,
        latency_ms: after(text, "Time per request:")?,
        p99_ms: after(text, "99%"),
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

    fn parsed(text: &str) -> Option<(f64, f64, Option<f64>)> {
        Summary::parse(text).map(|it| (it.throughput, it.latency_ms, it.p99_ms))
    }

    #[test]
    fn each_generator_is_understood() {
        let pgbench = "progress: 1.0 s, 3.0 tps, lat 9 ms\nlatency average = 0.423 ms\n\
                       tps = 20928.1 (without initial connection time)\n";
        assert_eq!(parsed(pgbench), Some((20928.1, 0.423, None)));
        let own = "progress: 1.0 s, 9.0 tps, lat 9.000 ms, 0 failed\n\
                   total: 5.0 s, 2500.5 tps, lat 1.250 ms, p99 4.500 ms, 3 failed\n";
        assert_eq!(parsed(own), Some((2500.5, 1.25, Some(4.5))));
        let redis = "Summary:\n  throughput summary: 90909.09 requests per second\n  latency \
                     summary (msec):\n          avg       min       p50       p95       p99       max\n        \
                     0.301     0.100     0.200     0.300     0.400     9.000\n";
        assert_eq!(parsed(redis), Some((90909.09, 0.301, Some(0.4))));
        let sysbench = "    transactions:                        1000   (199.90 per sec.)\n\
                        Latency (ms):\n         min:      0.1\n         avg:                5.00\n";
        assert_eq!(parsed(sysbench), Some((199.9, 5.0, None)));
        let wrk = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   850.00us  1.10ms\n  \
                   Latency Distribution\n     50%    0.70ms\n     99%    1.01s \nRequests/sec:   9000.5\n";
        assert_eq!(parsed(wrk), Some((9000.5, 0.85, Some(1010.0))));
        let hey = "  Average:\t0.0020 secs\n  Requests/sec:\t400.5\n  99% in 0.0150 secs\n";
        assert_eq!(parsed(hey), Some((400.5, 2.0, Some(15.0))));
        let ab = "Requests per second:    24.10 [#/sec] (mean)\nTime per request:       41.500 [ms] (mean)\n\
                  Time per request:       5.2 [ms] (mean, across all concurrent requests)\n  98%     50\n  \
                  99%     61\n";
        assert_eq!(parsed(ab), Some((24.1, 41.5, Some(61.0))));
        assert_eq!(parsed("killed"), None);
    }

    #[test]
    fn the_mean_of_none_is_none() {
        assert_eq!(Summary::mean([].iter()), None);
    }
}
