//! pgbench's progress lines.
//!
//! A line says how many seconds after the start of the run it was written, or, with `--progress-timestamp`, at which
//! Unix time.

use model::{MISSING, Timestamp};

use crate::Bin;
use crate::clock::Clock;
use crate::decimal::{ms, scaled};

/// How every progress line begins.
pub(super) const PROGRESS: &[u8] = b"progress: ";

/// No progress line of pgbench comes near this; what is longer is not one, and is not held back.
pub(super) const LONGEST: usize = 256;

/// One progress line.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Progress {
    /// Printed time, ns: since the start, or since 1970.
    pub(super) at_ns: i64,
    /// Whether all of the line was understood. Another thread's message may have got into it.
    pub(super) whole: bool,
    throughput_milli: i64,
    latency_mean_ns: i64,
    latency_stddev_ns: i64,
    lag_mean_ns: i64,
    failed: i64,
    skipped: i64,
    retried: i64,
    retries: i64,
}

impl Progress {
    /// Reads `progress: 3.0 s, 2855.0 tps, lat 2.412 ms stddev 2.619, 0 failed, ...`. What follows
    /// the deviation depends on the version and on the options, so each part may be absent.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        if line.len() > LONGEST {
            return None;
        }
        let text = std::str::from_utf8(line.strip_prefix(PROGRESS)?).ok()?;
        let mut parts = text.split(", ");
        let at_ns = scaled(parts.next()?.strip_suffix(" s")?, 9)?;
        let throughput_milli = scaled(parts.next()?.strip_suffix(" tps")?, 3)?;
        let latency = parts.next()?.strip_prefix("lat ")?;
        let (mean, stddev) = latency.split_once(" ms stddev ")?;
        if at_ns < 0 || throughput_milli < 0 {
            return None;
        }
        let mut progress = Self {
            at_ns,
            whole: true,
            throughput_milli,
            latency_mean_ns: measured_ms(mean)?,
            latency_stddev_ns: measured_ms(stddev)?,
            lag_mean_ns: MISSING,
            failed: MISSING,
            skipped: MISSING,
            retried: MISSING,
            retries: MISSING,
        };
        for part in parts {
            progress.whole &= progress.take(part).is_some();
        }
        progress.forget_means_of_nothing();
        Some(progress)
    }

    /// The bin that the line ends, put on our clock.
    pub(super) fn bin(&self, clock: &mut Clock, arrived: Timestamp) -> Option<Bin> {
        let (end, interval_ns) = clock.place(self.at_ns, arrived)?;
        Some(Bin {
            label: None,
            end,
            interval_ns,
            throughput_milli: self.throughput_milli,
            latency_mean_ns: self.latency_mean_ns,
            latency_stddev_ns: self.latency_stddev_ns,
            lag_mean_ns: self.lag_mean_ns,
            failed: self.failed,
            skipped: self.skipped,
            retried: self.retried,
            retries: self.retries,
        })
    }

    /// Takes one of the parts that may be absent.
    fn take(&mut self, part: &str) -> Option<()> {
        if let Some(lag) = part.strip_prefix("lag ") {
            self.lag_mean_ns = measured_ms(lag.strip_suffix(" ms")?)?;
            return Some(());
        }
        let (number, word) = part.split_once(' ')?;
        // The patch that ysql_bench has may say more in brackets: `3 failed (2 in failed tx)`.
        let word = match word.split_once(" (") {
            Some((word, more)) if more.ends_with(')') => word,
            _ => word,
        };
        let field = match word {
            "failed" | "errors" => &mut self.failed,
            "skipped" => &mut self.skipped,
            "retried" => &mut self.retried,
            "retries" => &mut self.retries,
            _ => return None,
        };
        *field = scaled(number, 0).filter(|count| *count >= 0)?;
        Some(())
    }

    /// pgbench prints the mean of no transactions as 0.000 (before version 10 as nan). A rate that
    /// only rounds to 0.0, over a long interval, comes with a latency and keeps it.
    fn forget_means_of_nothing(&mut self) {
        if self.throughput_milli == 0 && matches!(self.latency_mean_ns, 0 | MISSING) {
            self.latency_mean_ns = MISSING;
            self.latency_stddev_ns = MISSING;
            self.lag_mean_ns = MISSING;
        }
    }
}

