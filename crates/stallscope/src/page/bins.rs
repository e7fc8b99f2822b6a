//! One series as one number per bin: a counter's growth, a gauge's mean, with the lowest and the highest
//! where a bin holds several readings.

use model::{Series, Timestamp, Window};

use super::block::Numbers;

/// A series in bins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Binned {
    /// When it was first and last seen.
    pub(super) known: Window,
    /// The bin of the first number.
    pub(super) first: usize,
    /// One per bin, in steps of the column's scale.
    pub(super) numbers: Vec<i64>,
    /// Lowest and highest per bin; empty where the numbers say it all.
    pub(super) envelope: Vec<(i64, i64)>,
    /// Whether numbers are written as differences, and the envelope around them.
    gauge: bool,
}

/// Readings per bin from which on lowest and highest are worth their bytes.
const SEVERAL: f64 = 1.5;

/// How much a counter grew in each bin in which it is known.
pub(super) fn counter(series: &Series<'_>, edges: &[Timestamp], scale: i64) -> Option<Binned> {
    let known = series.known()?;
    let (first, bins) = bins(known, edges)?;
    let mut cursor = series.cursor();
    let start = cursor.counter_at(known.start)?;
    let mut total = |at: Timestamp| {
        let grown = cursor.counter_at(at).unwrap_or(start) - start;
        (grown / scale as f64).round() as i64
    };
    let mut before = total(bins.first()?.start);
    let mut numbers = Vec::with_capacity(bins.len());
    for bin in &bins {
        let after = total(bin.end);
        numbers.push(after.wrapping_sub(before));
        before = after;
    }
    let readings: Vec<(Timestamp, i64)> = series.values().collect();
    let mut envelope = Vec::new();
    if readings.len() as f64 > bins.len() as f64 * SEVERAL {
        let mut next = 0;
        let wholes = edges[first..].windows(2).map(|pair| (pair[0], pair[1]));
        for ((bin, number), whole) in bins.iter().zip(&numbers).zip(wholes) {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            // Readings at or before the bin's start are passed; the last of them begins a line.
            while readings.get(next + 1).is_some_and(|it| it.0 <= bin.start) {
                next += 1;
            }
            let lines = readings[next.min(readings.len())..].windows(2);
            for line in lines.take_while(|line| line[0].0 < bin.end) {
                let ns = line[1].0.ns_since(line[0].0);
                if ns > 0 {
                    let rate = line[1].1.wrapping_sub(line[0].1) as f64 / ns as f64;
                    (low, high) = (low.min(rate), high.max(rate));
                }
            }
            // Of the whole bin, also where only a part of it is known.
            let whole = whole.1.ns_since(whole.0) as f64;
            let mean = *number as f64 * (whole / bin.len_ns() as f64);
            let of_bin = |rate: f64| rate * whole / scale as f64;
            let (low, high) = match low <= high {
                true => (of_bin(low).min(mean), of_bin(high).max(mean)),
                false => (mean, mean),
            };
            envelope.push((low.floor() as i64, high.ceil() as i64));
        }
    }
    Some(Binned {
        known,
        first,
        numbers,
        envelope,
        gauge: false,
    })
}

/// A gauge's mean over each bin in which it is known.
pub(super) fn gauge(series: &Series<'_>, edges: &[Timestamp], scale: i64) -> Option<Binned> {
    let known = series.known()?;
    let (first, bins) = bins(known, edges)?;
    let several = series.values().count() as f64 > bins.len() as f64 * SEVERAL;
    let mut cursor = series.cursor();
    let mut numbers = Vec::with_capacity(bins.len());
    let mut envelope = Vec::new();
    for bin in &bins {
        let held = cursor.gauge_at(bin.start)?;
        let (mut low, mut high) = (held, held);
        let (mut at, mut value, mut sum) = (bin.start, held as f64, 0.0);
        // The last reading of all lies at the end of the last bin, and is one of it.
        let until = if bin.end == known.end {
            bin.end + 1
        } else {
            bin.end
        };
        for (time, next) in cursor.values_in(Window::new(bin.start, until)) {
            sum += value * time.ns_since(at) as f64;
            (at, value) = (time, next as f64);
            (low, high) = (low.min(next), high.max(next));
        }
        sum += value * bin.end.ns_since(at) as f64;
        let mean = if bin.is_empty() {
            value
        } else {
            sum / bin.len_ns() as f64
        };
        let number = (mean / scale as f64).round() as i64;
        numbers.push(number);
        if several {
            let low = low.div_euclid(scale).min(number);
            let high = high.saturating_add(scale - 1).div_euclid(scale).max(number);
            envelope.push((low, high));
        }
    }
    Some(Binned {
        known,
        first,
        numbers,
        envelope,
        gauge: true,
    })
}

