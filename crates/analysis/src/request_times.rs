//! Requests as the kernel saw them at sockets: how many there were and how long they took.
//!
//! For a service whose load generator says nothing of itself, or has none, they are the signal.

use model::{Cursor, EntityId, Quality, Quantile, Role, Series, Timeline, Timestamp, Window};
use sensors::request::{LONG_NS, bound_ns};

use crate::coverage;
use crate::quantiles::WANTED;
use crate::stats::{histogram, is_supported};
use crate::thresholds::Thresholds;
use crate::workload_metrics::bin::Bin;
use readings::Readings;

mod course;
mod ends;
mod readings;
mod silence;

pub(crate) use course::{
    answered, between_ns, between_readings, known, lasted, over_all, over_each, stalled, still_open,
};
pub(crate) use ends::{BothEnds, End, nearest_end};

/// The table of a server's requests, and of the generator's.
const SERVED: &str = "requests";
const CALLED: &str = "calls";
/// A mean of fewer timed requests says little.
const LEAST_TIMED: f64 = 30.0;
/// From this part of all requests on those that were timed are no sample.
const ALL: f64 = 0.98;
/// Requests that two counters are apart by where they are equal.
const ROUNDED: f64 = 1e-6;
/// Short ones of which none was timed are let pass where they are at most such a part of a bin's time.
const UNTIMED: f64 = 0.02;
/// Length of a bin.
const BIN_NS: i64 = 1_000_000_000;
/// No more bins than these, more than a day of them: a damaged recording may last for centuries.
const MOST_BINS: i64 = 100_000;

/// What was counted of requests over a window, all connections of a part together.
///
/// Where a sample was timed, it was drawn at a rate that changed with the load (`Readings`): while it stayed the
/// same, times weigh as much as the requests, which were all counted. Times from just before tracing gave way to on-windows are left out, where
/// there are others: requests took longer under it. Long requests were all timed, since format 4, and weigh as many
/// as they are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RequestTimes {
    /// Requests that were answered.
    pub requests: f64,
    /// Replies that may be to more than one request.
    pub pipelined: f64,
    /// Requests that were timed, and how long they took together, ns.
    pub timed: f64,
    /// See `timed`.
    pub timed_ns: f64,
    /// Of the timed ones, those from `LONG_NS` on, and their time, ns: all that there were.
    pub long: f64,
    /// See `long`.
    pub long_ns: f64,
    /// Long requests that had no reply yet when the recording ended with the window, and how long they had lasted
    /// together, ns: censored, in no other field.
    pub open: f64,
    /// See `open`.
    pub open_ns: f64,
    /// What the times in each bucket are below, ns, in rising order, and how many there are.
    pub buckets: Vec<(f64, f64)>,
}

impl RequestTimes {
    /// Those of `table` (`requests` or `calls`) that were the part's, a sample's times weighing as the requests that
    /// they stand for; `None` without any connection of it.
    pub fn over(timeline: &Timeline, table: &str, role: Role, window: Window) -> Option<Self> {
        let connections = connections(timeline, table, role);
        Self::over_these(timeline, table, &connections, window)
    }

    /// The same of some connections.
    fn over_these(
        timeline: &Timeline,
        table: &str,
        connections: &[EntityId],
        window: Window,
    ) -> Option<Self> {
        let mut counted = Counted::of(timeline, table, connections)?;
        let last = |column| open_at_end(timeline, table, connections, column, window);
        let all = Self {
            open: last("open_long"),
            open_ns: last("open_long_ns"),
            ..counted.in_window(window)
        };
        if all.timed >= ALL * all.requests {
            return Some(all);
        }
        let traced = coverage::before_off_windows(timeline, window);
        let readings = Readings::of(timeline, table, connections);
        Some(
            counted
                .weighted(readings.cut(window), &traced, &all)
                .unwrap_or(all),
        )
    }

    /// The same as they were counted, without weights.
    pub fn counted(timeline: &Timeline, table: &str, role: Role, window: Window) -> Option<Self> {
        let connections = connections(timeline, table, role);
        Some(Counted::of(timeline, table, &connections)?.in_window(window))
    }

    /// The same without long requests.
    fn short(mut self) -> Self {
        if self.long > 0.0 {
            let is_short = |bound: f64| bound <= LONG_NS as f64;
            let buckets = self.buckets.iter_mut();
            let long = buckets.filter(|(bound, _)| !is_short(*bound));
            long.for_each(|(_, count)| *count = 0.0);
        }
        self.requests = (self.requests - self.long).max(0.0);
        self.timed = (self.timed - self.long).max(0.0);
        self.timed_ns = (self.timed_ns - self.long_ns).max(0.0);
        (self.long, self.long_ns) = (0.0, 0.0);
        self
    }