/// Milliseconds as nanoseconds; `MISSING` where a mean of nothing was printed as nan.
fn measured_ms(text: &str) -> Option<i64> {
    match text {
        "nan" | "-nan" => Some(MISSING),
        _ => ms(text).filter(|ns| *ns >= 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Progress {
        Progress::parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn every_layout() {
        let old = parsed("progress: 5.0 s, 85.0 tps, lat 117.100 ms stddev 60.001");
        assert_eq!((old.at_ns, old.throughput_milli), (5_000_000_000, 85_000));
        assert_eq!(
            (old.latency_mean_ns, old.latency_stddev_ns),
            (117_100_000, 60_001_000)
        );
        assert_eq!(
            (old.failed, old.lag_mean_ns, old.whole),
            (MISSING, MISSING, true)
        );

        let rate = parsed(
            "progress: 1.0 s, 2422.7 tps, lat 3.352 ms stddev 2.945, 0 failed, lag 1.453 ms, 132 skipped",
        );
        assert_eq!(
            (rate.failed, rate.lag_mean_ns, rate.skipped),
            (0, 1_453_000, 132)
        );

        let retries = parsed(
            "progress: 1.0 s, 567.0 tps, lat 10.147 ms stddev 7.415, 49 failed, 161 retried, 162 retries",
        );
        assert_eq!(
            (retries.failed, retries.retried, retries.retries),
            (49, 161, 162)
        );
        assert!(retries.whole);
    }

    #[test]
    fn layouts_of_the_patch_that_retries() {
        for line in [
            "progress: 1.0 s, 567.0 tps, lat 10.147 ms stddev 7.415, 49 failed (3 in failed tx), 161 retried, 162 retries",
            "progress: 1.0 s, 567.0 tps, lat 10.147 ms stddev 7.415, 49 errors, 161 retried, 162 retries",
        ] {
            let retries = parsed(line);
            assert_eq!(
                (retries.failed, retries.retried, retries.retries),
                (49, 161, 162)
            );
            assert!(retries.whole, "{line}");
        }
    }

    #[test]
    fn nothing_completed_has_no_latency() {
        let none =
            parsed("progress: 7.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed, lag 0.000 ms");
        assert_eq!(
            (
                none.throughput_milli,
                none.latency_mean_ns,
                none.latency_stddev_ns,
                none.lag_mean_ns
            ),
            (0, MISSING, MISSING, MISSING)
        );
        assert_eq!(none.failed, 0);
        let old = parsed("progress: 7.0 s, 0.0 tps, lat -nan ms stddev -nan");
        assert_eq!(old.latency_mean_ns, MISSING);
        let rounded = parsed("progress: 60.0 s, 0.0 tps, lat 41000.000 ms stddev 0.000, 0 failed");
        assert_eq!(rounded.latency_mean_ns, 41_000_000_000);
    }

    #[test]
    fn what_is_whole_in_a_torn_line_is_used() {
        let torn =
            parsed("progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.500, 0 failedWARNING:  bye");
        assert_eq!(
            (torn.throughput_milli, torn.failed, torn.whole),
            (10_000, MISSING, false)
        );
        assert_eq!(
            Progress::parse(b"progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.5WARNING"),
            None
        );
        assert_eq!(Progress::parse(b"progress: half way there"), None);
    }

    #[test]
    fn the_start_is_the_least_of_arrival_minus_printed_time() {
        let mut clock = Clock::elapsed();
        let mut bin = |at: &str, arrived: f64| {
            let line = format!("progress: {at} s, 10.0 tps, lat 1.000 ms stddev 0.500");
            parsed(&line)
                .bin(&mut clock, Timestamp::from_seconds(arrived))
                .map(|bin| (bin.end.as_ns() / 1_000_000, bin.interval_ns / 1_000_000))
        };
        assert_eq!(
            bin("1.0", 101.4),
            Some((101_400, 1000)),
            "late, but there is no better yet"
        );
        assert_eq!(bin("2.0", 102.2), Some((102_200, 1000)));
        assert_eq!(bin("3.1", 103.9), Some((103_300, 1100)), "0.6 s late");
        assert_eq!(bin("3.1", 103.9), None, "shorter than 0.1 s");
        assert_eq!(bin("4.0", 104.3), Some((104_200, 900)));
    }
}
