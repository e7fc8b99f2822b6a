//! How far a node's clock is from ours: exchanges of its time over the connection, as NTP does it.
//!
//! The node reads its clock once, between our two readings, so that with T2 = T3 the offset of RFC 5905, section 8, is
//! `T2 - (T1 + T4) / 2`, and the node's time lies within half of the round trip of it, however unequal the ways are.

use serde::{Deserialize, Serialize};

/// One exchange; all times are `CLOCK_REALTIME`, ns since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// Our clock before the question was sent.
    pub(super) sent_ns: i64,
    /// The node's clock.
    pub(super) answered_ns: i64,
    /// Our clock when the answer was here.
    pub(super) received_ns: i64,
}

/// How far a clock is ahead of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ClockOffset {
    /// The node's clock less ours, ns.
    pub(super) ahead_ns: i64,
    /// The true offset is no further away from it, ns.
    pub(super) within_ns: i64,
}

impl ClockOffset {
    /// What the exchange of the shortest round trip says; `None` without one in which our clock went on.
    pub(super) fn of(exchanges: &[Exchange]) -> Option<Self> {
        let round_trip = |it: &Exchange| i128::from(it.received_ns) - i128::from(it.sent_ns);
        let usable = exchanges.iter().filter(|it| round_trip(it) >= 0);
        let best = usable.min_by_key(|it| round_trip(it))?;
        let [sent, answered, received] =
            [best.sent_ns, best.answered_ns, best.received_ns].map(i128::from);
        // Half a nanosecond belongs to what is not known.
        let ahead = answered - (sent + received).div_euclid(2);
        let within = (received - sent + 1) / 2 + (sent + received).rem_euclid(2);
        Some(Self {
            ahead_ns: i64::try_from(ahead).ok()?,
            within_ns: i64::try_from(within).ok()?,
        })
    }

    /// What holds for the whole time between two measurements: it reaches from the least to the most that either
    /// allows. A clock that drifts between them stays in it.
    pub(super) fn covering(self, other: Self) -> Self {
        let ends = |it: Self| {
            let (ahead, within) = (i128::from(it.ahead_ns), i128::from(it.within_ns));
            (ahead - within, ahead + within)
        };
        let ((low, high), (other_low, other_high)) = (ends(self), ends(other));
        let (low, high) = (low.min(other_low), high.max(other_high));
        let limited = |ns: i128| ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Self {
            ahead_ns: limited((low + high).div_euclid(2)),
            within_ns: limited((high - low + 1) / 2 + (low + high).rem_euclid(2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_shortest_round_trip_says_it() {
        let exchange = |sent_ns, answered_ns, received_ns| Exchange {
            sent_ns,
            answered_ns,
            received_ns,
        };
        let exchanges = [
            exchange(0, 900, 1_000),
            exchange(2_000, 2_150, 2_200),
            // Our clock was set back.
            exchange(5_000, 5_000, 4_000),
        ];
        let best = ClockOffset {
            ahead_ns: 50,
            within_ns: 100,
        };
        assert_eq!(ClockOffset::of(&exchanges), Some(best));
        assert_eq!(ClockOffset::of(&exchanges[2..]), None);
        assert_eq!(ClockOffset::of(&[]), None);
        assert_eq!(ClockOffset::of(&[exchange(0, i64::MIN, i64::MAX)]), None);
    }

    proptest! {
        #[test]
        fn the_true_offset_is_within(
            truth in -1i64 << 60..1 << 60,
            sent_ns in 0i64..1 << 60,
            there in 0i64..1 << 40,
            back in 0i64..1 << 40,
            drift in -1_000_000i64..1_000_000,
        ) {
            let exchange = |truth: i64| Exchange {
                sent_ns,
                answered_ns: sent_ns + there + truth,
                received_ns: sent_ns + there + back,
            };
            let holds = |offset: ClockOffset, truth: i64| {
                (offset.ahead_ns - truth).abs() <= offset.within_ns
            };
            let first = ClockOffset::of(&[exchange(truth)]).expect("it is usable");
            let last = ClockOffset::of(&[exchange(truth + drift)]).expect("it is usable");
            prop_assert!(holds(first, truth));
            let both = first.covering(last);
            prop_assert_eq!(both, last.covering(first));
            for at in [truth, truth + drift / 2, truth + drift] {
                prop_assert!(holds(both, at));
            }
        }
    }
}
