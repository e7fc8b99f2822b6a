//! Bins of a tool that says something while it runs: where its intervals lie on our clock.

use model::Timestamp;

use crate::Bin;
use crate::clock::Clock;

/// An interval may differ by this from what the tool says of its length, ns.
const TOLERANCE_NS: i64 = 1_000_000_000;

/// The intervals so far.
#[derive(Default)]
pub(crate) struct Live {
    /// When the line that is read came.
    arrived: Option<Timestamp>,
    /// When the last interval ended that has no printed time.
    last: Option<Timestamp>,
    clock: Clock,
    /// A running count at the last line that had one.
    counted: Option<u64>,
    /// Whether the line that is read is of an interval.
    is_interval: bool,
    bins: Vec<Bin>,
}

impl Live {
    /// A line came.
    pub(super) fn arrive(&mut self, at: Timestamp) {
        self.arrived = Some(at);
        self.is_interval = false;
    }

    /// The line is of an interval, whether a bin comes of it or not.
    pub(crate) fn mark(&mut self) {
        self.is_interval = true;
    }

    pub(super) fn is_interval(&self) -> bool {
        self.is_interval
    }

    /// The bins since the last call.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Bin> + '_ {
        self.bins.drain(..)
    }

    /// An interval that ends at a printed time since the start of the run, ns.
    pub(crate) fn until(&mut self, at_ns: i64) -> Option<Bin> {
        let (end, interval_ns) = self.clock.place(at_ns, self.arrived?)?;
        Some(Bin::silent(end, interval_ns))
    }

    /// An interval that ends at a printed date, ns; the first one only begins one.
    pub(crate) fn until_date(&mut self, at_ns: i64) -> Option<Bin> {
        let is_first = !self.clock.started();
        if is_first {
            self.clock = Clock::unix(1);
        }
        let bin = self.until(at_ns)?;
        (!is_first).then_some(bin)
    }

    /// An interval that ends now, and of which the tool says how long it was, ns: it begins where the last one ended.
    /// `None` where that is much longer or shorter, as for lines that were buffered and come many at a time.
    pub(crate) fn of_length(&mut self, said_ns: i64) -> Option<Bin> {
        let now = self.arrived?;
        let before = self.last.replace(now);
        let interval_ns = match before {
            Some(before) => now.as_ns().checked_sub(before.as_ns())?,
            None => said_ns,
        };
        let tolerance = TOLERANCE_NS.min(said_ns / 4);
        let is_near = said_ns > 0 && said_ns.checked_sub(interval_ns)?.abs() <= tolerance;
        (is_near && interval_ns > 0).then(|| Bin::silent(now, interval_ns))
    }

    /// How much a running count has grown since the line before; `None` for one that ran back.
    pub(crate) fn grown(&mut self, count: u64) -> Option<u64> {
        let before = self.counted.replace(count).unwrap_or(0);
        count.checked_sub(before)
    }

    /// Ends an interval in which `completed` operations were done.
    pub(crate) fn count(&mut self, mut bin: Bin, completed: u64) {
        let rate = i128::from(completed) * 1_000_000_000_000 / i128::from(bin.interval_ns);
        if let Ok(rate) = i64::try_from(rate) {
            bin.throughput_milli = rate;
            self.bins.push(bin);
        }
    }

    /// Ends an interval whose rate was said, in thousandths.
    pub(crate) fn rate(&mut self, mut bin: Bin, milli: i64) {
        bin.throughput_milli = milli;
        self.bins.push(bin);
    }
}
