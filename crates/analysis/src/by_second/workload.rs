//! The run by the second, as the workload tells it in its own intervals.

use model::{BySecond, Meta, Omitted, Provenance, SecondReport, Stall, Timeline, Window};

use super::{MOST_SECONDS, keeps_to_schedule, stalled_ns};
use crate::latency_sample::Samples;
use crate::stalls::{self, Candidate, Interval};
use crate::stats::{median, nearest_rank};
use crate::thresholds::Stalls;
use crate::workload_metrics::Bin;

/// So many sampled operations must lie beyond the p99 of one interval.
const LEAST_SAMPLED: usize = 200;

/// `None` where it said nothing of its throughput.
pub(super) fn by_second(
    timeline: &Timeline,
    meta: &Meta,
    bins: &[Bin],
    window: Window,
    rules: &Stalls,
) -> Option<BySecond> {
    let stalls = stalls(bins, rules)?;
    let load = meta.workload.as_ref().map(|it| &it.load);
    let clients = load.and_then(|it| it.clients);
    let inside = stalls.iter();
    let inside = inside.filter(|it| it.window.intersect(window).is_some());
    // Each client had one request open all the while.
    let waited = clients.map_or(1.0, f64::from);
    let left_out: Vec<f64> = inside
        .map(|it| (it.expected - it.completed - waited).max(0.0))
        .collect();
    let may_omit = !left_out.is_empty() && !keeps_to_schedule(load);
    let provenance = meta.workload.as_ref().map(|it| it.latency);
    Some(BySecond {
        provenance: provenance.unwrap_or(Provenance::ToolCount),
        sockets: None,
        seconds: seconds(timeline, bins),
        stalled_ns: stalled_ns(&stalls, window),
        omitted: may_omit.then(|| Omitted {
            requests: left_out.iter().sum(),
            p99_ns: None,
        }),
        stalls,
    })
}

/// Stalls between the first interval in which anything was completed and the last: before and after, nobody asked.
fn stalls(bins: &[Bin], rules: &Stalls) -> Option<Vec<Stall>> {
    let worked = |bin: &Bin| bin.completed() > 0.0;
    let first = bins.iter().position(worked)?;
    let last = bins.iter().rposition(worked)?;
    let bins = &bins[first..=last];
    let latencies: Vec<f64> = bins.iter().filter_map(|it| it.latency_ns).collect();
    let usual_ns = median(&latencies);
    let each = bins.iter().map(|bin| Interval {
        window: bin.window,
        completed: bin.completed(),
        slower: bin
            .latency_ns
            .zip(usual_ns)
            .map(|(own, usual)| own / usual.max(1.0)),
    });
    let intervals: Vec<Interval> = each.collect();
    let rate = stalls::usual_rate(&intervals)?;
    let shortest = rules.response_times * usual_ns.unwrap_or(0.0);
    let shortest = shortest.max(rules.shortest * 1e9);
    let found = stalls::candidates(&intervals, rate, shortest, rules);
    // Of few requests an interval may be empty by chance.
    let enough = |it: &Candidate| rate * it.window.seconds() >= rules.expected;
    let stall = |it: Candidate| Stall {
        window: it.window,
        completed: it.completed,
        expected: rate * it.window.seconds(),
    };
    Some(found.into_iter().filter(enough).map(stall).collect())
}

/// The intervals, a few of a long run together.
fn seconds(timeline: &Timeline, bins: &[Bin]) -> Vec<SecondReport> {
    let together = bins.len().div_ceil(MOST_SECONDS as usize).max(1);
    let samples = Samples::of(timeline);
    let all = bins.chunks(together).map(|bins| {
        let window = Window::new(bins[0].window.start, bins[bins.len() - 1].window.end);
        let times = samples.inside(window);
        let completed: f64 = bins.iter().map(Bin::completed).sum();
        SecondReport {
            window,
            throughput: completed / window.seconds(),
            p99_ns: (times.len() >= LEAST_SAMPLED)
                .then(|| nearest_rank(&times, 0.99))
                .flatten()
                .map(|ns| ns as f64),
            max_ns: times.last().map(|ns| *ns as f64),
            at_least: false,
        }
    });
    all.collect()
}
