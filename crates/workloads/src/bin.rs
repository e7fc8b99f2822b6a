//! Intervals of what a workload says of itself, and the tables that hold them.

use model::{Column, EntityKind, MISSING, Table, Timestamp, Unit};

/// One interval of the workload's own signal.
#[derive(Clone, PartialEq, Debug)]
pub struct Bin {
    /// The label of the operations that it is about (their sampler, endpoint or kind); `None` for all operations.
    pub label: Option<String>,
    /// End of the interval.
    pub end: Timestamp,
    /// Length of the interval, ns.
    pub interval_ns: i64,
    /// Operations completed per second, in thousandths.
    pub throughput_milli: i64,
    /// Mean latency, ns; `MISSING` when nothing was completed.
    pub latency_mean_ns: i64,
    /// Its standard deviation, ns; `MISSING` as above.
    pub latency_stddev_ns: i64,
    /// Mean lag behind the schedule, ns; `MISSING` without a rate.
    pub lag_mean_ns: i64,
    /// Operations failed; `MISSING` where the tool does not say.
    pub failed: i64,
    /// Operations skipped; `MISSING` where the tool does not say.
    pub skipped: i64,
    /// Operations retried; `MISSING` where the tool does not say.
    pub retried: i64,
    /// Retries; `MISSING` where the tool does not say.
    pub retries: i64,
}

impl Bin {
    /// An interval of which nothing was said.
    pub(crate) const fn silent(end: Timestamp, interval_ns: i64) -> Self {
        Self {
            label: None,
            end,
            interval_ns,
            throughput_milli: MISSING,
            latency_mean_ns: MISSING,
            latency_stddev_ns: MISSING,
            lag_mean_ns: MISSING,
            failed: MISSING,
            skipped: MISSING,
            retried: MISSING,
            retries: MISSING,
        }
    }

    /// The rate of so many operations in the interval, in thousandths per second; `None` where it does not fit.
    pub(crate) fn rate_of(&self, completed: u64) -> Option<i64> {
        let milli = i128::from(completed) * 1_000_000_000_000 / i128::from(self.interval_ns.max(1));
        i64::try_from(milli).ok()
    }

    /// Adds the operations of another bin of the same interval: rates, failures and the mean.
    pub(crate) fn add(&mut self, other: &Bin) {
        let (own, others) = (self.completed(), other.completed());
        self.latency_mean_ns = match (self.latency_mean_ns, other.latency_mean_ns) {
            (MISSING, mean) => mean,
            (mean, MISSING) => mean,
            (a, b) if own + others > 0.0 => {
                ((a as f64 * own + b as f64 * others) / (own + others)) as i64
            }
            (mean, _) => mean,
        };
        for (sum, more) in [
            (&mut self.throughput_milli, other.throughput_milli),
            (&mut self.failed, other.failed),
        ] {
            *sum = match (*sum, more) {
                (MISSING, only) | (only, MISSING) => only,
                (a, b) => a.saturating_add(b),
            };
        }
    }

    /// The values of a row of `SIGNAL`.
    pub fn values(&self) -> [i64; 9] {
        [
            self.interval_ns,
            self.throughput_milli,
            self.latency_mean_ns,
            self.latency_stddev_ns,
            self.lag_mean_ns,
            self.failed,
            self.skipped,
            self.retried,
            self.retries,
        ]
    }

    /// Operations completed in the interval, from rate and length.
    pub fn completed(&self) -> f64 {
        if self.throughput_milli == MISSING {
            0.0
        } else {
            self.throughput_milli as f64 * self.interval_ns as f64 / 1e12
        }
    }
}

static SIGNAL_COLUMNS: &[Column] = &[
    Column::gauge(
        "interval_ns",
        Unit::Nanoseconds,
        "Length of the interval that ends at the row's time.",
        "the tool",
    ),
    Column::gauge(
        "throughput_milli",
        Unit::MilliPerSecond,
        "Operations completed per second.",
        "the tool",
    ),
    Column::gauge(
        "latency_mean_ns",
        Unit::Nanoseconds,
        "Mean latency of the operations completed; missing when there were none.",
        "the tool",
    ),
    Column::gauge(
        "latency_stddev_ns",
        Unit::Nanoseconds,
        "Standard deviation of their latency.",
        "the tool",
    ),
    Column::gauge(
        "lag_mean_ns",
        Unit::Nanoseconds,
        "Mean lag behind the tool's own schedule; part of the latency.",
        "the tool",
    ),
    Column::gauge(
        "failed",
        Unit::Count,
        "Operations that failed in the interval.",
        "the tool",
    ),
    Column::gauge(
        "skipped",
        Unit::Count,
        "Operations skipped because they were late.",
        "the tool",
    ),
    Column::gauge(
        "retried",
        Unit::Count,
        "Operations that were retried.",
        "the tool",
    ),
    Column::gauge("retries", Unit::Count, "Retries.", "the tool"),
];

/// The workload's own view of the operations of each label.
pub static SIGNAL_BY_LABEL: Table = Table::new(
    "signal_by_label",
    EntityKind::Workload,
    "The same of the operations of each label (sampler, endpoint, kind of operation), where the tool tells them apart.",
    SIGNAL_COLUMNS,
);

/// The workload's own view: one row per interval and series.
pub static SIGNAL: Table = Table::new(
    "signal",
    EntityKind::Workload,
    "The workload's own throughput, latency and errors.",
    SIGNAL_COLUMNS,
);
