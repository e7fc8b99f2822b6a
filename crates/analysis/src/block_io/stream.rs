//! The requests of one stream, or of several together, over a window.

use model::{
    EntityId, EntityKind, IoPart, IoPattern, IoTimes, Series, Timeline, Timestamp, Window,
};
use sensors::block_io::{
    BLOCK_IO, BUCKETS_FROM, Operation, SIZES, Scope, TIMES, WIDTH, size_bound, time_bound,
};

use crate::stats::histogram;
use crate::stats::is_supported;

/// Fewer requests than this have no pattern of their own.
const LEAST_REQUESTS: f64 = 10.0;
/// From this share on requests are called sequential, and up to the rest of it random: between requests of a sequential
/// stream there are few others, such as those for the file's own structures.
pub(super) const SEQUENTIAL: f64 = 0.8;
/// Writes of a log are waited for: most of them, since some need several requests for one sync.
const SYNCED: f64 = 0.5;
/// The quantiles between which typical sizes are.
const TYPICAL: [f64; 2] = [0.1, 0.9];
/// Counts in shorter intervals say nothing about a rate.
const LEAST_INTERVAL_NS: i64 = 50_000_000;

/// Requests of one operation of one of those for whom a device works, over a window.
pub(super) struct Stream {
    pub(super) id: EntityId,
    pub(super) device: i64,
    pub(super) scope: Scope,
    pub(super) operation: Operation,
    name: String,
    window: Window,
    /// By column; of counters the growth.
    grown: [f64; WIDTH],
    most: f64,
    /// Requests so far at each reading in the window, and at its ends.
    counted: Vec<(Timestamp, f64)>,
}

/// Those of the window that have requests.
pub(super) fn streams(timeline: &Timeline, window: Window) -> Vec<Stream> {
    let of_kind = timeline.entities.of_kind(EntityKind::BlockStream);
    of_kind
        .filter_map(|record| stream(timeline, record.id, &record.entity.name, window))
        .collect()
}

fn stream(timeline: &Timeline, id: EntityId, name: &str, window: Window) -> Option<Stream> {
    let series = |column| timeline.series(&BLOCK_IO.name, id, column);
    let requests = series("requests")?;
    if requests.growth(window)? <= 0.0 {
        return None;
    }
    let code = |column| series(column)?.gauge_at(window.end);
    let most = series("in_flight_most").map_or(0, |it| {
        let values = it.values_in(window).map(|(_, value)| value);
        values.max().unwrap_or(0)
    });
    let mut grown = [0.0; WIDTH];
    for (value, column) in grown.iter_mut().zip(BLOCK_IO.columns.iter()) {
        *value = series(&column.name)
            .and_then(|it| it.growth(window))
            .unwrap_or(0.0);
    }
    Some(Stream {
        id,
        device: code("device")?,
        scope: Scope::of(code("scope")?)?,
        operation: Operation::of(code("operation")?)?,
        name: name.to_owned(),
        window,
        grown,
        most: most as f64,
        counted: counted(&requests, window),
    })
}

fn counted(requests: &Series<'_>, window: Window) -> Vec<(Timestamp, f64)> {
    let inside = requests.values_in(window);
    let times = inside.map(|(time, _)| time);
    let all = std::iter::once(window.start)
        .chain(times)
        .chain([window.end]);
    // Before its first reading nothing was counted that is known.
    let first = requests
        .values()
        .next()
        .map_or(0.0, |(_, count)| count as f64);
    let at = |time| requests.counter_at(time).unwrap_or(first);
    all.map(|time| (time, at(time))).collect()
}

impl Stream {
    fn of(&self, column: &str) -> f64 {
        let place = BLOCK_IO.position(column);
        place.map_or(0.0, |place| self.grown[place])
    }

    /// What its requests are for, by how they come.
    pub(super) fn part(&self) -> IoPart {
        let requests = self.of("requests");
        let share = |column| self.of(column) / requests;
        let is_log = self.operation == Operation::Write
            && requests >= LEAST_REQUESTS
            && share("sequential") >= SEQUENTIAL
            && share("synced") >= SYNCED;
        match (self.scope, self.operation) {
            (_, Operation::Flush | Operation::Discard | Operation::Other) => IoPart::All,
            (Scope::Journal, _) => IoPart::Journal,
            (Scope::Metadata, _) => IoPart::Metadata,
            (Scope::File | Scope::Unnamed, _) if is_log => IoPart::Log,
            (Scope::File | Scope::Unnamed, _) => IoPart::Data,
            _ => IoPart::All,
        }
    }
}

/// Streams of one operation together.
pub(super) struct Total<'a> {
    streams: &'a [&'a Stream],
    first: &'a Stream,
    grown: [f64; WIDTH],
}

