//! Requests over time: how many were answered when, and how long those took.

use model::{Timeline, Window};
use sensors::request::{LONG_NS, bound_ns};

use crate::workload_metrics::bin::Bin;

use super::readings::Readings;
use super::{Counted, End, RequestTimes, connections, growth, open_at_end, series_of};

/// What was known of the load's requests: from its first connection's first reading to its last one's last.
pub(crate) fn known(timeline: &Timeline, end: End) -> Option<Window> {
    let (table, connections) = end.counted(timeline);
    let known =
        series_of(timeline, table, &connections, "requests").filter_map(|series| series.known());
    known.reduce(|all, next| Window::new(all.start.min(next.start), all.end.max(next.end)))
}

/// How many of the load's requests were answered in each of these windows, which are in the order of time.
pub(crate) fn answered(timeline: &Timeline, end: End, windows: &[Window]) -> Vec<f64> {
    let (table, connections) = end.counted(timeline);
    let mut cursors: Vec<_> = series_of(timeline, table, &connections, "requests")
        .map(|it| it.cursor())
        .collect();
    let answered = windows.iter().map(|window| {
        let grown = cursors.iter_mut().filter_map(|it| it.growth(*window));
        grown.fold(0.0, |sum, own| sum + own)
    });
    answered.collect()
}

/// What was counted at one end in each of these windows, which are in the order of time: long requests, which were all
/// timed, weigh as much as each of the sample.
pub(crate) fn over_each(timeline: &Timeline, end: End, windows: &[Window]) -> Vec<RequestTimes> {
    let (table, role) = end.of();
    let connections = connections(timeline, table, role);
    let Some(mut counted) = Counted::of(timeline, table, &connections) else {
        return vec![RequestTimes::default(); windows.len()];
    };
    // Most buckets stay empty.
    for of in &mut counted.columns {
        of.retain(|it| it.series().growth(timeline.window) != Some(0.0));
    }
    let each = windows
        .iter()
        .map(|window| evenly(counted.in_window(*window)));
    each.collect()
}

/// The same with what is long as a part of the sample (`sampledPart` in ui/src/charts/requestTimes.ts).
fn evenly(mut times: RequestTimes) -> RequestTimes {
    let (short, sampled) = (times.requests - times.long, times.timed - times.long);
    if times.long <= 0.0 || short <= 0.0 || sampled <= 0.0 || sampled >= short {
        return times;
    }
    let part = sampled / short;
    let long = times.buckets.iter_mut();
    let long = long.filter(|(bound, _)| *bound > LONG_NS as f64);
    long.for_each(|(_, count)| *count *= part);
    times.timed = sampled + part * times.long;
    times.timed_ns = times.timed_ns - times.long_ns + part * times.long_ns;
    times
}

/// How many of the requests that ended in a window at one end had surely lasted for `least_ns` or longer, which must be
/// so long that all are timed.
pub(crate) fn lasted(timeline: &Timeline, end: End, window: Window, least_ns: f64) -> f64 {
    let (table, role) = end.of();
    let connections = connections(timeline, table, role);
    let columns = timeline.table(table).map(|it| it.table.columns.iter());
    let mut bounds: Vec<(f64, &str)> = columns
        .into_iter()
        .flatten()
        .filter_map(|it| Some((bound_ns(&it.name)?, &*it.name)))
        .collect();
    bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let lower = std::iter::once(0.0).chain(bounds.iter().map(|it| it.0));
    let longer = bounds.iter().zip(lower);
    let longer = longer.filter(|(_, lower)| *lower >= least_ns.max(LONG_NS as f64));
    longer
        .map(|((_, column), _)| growth(timeline, table, &connections, column, window))
        .sum()
}

/// Part of the time of all requests that the few add which take far longer than the usual one: those that met somebody who
/// held all of them up. Of exponential times it is under 1 %.
pub(crate) fn stalled(times: &RequestTimes) -> Option<f64> {
    /// So many times the median is far longer.
    const FAR: f64 = 10.0;
    let usual_ns = times.quantile_ns(0.5)?;
    let lower = std::iter::once(0.0).chain(times.buckets.iter().map(|it| it.0));
    let buckets = times.buckets.iter().zip(lower);
    let (mut all_ns, mut added_ns) = (0.0, 0.0);
    for ((upper, count), lower) in buckets.filter(|((_, count), _)| *count > 0.0) {
        // The first bucket begins at 0, the last one has no end.
        let middle_ns = match (lower > 0.0, upper.is_finite()) {
            (true, true) => (lower * upper).sqrt(),
            (true, false) => lower,
            (false, _) => *upper,
        };
        all_ns += count * middle_ns;
        if lower >= FAR * usual_ns {
            added_ns += count * (middle_ns - usual_ns);
        }
    }
    (all_ns > 0.0).then(|| (added_ns / all_ns).clamp(0.0, 1.0))
}

/// How many requests had no reply yet when the recording ended with a window, and had lasted for about `least_ns` or
/// longer on average.
pub(crate) fn still_open(timeline: &Timeline, end: End, window: Window, least_ns: f64) -> f64 {
    let (table, role) = end.of();
    let connections = connections(timeline, table, role);
    let [open, open_ns] = ["open_long", "open_long_ns"]
        .map(|column| open_at_end(timeline, table, &connections, column, window));
    match open > 0.0 && open_ns / open >= least_ns {
        true => open,
        false => 0.0,
    }
}

/// Time between a reply's arrival at the generator and the next request on its connection, of all together, ns; `None`
/// in recordings from before it was counted.
pub(crate) fn between_ns(timeline: &Timeline, window: Window) -> Option<f64> {
    let (table, role) = End::Generator.of();
    timeline.table(table)?.table.position("between_ns")?;
    let connections = connections(timeline, table, role);
    Some(growth(timeline, table, &connections, "between_ns", window))
}

/// What was counted at one end in all of these windows, which are in the order of time, together.
pub(crate) fn over_all(timeline: &Timeline, end: End, windows: &[Window]) -> RequestTimes {
    let each = over_each(timeline, end, windows);
    let mut all = RequestTimes::default();
    // A sample of each weighs as its requests.
    for times in each.iter().filter(|it| it.timed > 0.0) {
        all.add(times, times.requests / times.timed);
    }
    all
}

/// What was completed between one reading and the next, or several that are at least `step_ns` apart, with how long
/// that took: of a recorder that had to read less often the intervals are longer.
pub(crate) fn between_readings(timeline: &Timeline, end: End, step_ns: i64) -> Option<Vec<Bin>> {
    let (table, connections) = end.counted(timeline);
    let readings = Readings::of(timeline, table, &connections);
    // Readings come some ms early or late.
    let windows: Vec<Window> = readings
        .cut_into(known(timeline, end)?, step_ns - step_ns / 10)
        .collect();
    let completed = answered(timeline, end, &windows);
    let bins = windows.iter().zip(completed);
    let mut bins: Vec<Bin> = bins
        .map(|(window, completed)| Bin::new(*window, completed / window.seconds()))
        .collect();
    super::fill_latency(&mut bins, timeline, end);
    Some(bins)
}
