//! Keeps written times monotonic when time turns out to belong to another class.

use model::MISSING;

/// No class may decrease, nor the sum of all grow ahead of the clock. A reading takes a thread's present
/// state at face value; when the programs later find a missed switch, some of that time moves to another
/// class. What was written too much stays written until its class has caught up, and the other classes wait
/// for it.
pub(super) fn carry_over(times: &mut [i64], written: &[i64]) {
    if written.contains(&MISSING) {
        return;
    }
    let both = times.iter().zip(written);
    let mut over: i64 = both.map(|(ns, written)| (written - ns).max(0)).sum();
    // Time on CPU comes first and is the most reliable, so waits are held back first.
    for (ns, written) in times.iter_mut().zip(written).rev() {
        let held = over.min(*ns - written);
        *ns -= held;
        over -= held.max(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moved_between_classes_keeps_each_class_monotonic_and_the_sum() {
        let mut written = [0, 0, 0];
        for (times, expected) in [
            ([10, 0, 0], [10, 0, 0]),
            // 42 idle, as it appears.
            ([10, 0, 42], [10, 0, 42]),
            // In fact waiting for background; 8 on CPU since.
            ([18, 40, 2], [18, 0, 42]),
            ([28, 41, 2], [28, 1, 42]),
            // No class catches up.
            ([28, 41, 32], [28, 31, 42]),
            ([28, 41, 45], [28, 41, 45]),
        ] {
            let mut row = times;
            carry_over(&mut row, &written);
            assert_eq!(
                row.iter().sum::<i64>(),
                times.iter().sum::<i64>(),
                "{times:?}"
            );
            let shrunk = row.iter().zip(&written).any(|(now, before)| now < before);
            assert!(!shrunk, "{row:?} after {written:?}");
            assert_eq!(row, expected);
            written = row;
        }
        let mut first = [5, 0, 1];
        carry_over(&mut first, &[MISSING; 3]);
        assert_eq!(first, [5, 0, 1], "before the first there was none");
    }
}
