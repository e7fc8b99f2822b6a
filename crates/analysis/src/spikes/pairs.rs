//! A calm stretch for each spike, of the same cycle: what is slow to change is the same in both.

use model::{Spike, Window};

use crate::stats::median;

/// Between a spike and its calm stretch lies this part of the median gap between spikes, within these bounds, s: what
/// starts a spike comes before it, and what is read once a second is read late.
const GUARD: f64 = 0.1;
const GUARDS: [f64; 2] = [0.3, 1.5];
/// Length of a calm stretch, s, at most; it may be as long as its spike in any case.
const LONGEST: f64 = 5.0;
/// And in parts of its spike at least.
const SHORTEST: f64 = 0.5;
/// More pairs tell no more: of more spikes, some from everywhere are taken.
const MOST: usize = 60;

/// A spike and a calm stretch beside it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pair {
    pub(super) spike: Window,
    /// The spike and the time around it in which nothing else is: what is read seldom is read here.
    pub(super) around: Window,
    pub(super) calm: Window,
}

/// The pairs of some spikes, in the order of time. No two windows of theirs overlap.
pub(super) fn pairs(spikes: &[Spike], window: Window) -> Vec<Pair> {
    let guard_ns = (guard(spikes) * 1e9) as i64;
    let step = spikes.len().div_ceil(MOST).max(1);
    let mut found = Vec::new();
    for number in (0..spikes.len()).step_by(step) {
        let spike = spikes[number].window;
        let before = number.checked_sub(1).map(|it| spikes[it].window.end);
        let from = before.map_or(window.start, |end| end + guard_ns);
        let until = spike.start + -guard_ns;
        let most = spike.len_ns().max((LONGEST * 1e9) as i64);
        let calm = Window::new(from.max(until + -most), until);
        if (calm.len_ns() as f64) < SHORTEST * spike.len_ns() as f64 || calm.len_ns() <= 0 {
            continue;
        }
        let next = spikes.get(number + 1).map(|it| it.window.start);
        let last = next.map_or(window.end, |start| start + -guard_ns);
        found.push(Pair {
            spike,
            around: Window::new(until, (spike.end + guard_ns).min(last.max(spike.end))),
            calm,
        });
    }
    // Where spikes follow at once, what is around one may be what is calm beside the next.
    for at in 1..found.len() {
        let start = found[at].calm.start;
        let before: &mut Pair = &mut found[at - 1];
        before.around.end = before.around.end.min(start.max(before.spike.end));
    }
    found
}

fn guard(spikes: &[Spike]) -> f64 {
    let gaps: Vec<f64> = spikes
        .windows(2)
        .map(|it| it[1].window.start.ns_since(it[0].window.start) as f64 / 1e9)
        .collect();
    let gap = median(&gaps).unwrap_or(0.0);
    (GUARD * gap).clamp(GUARDS[0], GUARDS[1])
}

#[cfg(test)]
mod tests {
    use model::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ns(ms * 1_000_000)
    }

    fn spike(from: i64, to: i64) -> Spike {
        Spike {
            window: Window::new(at(from), at(to)),
            peak_latency_ns: None,
            lowest_throughput: 0.0,
            peak_threads: None,
            lost: 0.0,
        }
    }

    #[test]
    fn a_calm_stretch_lies_before_its_spike_where_there_is_room() {
        let spikes = [
            spike(400, 1_200),
            spike(10_000, 10_800),
            spike(20_000, 29_000),
        ];
        let pairs = pairs(&spikes, Window::new(at(0), at(30_000)));
        let windows: Vec<(i64, i64)> = pairs
            .iter()
            .map(|it| {
                (
                    it.calm.start.as_ns() / 1_000_000,
                    it.calm.end.as_ns() / 1_000_000,
                )
            })
            .collect();
        assert_eq!(windows, [(4_020, 9_020), (11_780, 19_020)]);
        assert_eq!(pairs[0].around, Window::new(at(9_020), at(11_780)));
    }

    proptest! {
        #[test]
        fn windows_come_in_order_and_do_not_overlap(
            lengths in prop::collection::vec((1..20_000i64, 1..9_000i64), 0..100),
        ) {
            let mut now = 0;
            let mut spikes = Vec::new();
            for (gap, length) in lengths {
                spikes.push(spike(now + gap, now + gap + length));
                now += gap + length;
            }
            let mut last = at(0);
            for pair in pairs(&spikes, Window::new(at(0), at(now + 500))) {
                prop_assert!(last <= pair.calm.start && pair.calm.start < pair.calm.end);
                prop_assert!(pair.calm.end <= pair.around.start);
                prop_assert!(pair.around.start <= pair.spike.start);
                prop_assert!(pair.spike.end <= pair.around.end);
                last = pair.around.end;
            }
        }
    }
}
