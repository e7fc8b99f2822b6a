//! Requests that the ends of a spell cut off.
//!
//! Such a request is counted and not timed, and the longer it takes the likelier that is: of those that take half a
//! spell only half are timed. Each that was timed stands for its like; how many were timed stays what it is.

use sensors::request::{BUCKETS, WIDTH, upper_ns};

use crate::spells::Stretch;

/// What takes longer than nine tenths of a spell is met too seldom to stand for all of its like.
const LEAST_WHOLE: f64 = 0.1;

/// How many times more what was told of each column stands for; in a row the buckets come last, and before them how
/// many were timed and how long those took.
pub(super) fn more(stretch: Stretch, told: &[i64]) -> [f64; WIDTH] {
    let mut more = [stretch.times; WIDTH];
    let Some(cut_ns) = stretch.cut_ns else {
        return more;
    };
    let first = told.len() - BUCKETS;
    let (timed, timed_ns) = (told[first - 2] as f64, told[first - 1] as f64);
    // Nothing is timed before a connection's first event.
    let whole_ns = cut_ns as f64 - timed_ns / timed.max(1.0);
    let alike = |bucket| 1.0 / (1.0 - middle_ns(bucket) / whole_ns.max(1.0)).max(LEAST_WHOLE);
    let buckets = || told[first..].iter().map(|it| *it as f64).enumerate();
    let all: f64 = buckets().map(|(bucket, told)| told * alike(bucket)).sum();
    if timed <= 0.0 || all <= 0.0 {
        return more;
    }
    let (mut met_ns, mut stood_for_ns) = (0.0, 0.0);
    for (bucket, told) in buckets() {
        // Of what has been told already nothing is taken back.
        let stands_for = ((1.0 + stretch.times) * alike(bucket) * timed / all).max(1.0);
        more[first + bucket] = stands_for - 1.0;
        met_ns += told * middle_ns(bucket);
        stood_for_ns += told * stands_for * middle_ns(bucket);
    }
    more[first - 1] = stood_for_ns / met_ns - 1.0;
    more
}

/// What a time in a bucket is, more or less: they are four per octave.
fn middle_ns(bucket: usize) -> f64 {
    const BELOW_THE_BOUND: f64 = 1.09;
    let last = BUCKETS - 1;
    match upper_ns(bucket) {
        Some(ns) => ns as f64 / BELOW_THE_BOUND,
        None => upper_ns(last - 1).map_or(0.0, |ns| ns as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// Times between 0 and 1 that are the same each time (Marsaglia's xorshift).
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    fn row(times: &[f64]) -> [i64; WIDTH] {
        let mut row = [0; WIDTH];
        let first = WIDTH - BUCKETS;
        for ns in times {
            let bucket =
                (0..BUCKETS).find(|it| upper_ns(*it).is_none_or(|upper| *ns < upper as f64));
            row[first + bucket.expect("the last has no bound")] += 1;
            row[first - 2] += 1;
            row[first - 1] += *ns as i64;
        }
        row
    }

    /// Mean, and the middle of the bucket of a part of them.
    fn of(row: &[f64; WIDTH], part: f64) -> (f64, f64) {
        let first = WIDTH - BUCKETS;
        let mut left = part * row[first..].iter().sum::<f64>();
        let bucket = row[first..].iter().position(|count| {
            left -= count;
            left <= 0.0
        });
        (
            row[first - 1] / row[first - 2],
            middle_ns(bucket.expect("there are some")),
        )
    }

    #[test]
    fn requests_that_take_a_good_part_of_a_spell_are_not_told_of_too_little() {
        // Clients that ask again at once, 8 ms on average, with a long tail: of each spell of 100 ms that is timed
        // which begins and ends in it, after the first that ends there.
        let mut draws = Draws(0x9e37_79b9_7f4a_7c15);
        let mut request = || -8.0 * MS * (1.0 - draws.next()).ln();
        let mut whole = Vec::new();
        for _ in 0..20_000 {
            let (mut now, mut is_first) = (-400.0 * MS, true);
            while now < 100.0 * MS {
                let took = request();
                let (began, ended) = (now, now + took);
                now = ended;
                if ended < 0.0 {
                    continue;
                }
                if ended < 100.0 * MS && began >= 0.0 && !is_first {
                    whole.push(took);
                }
                is_first = false;
            }
        }
        // Those that an instant falls into are longer than others: what is asked for is all that began in a time.
        let mut fresh = Draws(7);
        let known: Vec<f64> = (0..400_000)
            .map(|_| -8.0 * MS * (1.0 - fresh.next()).ln())
            .collect();
        let told = row(&whole);
        let stretch = |cut_ns| Stretch { times: 9.0, cut_ns };
        let stands_for = |cut_ns| {
            let more = more(stretch(cut_ns), &told);
            std::array::from_fn(|it| told[it] as f64 * (1.0 + more[it]))
        };
        let known = row(&known).map(|it| it as f64);
        let timed: [f64; WIDTH] = stands_for(Some(100_000_000));
        assert_eq!(timed[WIDTH - BUCKETS - 2], 10.0 * whole.len() as f64);
        for part in [0.5, 0.9, 0.99, 0.999] {
            let (mean, quantile) = of(&known, part);
            let (as_met, _) = of(&stands_for(None), part);
            assert!(as_met < 0.95 * mean, "{as_met} of {mean}");
            let (corrected, corrected_quantile) = of(&stands_for(Some(100_000_000)), part);
            assert!(
                (corrected / mean - 1.0).abs() < 0.02,
                "{corrected} of {mean}"
            );
            let off = corrected_quantile / quantile;
            // A bucket is a fifth wide.
            assert!((0.8..1.25).contains(&off), "{part}: {off}");
        }
    }

    #[test]
    fn where_nothing_was_cut_off_all_stands_for_as_many_times() {
        let told = row(&[MS, 2.0 * MS, 90.0 * MS]);
        let stretch = Stretch {
            times: 3.0,
            cut_ns: None,
        };
        assert_eq!(more(stretch, &told), [3.0; WIDTH]);
        let none = Stretch {
            cut_ns: Some(100_000_000),
            ..stretch
        };
        let of_nothing = more(none, &[0; WIDTH]);
        assert!(of_nothing.iter().all(|it| it.is_finite()));
    }
}