impl<'a> Total<'a> {
    /// `None` for none.
    pub(super) fn of(streams: &'a [&'a Stream]) -> Option<Self> {
        let first = *streams.first()?;
        let mut grown = [0.0; WIDTH];
        for stream in streams {
            grown
                .iter_mut()
                .zip(stream.grown)
                .for_each(|(sum, own)| *sum += own);
        }
        Some(Self {
            streams,
            first,
            grown,
        })
    }

    fn get(&self, column: &str) -> f64 {
        let place = BLOCK_IO.position(column);
        place.map_or(0.0, |place| self.grown[place])
    }

    /// `None` without requests.
    pub(super) fn pattern(&self) -> Option<IoPattern> {
        let requests = self.get("requests");
        let seconds = self.first.window.seconds();
        if requests < 0.5 || seconds <= 0.0 {
            return None;
        }
        let share = |column| (self.get(column) / requests).clamp(0.0, 1.0);
        let time = self.get("queue_ns") + self.get("device_ns");
        let counts_synced = self.first.operation == Operation::Write && self.first.scope.is_part();
        let [size_from, size_to] = self.sizes();
        let most = self.streams.iter().map(|it| it.most);
        let (bursts, peak_per_second) = self.bursts();
        Some(IoPattern {
            name: self.first.name.clone(),
            part: self.first.part(),
            operation: self.first.operation.word().to_owned(),
            streams: self.streams.len() as u32,
            requests: requests.round() as u64,
            per_second: requests / seconds,
            bytes: self.get("bytes").round() as u64,
            errors: self.get("errors").round() as u64,
            size_from,
            size_to,
            sequential: share("sequential"),
            synced: counts_synced.then(|| share("synced")),
            fua: share("fua"),
            depth: time / self.get("busy_ns").max(1.0),
            in_flight: time / self.first.window.len_ns() as f64,
            in_flight_most: most.fold(0.0, f64::max) as u64,
            bursts,
            peak_per_second,
            queue: self.times("queue_ns", BUCKETS_FROM),
            device: self.times("device_ns", BUCKETS_FROM + TIMES),
        })
    }

    fn times(&self, sum: &str, first: usize) -> IoTimes {
        let sum = self.get(sum);
        let counts = &self.grown[first..first + TIMES];
        let bound = |bucket| time_bound(bucket).map_or(f64::INFINITY, |it| it as f64);
        let bounds = (0..TIMES).map(bound);
        let buckets: Vec<_> = bounds.zip(counts.iter().copied()).collect();
        let all: f64 = counts.iter().sum();
        let quantile = |q| histogram::quantile(&buckets, Some(sum), q);
        IoTimes {
            mean_ns: sum / all.max(1.0),
            median_ns: quantile(0.5),
            p99_ns: quantile(0.99).filter(|_| is_supported(all, 0.99)),
        }
    }

    /// The bounds of typical sizes; one size where all requests have the same.
    fn sizes(&self) -> [Option<u64>; 2] {
        let (bytes, requests) = (self.get("bytes"), self.get("requests"));
        let counts = &self.grown[BUCKETS_FROM + 2 * TIMES..][..SIZES];
        let all: f64 = counts.iter().sum();
        if bytes < 1.0 || all <= 0.0 {
            return [None, None];
        }
        let bucket = |q: f64| {
            let mut below = 0.0;
            let mut counts = counts.iter();
            counts.position(|count| {
                below += count;
                below >= q * all
            })
        };
        let [Some(low), Some(high)] = TYPICAL.map(bucket) else {
            return [None, None];
        };
        let from = low.checked_sub(1).and_then(size_bound).unwrap_or(0);
        let is_one = low == high && (bytes / requests - from as f64).abs() < 1.0;
        let to = if is_one { Some(from) } else { size_bound(high) };
        [Some(from), to]
    }

    /// How unevenly requests come, and the most per second.
    fn bursts(&self) -> (Option<f64>, f64) {
        let mut times: Vec<Timestamp> = self
            .streams
            .iter()
            .flat_map(|it| it.counted.iter().map(|(time, _)| *time))
            .collect();
        times.sort_unstable();
        times.dedup();
        let mut so_far = vec![0.0; times.len()];
        for stream in self.streams {
            add(&stream.counted, &times, &mut so_far);
        }
        let (mut crowding, mut all, mut peak) = (0.0, 0.0, 0.0_f64);
        let mut from = 0;
        for to in 1..times.len() {
            let ns = times[to].ns_since(times[from]);
            if ns < LEAST_INTERVAL_NS && to + 1 < times.len() {
                continue;
            }
            let (count, seconds) = (so_far[to] - so_far[from], ns as f64 / 1e9);
            from = to;
            if seconds <= 0.0 {
                continue;
            }
            all += count;
            // Less the request itself: of requests that come at random nothing is left but the mean.
            crowding += (count * (count - 1.0)).max(0.0) / seconds;
            peak = peak.max(count / seconds);
        }
        let rate = all / self.first.window.seconds();
        let known = all >= LEAST_REQUESTS && rate > 0.0;
        (known.then(|| crowding / all / rate), peak)
    }
}

/// Adds what a stream had counted at each of the times, on straight lines between its readings.
fn add(counted: &[(Timestamp, f64)], times: &[Timestamp], so_far: &mut [f64]) {
    let mut place = 0;
    for (time, sum) in times.iter().zip(so_far) {
        while place + 1 < counted.len() && counted[place + 1].0 <= *time {
            place += 1;
        }
        let (from, count) = counted[place];
        let next = counted.get(place + 1).filter(|next| next.0 > from);
        *sum += next.map_or(count, |next| {
            let part = time.ns_since(from) as f64 / next.0.ns_since(from) as f64;
            count + part.clamp(0.0, 1.0) * (next.1 - count)
        });
    }
}
