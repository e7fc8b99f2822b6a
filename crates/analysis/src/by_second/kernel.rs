//! The run by the second, as the kernel saw its requests at sockets.

use model::{BySecond, Load, Omitted, Provenance, SecondReport, Stall, Timeline, Window};

use super::{MOST_SECONDS, SECOND_NS, cut, keeps_to_schedule, stalled_ns};
use crate::request_times::{self, End, RequestTimes};
use crate::stalls::{self, Candidate, Interval};
use crate::stats::{histogram, is_supported, median};
use crate::thresholds::Stalls;

/// Length of the intervals in which stalls are looked for: the period in which requests are read, and some steps at
/// most of a slow load.
const STEP_NS: i64 = 100_000_000;
const MOST_STEP_NS: i64 = 10_000_000_000;
/// No more of them than these.
const MOST_STEPS: i64 = 100_000;
/// So many requests must lie beyond a quantile of one second, which is looked at for its course (`LEAST_BEYOND_IN_BIN`
/// in ui/src/charts/requestLanes.ts).
const LEAST_BEYOND: f64 = 2.0;
/// How long after a stall those end that were open in it: at the generator a request counts with the next one.
const AFTER_NS: i64 = 1_000_000_000;
/// From here on all requests are timed, ns.
const LONG_NS: f64 = sensors::request::LONG_NS as f64;

/// Requests over the whole recording, at one end.
pub(super) struct Requests<'a> {
    timeline: &'a Timeline,
    end: End,
    rules: &'a Stalls,
    known: Window,
    seconds: Vec<Window>,
    times: Vec<RequestTimes>,
    /// What is usual: answered per second, and half of them in this time, ns.
    rate: f64,
    usual_ns: Option<f64>,
    steps: Vec<Interval>,
}

impl<'a> Requests<'a> {
    /// `None` where none was answered.
    pub(super) fn of(timeline: &'a Timeline, end: End, rules: &'a Stalls) -> Option<Self> {
        let known = request_times::known(timeline, end)?;
        let length = (known.len_ns() / MOST_SECONDS / SECOND_NS + 1) * SECOND_NS;
        let seconds = cut(known, length);
        let times = request_times::over_each(timeline, end, &seconds);
        let medians: Vec<Option<f64>> = times.iter().map(|it| supported(it, 0.5)).collect();
        let usual_ns = median(&medians.iter().copied().flatten().collect::<Vec<f64>>());
        let windows = cut(known, step_ns(timeline, end, known, rules)?);
        let answered = request_times::answered(timeline, end, &windows);
        // A second's times are those of all steps in it.
        let slower = |window: Window| {
            let second = window.start.ns_since(known.start) / length;
            let second = usize::try_from(second).ok()?.min(medians.len() - 1);
            Some(medians[second]? / usual_ns?.max(1.0))
        };
        let steps = windows.into_iter().zip(answered);
        let steps: Vec<Interval> = steps
            .map(|(window, completed)| Interval {
                window,
                completed,
                slower: slower(window),
            })
            .collect();
        Some(Self {
            rate: stalls::usual_rate(&steps)?,
            timeline,
            end,
            rules,
            known,
            seconds,
            times,
            usual_ns,
            steps,
        })
    }

    pub(super) fn by_second(&self, load: Option<&Load>, window: Window) -> BySecond {
        let stalls = self.stalls();
        let inside = stalls.iter();
        let inside: Vec<Stall> = inside
            .filter(|it| it.window.intersect(window).is_some())
            .copied()
            .collect();
        let may_omit = !inside.is_empty() && !keeps_to_schedule(load);
        BySecond {
            provenance: Provenance::Kernel,
            sockets: Some(self.end.role()),
            seconds: self.seconds_reported(),
            stalled_ns: stalled_ns(&stalls, window),
            omitted: may_omit.then(|| self.omitted(load, &inside, window)),
            stalls,
        }
    }

    /// Usual requests in progress, by Little's law.
    fn in_progress(&self) -> f64 {
        self.rate * self.usual_ns.unwrap_or(0.0) / 1e9
    }