/// A code's value at the end of each bin: codes have no mean.
pub(super) fn code(series: &Series<'_>, edges: &[Timestamp]) -> Option<Binned> {
    let known = series.known()?;
    let (first, bins) = bins(known, edges)?;
    let mut cursor = series.cursor();
    let numbers: Option<Vec<i64>> = bins.iter().map(|bin| cursor.gauge_at(bin.end)).collect();
    Some(Binned {
        known,
        first,
        numbers: numbers?,
        envelope: Vec::new(),
        gauge: true,
    })
}

/// Growth that was worked out for each bin already.
pub(super) fn grown(
    known: Window,
    first: usize,
    growth: impl Iterator<Item = i64>,
    scale: i64,
) -> Binned {
    let (mut exact, mut written) = (0i64, 0i64);
    let numbers = growth.map(|growth| {
        exact = exact.wrapping_add(growth);
        let all = (exact as f64 / scale as f64).round() as i64;
        let number = all.wrapping_sub(written);
        written = all;
        number
    });
    Binned {
        known,
        first,
        numbers: numbers.collect(),
        envelope: Vec::new(),
        gauge: false,
    }
}

/// The bins in which something is known, each cut to what is known of it, and the first one's place.
fn bins(known: Window, edges: &[Timestamp]) -> Option<(usize, Vec<Window>)> {
    let first = edges.partition_point(|edge| *edge <= known.start);
    let first = first.saturating_sub(1).min(edges.len().saturating_sub(2));
    let pairs = edges.get(first..)?.windows(2);
    let cut = |pair: &[Timestamp]| Window::new(pair[0].max(known.start), pair[1].min(known.end));
    let known_in = pairs.map(cut).take_while(|bin| !bin.is_empty());
    let mut bins: Vec<Window> = known_in.collect();
    if bins.is_empty() && known.is_empty() && edges.len() > 1 {
        // Read once: an instant is all that is known.
        bins.push(Window::new(known.start, known.start));
    }
    (!bins.is_empty()).then_some((first, bins))
}

impl Binned {
    /// Whether nothing happened in any bin.
    pub(super) fn is_zero(&self) -> bool {
        self.numbers.iter().all(|number| *number == 0)
    }

    /// As it stands in a block, behind entity and column.
    pub(super) fn write(&self, first_edge: Timestamp, out: &mut Numbers) {
        const NS_PER_US: i64 = 1_000;
        let after = |at: Timestamp| at.ns_since(first_edge).div_euclid(NS_PER_US);
        out.push(after(self.known.start));
        out.push(after(self.known.end));
        out.count(self.first);
        out.count(self.numbers.len());
        let same = self.numbers.windows(2).all(|pair| pair[0] == pair[1]);
        let tight = |(number, (low, high)): (&i64, &(i64, i64))| number == low && number == high;
        let enveloped = !self.numbers.iter().zip(&self.envelope).all(tight);
        if same && !enveloped {
            out.push(0);
            out.push(self.numbers.first().copied().unwrap_or(0));
            return;
        }
        out.push(if enveloped { 2 } else { 1 });
        let mut before = 0;
        for number in &self.numbers {
            out.push(number.wrapping_sub(before));
            before = if self.gauge { *number } else { 0 };
        }
        if enveloped {
            for (number, (low, high)) in self.numbers.iter().zip(&self.envelope) {
                if self.gauge {
                    out.push(number.wrapping_sub(*low));
                    out.push(high.wrapping_sub(*number));
                } else {
                    out.push(*low);
                    out.push(high.wrapping_sub(*low));
                }
            }
        }
    }
}
