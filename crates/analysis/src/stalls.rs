//! Stalls: stretches in which nearly nothing is answered while requests are open.
//!
//! A stall begins where throughput falls to nearly nothing, or to less than half while what is answered takes many
//! times as long as usual, and ends where it is back: two thresholds each, so that one request that comes through does
//! not make two stalls of one. Whether requests were open is the caller's to know.

use model::Window;

use crate::stats::median;
use crate::thresholds::Stalls;

/// What was completed in an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) window: Window,
    pub(crate) completed: f64,
    /// How many times as long as usual it took; `None` where too little was timed.
    pub(crate) slower: Option<f64>,
}

/// Intervals that lie side by side in which too little was completed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Candidate {
    pub(crate) window: Window,
    pub(crate) completed: f64,
    /// Whether throughput fell to nearly nothing in it.
    pub(crate) stopped: bool,
}

/// The usual rate, per second: the middle of all intervals in which anything was completed; `None` without any.
pub(crate) fn usual_rate(intervals: &[Interval]) -> Option<f64> {
    let some = intervals.iter().filter(|it| it.completed > 0.0);
    let rates: Vec<f64> = some.map(|it| it.completed / it.window.seconds()).collect();
    median(&rates).filter(|rate| *rate > 0.0)
}

/// All stretches of at least `shortest_ns`, of intervals in the order of time.
pub(crate) fn candidates(
    intervals: &[Interval],
    rate: f64,
    shortest_ns: f64,
    rules: &Stalls,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for range in ranges(intervals, |it, inside| is_stalled(it, rate, inside, rules)) {
        let own = &intervals[range];
        let stopped = |it: &Interval| part(it, rate) <= rules.stopped;
        let all = joined(own, stopped);
        let slow = own.iter().filter(|it| !stopped(it)).count();
        if all.window.seconds() > rules.longest_slow && 2 * slow > own.len() {
            // Slow for so long, it is a phase of the run; where it stands still within, that is a stall.
            let inner = ranges(own, |it, _| stopped(it));
            found.extend(inner.into_iter().map(|it| joined(&own[it], stopped)));
        } else {
            found.push(all);
        }
    }
    found.retain(|it| it.window.len_ns() as f64 >= shortest_ns);
    found
}

/// Part of the usual that was completed.
fn part(interval: &Interval, rate: f64) -> f64 {
    interval.completed / (rate * interval.window.seconds()).max(f64::MIN_POSITIVE)
}

/// Whether an interval belongs to a stall, behind one that did (`inside`) or did not.
fn is_stalled(interval: &Interval, rate: f64, inside: bool, rules: &Stalls) -> bool {
    let part = part(interval, rate);
    if part <= rules.stopped {
        return true;
    }
    let least = if inside { rules.recovered } else { rules.slow };
    let slow = interval.slower.map_or(inside, |slower| slower >= least);
    part < rules.resumed && slow
}

/// Runs of neighbours that belong together, as places.
fn ranges(
    intervals: &[Interval],
    belongs: impl Fn(&Interval, bool) -> bool,
) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (place, interval) in intervals.iter().enumerate() {
        let beside = |it: &&mut std::ops::Range<usize>| {
            it.end == place && intervals[place - 1].window.end == interval.window.start
        };
        match found.last_mut().filter(beside) {
            Some(before) if belongs(interval, true) => before.end = place + 1,
            _ if belongs(interval, false) => found.push(place..place + 1),
            _ => {}
        }
    }
    found
}