    /// Adds the times of others so many times; their requests once.
    fn add(&mut self, other: &Self, times: f64) {
        self.requests += other.requests;
        self.timed += times * other.timed;
        self.timed_ns += times * other.timed_ns;
        self.buckets.resize(other.buckets.len(), (0.0, 0.0));
        for (to, (bound, count)) in self.buckets.iter_mut().zip(&other.buckets) {
            *to = (*bound, (to.1 + times * count).max(0.0));
        }
    }

    /// Mean of those that were timed, ns.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.timed > 0.0).then(|| self.timed_ns / self.timed)
    }

    /// How long requests without a reply had lasted on average, ns; `None` without any.
    pub(crate) fn open_age_ns(&self) -> Option<f64> {
        (self.open > 0.0).then(|| self.open_ns / self.open)
    }

    /// Adds those without a reply as if it had come then: what they took in the end was that or more, so every quantile
    /// is too low or right.
    pub(crate) fn with_open(mut self) -> Self {
        if let Some(age_ns) = self.open_age_ns() {
            // Times of a sample weigh less than each request.
            let weight = (self.timed / self.requests).min(1.0);
            histogram::add_censored(&mut self.buckets, age_ns, weight * self.open);
            self.timed_ns += weight * self.open_ns;
        }
        self
    }

    /// The time that a share `q` (0 to 1) of those that were timed does not exceed, ns; `None` without any, or where
    /// it is beyond the last bound.
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        let sum = Some(self.timed_ns).filter(|_| self.timed > 0.0);
        histogram::quantile(&self.buckets, sum, q)
    }
}

/// The counters of some connections, read at rising times.
struct Counted<'a> {
    /// Of each column that is wanted: that of each connection. `requests`, `pipelined`, `timed`, `timed_ns`, `long`,
    /// `long_ns`, buckets.
    columns: Vec<Vec<Cursor<'a>>>,
    /// What the times in each bucket are below, ns.
    bounds: Vec<f64>,
}

impl<'a> Counted<'a> {
    /// `None` without any.
    fn of(timeline: &'a Timeline, table: &'a str, connections: &'a [EntityId]) -> Option<Self> {
        let data = timeline.table(table).filter(|_| !connections.is_empty())?;
        let columns = data.table.columns.iter();
        let (names, bounds): (Vec<&str>, Vec<f64>) = columns
            .filter_map(|it| Some((&*it.name, bound_ns(&it.name)?)))
            .unzip();
        let cursors = |column: &str| {
            let of = connections.iter();
            let of = of.filter_map(|it| timeline.series(table, *it, column));
            of.map(|it| it.cursor()).collect()
        };
        let counts = [
            "requests",
            "pipelined",
            "timed",
            "timed_ns",
            "long",
            "long_ns",
        ]
        .into_iter();
        Some(Self {
            columns: counts.chain(names).map(cursors).collect(),
            bounds,
        })
    }

    fn in_window(&mut self, window: Window) -> RequestTimes {
        let mut sums = self.columns.iter_mut().map(|of| {
            let grown = of.iter_mut().filter_map(|it| it.growth(window));
            // A sum of nothing is -0.
            grown.fold(0.0, |sum, own| sum + own)
        });
        let mut next = || sums.next().unwrap_or_default();
        RequestTimes {
            requests: next(),
            pipelined: next(),
            timed: next(),
            timed_ns: next(),
            long: next(),
            long_ns: next(),
            buckets: self.bounds.iter().map(|bound| (*bound, next())).collect(),
            ..RequestTimes::default()
        }
    }

    /// `all` of a window, with the times of each of its `parts` weighing as its requests, without those in `traced`;
    /// `None` where no others are left.
    fn weighted(
        &mut self,
        parts: impl Iterator<Item = Window>,
        traced: &[Window],
        all: &RequestTimes,
    ) -> Option<RequestTimes> {
        // Requests of parts of whose times there are too few count for the next ones.
        let mut waiting = RequestTimes::default();
        let mut sum = RequestTimes::default();
        for part in parts {
            waiting.add(&self.in_window(part).short(), 1.0);
            for traced in traced.iter().filter_map(|it| it.intersect(part)) {
                let mut times = self.in_window(traced).short();
                times.requests = 0.0;
                waiting.add(&times, -1.0);
            }
            if waiting.timed >= LEAST_TIMED {
                let own = std::mem::take(&mut waiting);
                sum.add(&own, own.requests / own.timed);
            }
        }
        if sum.timed <= 0.0 {
            return None;
        }
        // As many as were timed, distributed as all.
        let share = all.timed / all.requests;
        let short = share * all.clone().short().requests / sum.timed;
        let buckets = all.buckets.iter().zip(&sum.buckets);
        let buckets = buckets.map(|((bound, counted), (_, sampled))| {
            let long = all.long > 0.0 && *bound > LONG_NS as f64;
            let count = if long {
                share * counted
            } else {
                short * sampled
            };
            (*bound, count)
        });
        Some(RequestTimes {
            timed_ns: short * sum.timed_ns + share * all.long_ns,
            buckets: buckets.collect(),
            ..all.clone()
        })
    }
}

