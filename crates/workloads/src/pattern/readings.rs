//! From readings to bins: a bin lies between two successive readings of throughput, or of what there
//! is where throughput is not said.
//!
//! Other readings count for the bin that ends next: what belongs together stands on one line, or
//! throughput comes last. A tool whose output is buffered hands over many lines at one instant;
//! they cannot be told apart in time, and are one reading.

use model::{MISSING, Timestamp};

use super::rule::{Rule, Scale};
use crate::{Bin, Quantity};

/// Readings that come closer than this came in one burst.
const BURST_NS: i64 = 10_000_000;

/// What was read since the last bin ended.
#[derive(Default)]
pub(super) struct Readings {
    quantities: [Read; 4],
    /// When the last bin ended, or the first reading came.
    last: Option<Timestamp>,
    /// Bins completed.
    pub(super) bins: u64,
    /// Readings that would have ended a bin and came in a burst.
    pub(super) bursts: u64,
}

/// One quantity's readings.
#[derive(Clone, Copy, Default)]
struct Read {
    /// Sum and number of those since the last bin ended.
    sum: i128,
    count: i64,
    /// The newest running total, and the one at the last bin's end.
    total: Option<i64>,
    before: Option<i64>,
}

impl Readings {
    /// Takes a value as `Rule::find` gives it.
    pub(super) fn take(&mut self, rule: &Rule, value: i64) {
        let read = &mut self.quantities[rule.quantity as usize];
        if rule.scale == Scale::Total {
            read.total = Some(value);
            read.before.get_or_insert(value);
        } else {
            read.sum += i128::from(value);
            read.count += 1;
        }
    }

    /// Ends a bin at `now`; `None` where none began or it would be too short.
    pub(super) fn end(&mut self, now: Timestamp) -> Option<Bin> {
        let Some(last) = self.last else {
            // What was said now is about a time whose beginning is not known.
            self.last = Some(now);
            self.forget();
            return None;
        };
        let interval_ns = now.as_ns().checked_sub(last.as_ns())?;
        if interval_ns < BURST_NS {
            self.bursts += 1;
            return None;
        }
        let mut bin = Bin {
            throughput_milli: self.throughput_milli(interval_ns),
            latency_mean_ns: self.of(Quantity::Latency).mean(),
            ..Bin::silent(now, interval_ns)
        };
        self.fill(&mut bin);
        self.last = Some(now);
        self.bins += 1;
        Some(bin)
    }

    /// Puts what was read into a bin where it says nothing, and begins anew.
    pub(super) fn fill(&mut self, bin: &mut Bin) {
        if bin.lag_mean_ns == MISSING {
            bin.lag_mean_ns = self.of(Quantity::Lag).mean();
        }
        if bin.failed == MISSING {
            let read = self.of(Quantity::Failed);
            bin.failed = read.added().unwrap_or_else(|| read.counted());
        }
        self.forget();
    }

    fn of(&self, quantity: Quantity) -> Read {
        self.quantities[quantity as usize]
    }

    fn throughput_milli(&self, interval_ns: i64) -> i64 {
        let read = self.of(Quantity::Throughput);
        if read.total.is_none() {
            return read.mean();
        }
        // A total that ran back began anew: what was done in between is not known.
        read.added().map_or(MISSING, |added| {
            let rate = i128::from(added) * 1_000_000_000_000 / i128::from(interval_ns);
            i64::try_from(rate).unwrap_or(MISSING)
        })
    }

    fn forget(&mut self) {
        for read in &mut self.quantities {
            *read = Read {
                total: read.total,
                before: read.total,
                ..Read::default()
            };
        }
    }
}

impl Read {
    fn mean(&self) -> i64 {
        match self.count {
            0 => MISSING,
            count => i64::try_from(self.sum / i128::from(count)).unwrap_or(MISSING),
        }
    }

    fn counted(&self) -> i64 {
        match self.count {
            0 => MISSING,
            _ => i64::try_from(self.sum).unwrap_or(MISSING),
        }
    }

    fn added(&self) -> Option<i64> {
        let added = self.total?.checked_sub(self.before?)?;
        (added >= 0).then_some(added)
    }
}