    fn stalls(&self) -> Vec<Stall> {
        let usual_ns = self.usual_ns.unwrap_or(0.0);
        let shortest = (self.rules.shortest * 1e9).max(self.rules.response_times * usual_ns);
        let all = stalls::candidates(&self.steps, self.rate, shortest, self.rules);
        let all = all.into_iter().filter(|it| self.was_open(it));
        let stall = |it: Candidate| Stall {
            window: it.window,
            completed: it.completed,
            expected: self.rate * it.window.seconds(),
        };
        all.map(stall).collect()
    }

    /// Whether requests were open all the while: what was answered slowly was, and else those tell which end after it.
    fn was_open(&self, stretch: &Candidate) -> bool {
        let least = (self.rules.witnesses * self.in_progress()).max(0.5);
        !stretch.stopped || self.witnesses(stretch.window) >= least
    }

    /// Requests that were open for most of a stall.
    fn witnesses(&self, stall: Window) -> f64 {
        let least_ns = self.rules.lasted * stall.len_ns() as f64;
        let (timeline, end) = (self.timeline, self.end);
        let around = Window::new(stall.start, stall.end + AFTER_NS);
        let ended = request_times::lasted(timeline, end, around, least_ns);
        ended + request_times::still_open(timeline, end, stall, least_ns)
    }

    fn seconds_reported(&self) -> Vec<SecondReport> {
        let answered = request_times::answered(self.timeline, self.end, &self.seconds);
        let open = request_times::still_open(self.timeline, self.end, self.known, LONG_NS);
        let last = self.seconds.len() - 1;
        let all = self.seconds.iter().zip(&self.times).zip(answered);
        let all = all.enumerate().map(|(place, ((window, times), answered))| {
            let p99_ns = supported(times, 0.99);
            let max_ns = times.quantile_ns(1.0);
            SecondReport {
                window: *window,
                throughput: answered / window.seconds(),
                p99_ns,
                max_ns,
                at_least: place == last && open > 0.0,
            }
        });
        all.collect()
    }

    /// What would have been sent at the usual rate and was not: neither answered in the stalls, nor waiting for them to
    /// end.
    fn omitted(&self, load: Option<&Load>, stalls: &[Stall], window: Window) -> Omitted {
        let mut requests = 0.0;
        let mut waited: f64 = 0.0;
        for stall in stalls {
            let after = Window::new(stall.window.end, stall.window.end + AFTER_NS);
            let late = request_times::lasted(self.timeline, self.end, after, LONG_NS);
            let open = request_times::still_open(self.timeline, self.end, stall.window, LONG_NS);
            requests += (stall.expected - stall.completed - late - open).max(0.0);
            waited = waited.max(self.witnesses(stall.window));
        }
        let clients = load.and_then(|it| it.clients).map_or(waited, f64::from);
        let every_ns = clients.max(1.0) / self.rate * 1e9;
        Omitted {
            requests,
            p99_ns: self.corrected(window, every_ns),
        }
    }

    /// The p99 of a window as if each client had asked every so many ns.
    fn corrected(&self, window: Window, every_ns: f64) -> Option<f64> {
        let times = self.end.over(self.timeline, window)?;
        is_supported(times.timed, 0.99).then_some(())?;
        let all = histogram::with_omitted(&times.with_open().buckets, every_ns);
        histogram::quantile(&all, None, 0.99)
    }
}

/// A quantile of one second.
fn supported(times: &RequestTimes, q: f64) -> Option<f64> {
    let beyond = times.timed * (1.0 - q) + 1e-6;
    (beyond >= LEAST_BEYOND).then(|| times.quantile_ns(q))?
}

/// Length of the steps: so long that none is empty by chance; `None` where nothing was answered.
pub(super) fn step_ns(timeline: &Timeline, end: End, known: Window, rules: &Stalls) -> Option<i64> {
    let all = request_times::answered(timeline, end, &[known]);
    let rate = all[0] / known.seconds();
    if rate.is_nan() || rate <= 0.0 {
        return None;
    }
    let steps = (rules.expected / rate * 1e9 / STEP_NS as f64).ceil() as i64;
    let length = steps.saturating_mul(STEP_NS).clamp(STEP_NS, MOST_STEP_NS);
    Some(length.max(known.len_ns() / MOST_STEPS))
}
