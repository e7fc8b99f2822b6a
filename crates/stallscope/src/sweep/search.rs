//! Which value comes next when the highest one is looked for that keeps a goal.
//!
//! The list is gone up until a value misses; then the gap below it is halved until it is narrow.

use std::collections::BTreeMap;

/// A gap that is narrower than this part of its end is narrow enough.
const NARROW: f64 = 0.05;

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Known {
    /// Runs that count and keep the goal.
    pub(super) kept: u32,
    /// The same that miss it.
    pub(super) missed: u32,
    /// No more runs of it are made: too many did not count.
    pub(super) given_up: bool,
}

impl Known {
    /// Whether it keeps the goal, as far as more of `repeat` runs cannot change that.
    fn verdict(self, repeat: u32) -> Option<bool> {
        let most = repeat / 2;
        if self.missed > most {
            return Some(false);
        }
        if self.kept > most {
            return Some(true);
        }
        (self.kept + self.missed >= repeat || self.given_up).then_some(self.kept > self.missed)
    }
}

/// The value that is to be run next; `None` where nothing is left to find out.
pub(super) fn next(listed: &[u64], known: &BTreeMap<u64, Known>, repeat: u32) -> Option<u64> {
    let verdict = |value: &u64| known.get(value).and_then(|it| it.verdict(repeat));
    let missing = listed.iter().find(|it| verdict(it) != Some(true))?;
    if verdict(missing).is_none() {
        return Some(*missing);
    }
    // All tried values up to the first that misses, those between the listed ones too.
    let high = known.keys().find(|it| verdict(it) == Some(false))?;
    let low = known
        .keys()
        .rev()
        .find(|it| *it < high && verdict(it) == Some(true))?;
    let narrow = ((*high as f64 * NARROW) as u64).max(1);
    let open = known
        .keys()
        .find(|it| (low..high).contains(it) && verdict(it).is_none());
    match open {
        Some(value) => Some(*value),
        None if high - low <= narrow => None,
        None => Some(low + (high - low) / 2),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Searches where every value up to `limit` keeps the goal; what was found, and how many runs that took.
    fn search(listed: &[u64], limit: u64, repeat: u32) -> (Option<u64>, u32) {
        let mut known: BTreeMap<u64, Known> = BTreeMap::new();
        let mut runs = 0;
        while let Some(value) = next(listed, &known, repeat) {
            let own = known.entry(value).or_default();
            match value <= limit {
                true => own.kept += 1,
                false => own.missed += 1,
            }
            runs += 1;
            assert!(runs < 10_000, "it ends");
        }
        let best = known
            .iter()
            .rev()
            .find(|(_, it)| it.verdict(repeat) == Some(true));
        (best.map(|it| *it.0), runs)
    }

    #[test]
    fn the_gap_below_the_first_miss_is_halved() {
        assert_eq!(search(&[1, 2, 4, 8, 16, 32, 64], 23, 1), (Some(23), 10));
        assert_eq!(search(&[1, 2, 4], 100, 3).0, Some(4), "nothing misses");
        assert_eq!(search(&[5, 6], 1, 3), (None, 2), "the first one does");
    }

    #[test]
    fn a_value_of_which_no_run_counts_misses() {
        let mut known = BTreeMap::new();
        let given_up = Known {
            given_up: true,
            ..Known::default()
        };
        known.insert(1, given_up);
        assert_eq!(next(&[1, 2], &known, 3), None);
    }

    proptest! {
        #[test]
        fn what_is_found_is_right_to_a_twentieth(
            mut listed in prop::collection::vec(1..500u64, 1..8),
            limit in 0..600u64,
            repeat in 1..4u32,
        ) {
            listed.sort_unstable();
            listed.dedup();
            let (found, _) = search(&listed, limit, repeat);
            let highest = listed[listed.len() - 1];
            match found {
                None => prop_assert!(limit < listed[0]),
                Some(found) => {
                    prop_assert!(found <= limit);
                    let next = limit.min(highest);
                    prop_assert!(next - found <= (next as f64 * NARROW) as u64 + 1, "{found} of {next}");
                }
            }
        }
    }
}
