//! Bins of a tool that says something while it runs: where its intervals lie on our clock.

use model::Timestamp;

use crate::Bin;
use crate::clock::Clock;
use crate::labels::Labels;

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
    /// Completed and failed operations at the last line that had both since the start.
    totals: Option<(u64, u64)>,
    /// Whether the line that is read is of an interval.
    is_interval: bool,
    /// An interval that is put together of several.
    open: Option<OpenInterval>,
    labels: Labels,
    /// Operations since the start by label, in the table that is read, and in the one before.
    row_sums: Vec<(u64, u64)>,
    label_totals: Vec<(u64, u64)>,
    bins: Vec<Bin>,
}

/// An interval that is not long enough yet.
struct OpenInterval {
    label: String,
    start: Timestamp,
    last: Timestamp,
    /// Operations, those of which the mean is known, and their time in ns.
    completed: f64,
    timed: f64,
    time_ns: f64,
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

    /// An interval begins now.
    pub(crate) fn begin(&mut self) {
        self.last = self.arrived;
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

    /// Whether operations since the start were told before.
    pub(crate) fn has_totals(&self) -> bool {
        self.totals.is_some()
    }

    /// Takes the operations since the start at the end of an interval, where it has a place on our clock; none of it
    /// comes of numbers that ran back.
    pub(crate) fn totals(&mut self, bin: Option<Bin>, completed: u64, failed: u64) {
        let (completed_before, failed_before) =
            self.totals.replace((completed, failed)).unwrap_or((0, 0));
        let grown = completed
            .checked_sub(completed_before)
            .zip(failed.checked_sub(failed_before));
        let sums = std::mem::take(&mut self.row_sums);
        let before = std::mem::replace(&mut self.label_totals, sums);
        let Some((bin, (completed, failed))) = bin.zip(grown) else {
            return;
        };
        if let Some(bin) = counted(bin.clone(), completed, failed) {
            self.bins.push(bin);
        }
        for (number, sum) in self.label_totals.iter().enumerate() {
            let before = before.get(number).copied().unwrap_or((0, 0));
            let grown = sum.0.checked_sub(before.0).zip(sum.1.checked_sub(before.1));
            let own = grown.and_then(|(completed, failed)| counted(bin.clone(), completed, failed));
            if let Some(own) = own {
                let label = self.labels.all().get(number).cloned();
                self.bins.push(Bin { label, ..own });
            }
        }
    }

    /// Adds what an interval says of the operations of one name.
    pub(crate) fn of_label(&mut self, name: &str, bin: Bin) {
        let label = Some(self.labels.of(name).to_owned());
        let same = |it: &&mut Bin| it.label == label && it.end == bin.end;
        match self.bins.iter_mut().find(same) {
            // Of labels beyond the bound several are one.
            Some(before) => before.add(&bin),
            None => self.bins.push(Bin { label, ..bin }),
        }
    }

    /// Takes the operations of one name since the start, of the interval that the next totals end.
    pub(crate) fn totals_of(&mut self, name: &str, completed: u64, failed: u64) {
        let number = self.labels.number(name);
        let now = &mut self.row_sums;
        if now.len() <= number {
            now.resize(number + 1, (0, 0));
        }
        let sum = &mut now[number];
        sum.0 = sum.0.saturating_add(completed);
        sum.1 = sum.1.saturating_add(failed);
    }

    /// Takes rate and mean of the operations of a label since they were told before; the first time of a label only begins
    /// an interval, which ends when it is `least_ns` long. What comes late is of a longer time than is known.
    pub(crate) fn drawn_rate(
        &mut self,
        label: &str,
        rate: f64,
        mean_ns: Option<i64>,
        least_ns: i64,
    ) {
        let Some(now) = self.arrived else {
            return;
        };
        let begun = |start| OpenInterval {
            label: label.to_owned(),
            start,
            last: start,
            completed: 0.0,
            timed: 0.0,
            time_ns: 0.0,
        };
        let open = self.open.get_or_insert_with(|| begun(now));
        let since_ns = now.as_ns().saturating_sub(open.last.as_ns());
        if open.label != label || !(0..=TOLERANCE_NS).contains(&since_ns) {
            self.open = Some(begun(now));
            return;
        }
        open.last = now;
        let completed = rate * since_ns as f64 / 1e9;
        open.completed += completed;
        if let Some(mean_ns) = mean_ns {
            open.timed += completed;
            open.time_ns += completed * mean_ns as f64;
        }
        let interval_ns = now.as_ns() - open.start.as_ns();
        if interval_ns < least_ns || interval_ns <= 0 {
            return;
        }
        let mut bin = Bin::silent(now, interval_ns);
        bin.throughput_milli = (open.completed * 1e12 / interval_ns as f64) as i64;
        if open.timed > 0.0 {
            bin.latency_mean_ns = (open.time_ns / open.timed) as i64;
        }
        self.open = Some(begun(now));
        self.bins.push(bin.clone());
        self.of_label(label, bin);
    }

    /// Ends an interval in which `completed` operations were done.
    pub(crate) fn count(&mut self, bin: Bin, completed: u64) {
        if let Some(throughput_milli) = bin.rate_of(completed) {
            self.bins.push(Bin {
                throughput_milli,
                ..bin
            });
        }
    }

    /// Ends an interval whose rate was said, in thousandths.
    pub(crate) fn rate(&mut self, mut bin: Bin, milli: i64) {
        bin.throughput_milli = milli;
        self.bins.push(bin);
    }
}

/// An interval with operations; `None` where the rate does not fit.
fn counted(bin: Bin, completed: u64, failed: u64) -> Option<Bin> {
    Some(Bin {
        throughput_milli: bin.rate_of(completed)?,
        failed: i64::try_from(failed).unwrap_or(i64::MAX),
        ..bin
    })
}