/// Part of the target's requests that may be several; `None` where none were seen.
pub(crate) fn pipelined(timeline: &Timeline) -> Option<f64> {
    let connections = connections(timeline, SERVED, Role::Target);
    let sum = |column| growth(timeline, SERVED, &connections, column, timeline.window);
    let requests = sum("requests");
    (requests > 0.0).then(|| sum("pipelined") / requests)
}

/// Whether the target's requests were counted, and are one by one: where several are on their way on a
/// connection at a time, their number is not known.
pub(crate) fn are_told(timeline: &Timeline) -> bool {
    pipelined(timeline).is_some_and(|it| it <= Thresholds::default().requests.pipelined)
}

/// Requests of the load by the second, with their times at one end.
pub(crate) fn bins(timeline: &Timeline, end: End) -> Vec<Bin> {
    let (table, connections) = end.counted(timeline);
    let series = series_of(timeline, table, &connections, "requests");
    let mut requests: Vec<Cursor<'_>> = series.map(|it| it.cursor()).collect();
    let known = requests.iter().filter_map(|it| it.series().known());
    let Some(known) =
        known.reduce(|all, next| Window::new(all.start.min(next.start), all.end.max(next.end)))
    else {
        return Vec::new();
    };
    let length = BIN_NS.max(known.len_ns() / MOST_BINS);
    let mut bins: Vec<Bin> = Vec::new();
    let mut start = known.start;
    while known.end.ns_since(start) >= length / 2 {
        let window = Window::new(start, (start + length).min(known.end));
        let grown = requests.iter_mut().filter_map(|it| it.growth(window));
        bins.push(Bin::new(window, grown.sum::<f64>() / window.seconds()));
        start = window.end;
    }
    fill_latency(&mut bins, timeline, end);
    silence::mark_stalls(&mut bins, timeline, table, &connections);
    bins
}

/// Requests of the load over each of these windows, which follow one another, with their times at one end.
pub(crate) fn bins_over(timeline: &Timeline, end: End, windows: &[Window]) -> Vec<Bin> {
    let (table, connections) = end.counted(timeline);
    let series = series_of(timeline, table, &connections, "requests");
    let mut requests: Vec<Cursor<'_>> = series.map(|it| it.cursor()).collect();
    let bin = |window: &Window| {
        let grown = requests.iter_mut().filter_map(|it| it.growth(*window));
        Bin::new(*window, grown.sum::<f64>() / window.seconds())
    };
    let mut bins: Vec<Bin> = windows.iter().map(bin).collect();
    fill_latency(&mut bins, timeline, end);
    bins
}

/// Gives bins of a workload that does not say how long its operations take what the kernel saw of it: the time of all
/// requests in a bin, shared among its operations.
pub(crate) fn fill_latency(bins: &mut [Bin], timeline: &Timeline, end: End) {
    let (table, role) = end.of();
    let connections = connections(timeline, table, role);
    let series = |column| {
        let of = connections.iter();
        let of = of.filter_map(move |it| timeline.series(table, *it, column));
        of.map(|it| it.cursor()).collect::<Vec<_>>()
    };
    let mut columns = ["requests", "timed", "timed_ns", "long", "long_ns"].map(series);
    let readings = Readings::of(timeline, table, &connections);
    // Of short ones, when some were last timed: all long ones are, and a stall may leave no other.
    let mut mean_ns = None;
    // Those timed since then, and their time.
    let mut waiting = (0.0, 0.0);
    for bin in bins {
        // Requests before any was timed, and the time of all others.
        let (mut untimed, mut bin_ns, mut all_long_ns) = (0.0, 0.0, 0.0);
        for part in readings.cut(bin.window) {
            let [requests, timed, timed_ns, long, long_ns] = columns.each_mut().map(|of| {
                let grown = of.iter_mut().filter_map(|it| it.growth(part));
                grown.sum::<f64>()
            });
            let short = (requests - long).max(0.0);
            let (sampled, sampled_ns) = sampled([timed, timed_ns], [long, long_ns]);
            waiting = (waiting.0 + sampled, waiting.1 + sampled_ns);
            // A few of tens of thousands, timed just after a stall, would stand for all of them.
            let is_enough = waiting.0 >= LEAST_TIMED || timed >= ALL * requests;
            if sampled > 0.0 && is_enough {
                mean_ns = Some(waiting.1 / waiting.0);
                waiting = (0.0, 0.0);
            }
            untimed += short;
            if let Some(mean_ns) = mean_ns {
                bin_ns += std::mem::take(&mut untimed) * mean_ns;
            }
            bin_ns += long_ns;
            all_long_ns += long_ns;
        }
        // Each took anything below the bound of long ones.
        let unknown_ns = untimed * LONG_NS as f64 / 2.0;
        let completed = bin.completed();
        bin.latency_ns = (completed > 0.0 && unknown_ns <= UNTIMED * all_long_ns)
            .then(|| (bin_ns + unknown_ns) / completed);
    }
}