fn joined(intervals: &[Interval], stopped: impl Fn(&Interval) -> bool) -> Candidate {
    let (first, last) = (intervals[0].window, intervals[intervals.len() - 1].window);
    Candidate {
        window: Window::new(first.start, last.end),
        completed: intervals.iter().map(|it| it.completed).sum(),
        stopped: intervals.iter().any(stopped),
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::thresholds::Thresholds;

    /// Intervals of a tenth of a second: what was completed, and how much slower than usual.
    fn intervals(of: &[(f64, Option<f64>)]) -> Vec<Interval> {
        let at = |tenth: usize| Timestamp::from_ns(tenth as i64 * 100_000_000);
        let each = of.iter().enumerate();
        let each = each.map(|(place, (completed, slower))| Interval {
            window: Window::new(at(place), at(place + 1)),
            completed: *completed,
            slower: *slower,
        });
        each.collect()
    }

    /// The stretches of such intervals, in tenths of a second.
    fn found(of: &[(f64, Option<f64>)]) -> Vec<(i64, i64, bool)> {
        let intervals = intervals(of);
        let rate = usual_rate(&intervals).unwrap_or(1.0);
        let rules = Thresholds::default().stalls;
        let all = candidates(&intervals, rate, rules.shortest * 1e9, &rules);
        let tenth = |at: Timestamp| at.as_ns() / 100_000_000;
        let all = all.iter();
        all.map(|it| (tenth(it.window.start), tenth(it.window.end), it.stopped))
            .collect()
    }

    #[test]
    fn one_request_that_comes_through_does_not_end_a_stall() {
        let mut of = vec![(100.0, Some(1.0)); 40];
        of[10..16].fill((0.0, None));
        of[13] = (20.0, None);
        assert_eq!(found(&of), [(10, 16, true)]);
        // As fast as usual, it does.
        of[13] = (20.0, Some(1.0));
        assert_eq!(found(&of), [(10, 13, true)]);
    }

    #[test]
    fn short_gaps_and_evenly_few_are_no_stalls() {
        let mut of = vec![(100.0, Some(1.0)); 40];
        of[10..12].fill((0.0, None));
        of[20..30].fill((30.0, Some(2.0)));
        assert_eq!(found(&of), []);
    }

    #[test]
    fn slow_and_few_is_a_stall_until_it_is_a_phase() {
        let mut of = vec![(100.0, Some(1.0)); 400];
        of[10..20].fill((30.0, Some(12.0)));
        of[20..23].fill((30.0, Some(4.0)));
        assert_eq!(found(&of), [(10, 23, false)]);
        of[200..350].fill((30.0, Some(12.0)));
        of[300..305].fill((0.0, None));
        assert_eq!(found(&of), [(10, 23, false), (300, 305, true)]);
    }

    #[test]
    fn without_anything_there_is_no_usual_rate() {
        assert_eq!(usual_rate(&[]), None);
        assert_eq!(usual_rate(&intervals(&[(0.0, None); 3])), None);
    }

    proptest! {
        #[test]
        fn stretches_are_apart_in_order_long_enough_and_hold_less_than_half_of_the_usual(
            of in prop::collection::vec(
                (prop_oneof![Just(0.0), 0.0..300.0f64], prop::option::of(0.1..50.0f64)), 0..200),
            scale in 0.001..1_000.0f64,
        ) {
            let of: Vec<_> = of.into_iter().map(|(count, slower)| (count * scale, slower)).collect();
            let intervals = intervals(&of);
            let rate = usual_rate(&intervals).unwrap_or(1.0);
            let rules = Thresholds::default().stalls;
            let all = candidates(&intervals, rate, rules.shortest * 1e9, &rules);
            for pair in all.windows(2) {
                prop_assert!(pair[0].window.end <= pair[1].window.start);
            }
            for stretch in &all {
                prop_assert!(stretch.window.seconds() >= rules.shortest);
                let usual = rate * stretch.window.seconds();
                prop_assert!(stretch.completed <= rules.resumed * usual * 1.000_001);
            }
        }

        #[test]
        fn nothing_at_all_for_long_is_always_found(
            before in 1..50usize, gap in 3..60usize, count in 1.0..1e6f64,
        ) {
            let mut of = vec![(count, Some(1.0)); before];
            of.extend(vec![(0.0, None); gap]);
            of.extend(vec![(count, Some(1.0)); 5]);
            prop_assert_eq!(found(&of), [(before as i64, (before + gap) as i64, true)]);
        }
    }
}