/// The sample of short requests and its time: of those that were timed what is not long.
fn sampled([timed, timed_ns]: [f64; 2], [long, long_ns]: [f64; 2]) -> (f64, f64) {
    // Between two readings a counter is taken to grow evenly: what rounding leaves of equal ones is no request.
    match timed - long {
        sampled if sampled > ROUNDED => (sampled, (timed_ns - long_ns).max(0.0)),
        _ => (0.0, 0.0),
    }
}

/// Quantiles of the requests in a window, at one end, and the highest.
pub(crate) fn quantiles(timeline: &Timeline, end: End, window: Window) -> Vec<Quantile> {
    let Some(times) = end.over(timeline, window) else {
        return Vec::new();
    };
    let timed = times.timed * observed(timeline, window);
    let sampled = (timed < times.requests - 0.5).then_some(timed.round() as u64);
    let known = WANTED.into_iter().filter(|q| is_supported(timed, *q));
    let age_ns = times.open_age_ns();
    let times = times.with_open();
    let quantile = |q| {
        let value = times.quantile_ns(q)?;
        Some(Quantile {
            q,
            value,
            sampled,
            // From the bucket on in which they are, a quarter of an octave.
            at_least: age_ns.is_some_and(|age_ns| value > 0.75 * age_ns),
            of_whole_run: false,
        })
    };
    let mut quantiles: Vec<Quantile> = known.filter_map(&quantile).collect();
    // Long ones were all timed; of shorter ones it is the highest of a sample.
    quantiles.extend(quantile(1.0).map(|highest| Quantile {
        sampled: sampled.filter(|_| highest.value <= LONG_NS as f64),
        ..highest
    }));
    quantiles
}

/// What was open when the recording ended, where the window ends with it.
fn open_at_end(
    timeline: &Timeline,
    table: &str,
    connections: &[EntityId],
    column: &str,
    window: Window,
) -> f64 {
    if timeline.window.end.ns_since(window.end) > BIN_NS {
        return 0.0;
    }
    // A connection that has ended has nothing open.
    let lasts = |at: Timestamp| timeline.window.end.ns_since(at) <= BIN_NS;
    let last = series_of(timeline, table, connections, column)
        .filter_map(|it| it.values().next_back().filter(|(at, _)| lasts(*at)));
    last.map(|(_, value)| value as f64).sum()
}

/// Requests of the target without a reply when the recording ended, and how long they had lasted on average, ns.
pub(crate) fn open(timeline: &Timeline, window: Window) -> Option<(f64, f64)> {
    let times = RequestTimes::over(timeline, SERVED, Role::Target, window)?;
    Some((times.open, times.open_age_ns()?))
}

/// The part of the timed requests that were observed. Until format 3 the recorder itself had multiplied what it saw in
/// on-windows, and declared the product exact.
fn observed(timeline: &Timeline, window: Window) -> f64 {
    let table = timeline.table(SERVED).map(|it| &it.table);
    let column = table.and_then(|it| it.columns.iter().find(|it| it.name == "timed_ns"));
    match column {
        Some(column) if column.quality == Quality::Exact => {
            1.0 - coverage::off_part(timeline, window).unwrap_or(0.0)
        }
        _ => 1.0,
    }
}

/// The connections of a part.
fn connections(timeline: &Timeline, table: &str, role: Role) -> Vec<EntityId> {
    let all = timeline
        .table(table)
        .into_iter()
        .flat_map(|it| it.entities());
    let plays = |it: &EntityId| timeline.entities.get(*it).is_some_and(|it| it.role == role);
    all.filter(plays).collect()
}

/// A column of each of these connections that has it.
fn series_of<'a>(
    timeline: &'a Timeline,
    table: &str,
    connections: &[EntityId],
    column: &str,
) -> impl Iterator<Item = Series<'a>> {
    connections
        .iter()
        .filter_map(move |it| timeline.series(table, *it, column))
}

fn growth(
    timeline: &Timeline,
    table: &str,
    connections: &[EntityId],
    column: &str,
    window: Window,
) -> f64 {
    let series = series_of(timeline, table, connections, column);
    let grown = series.filter_map(|it| it.growth(window));
    // A sum of nothing is -0.
    grown.fold(0.0, |sum, own| sum + own)
}

#[cfg(test)]
mod tests;
