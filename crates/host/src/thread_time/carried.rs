//! Time that turns out to be of another class than it was written for.

use model::MISSING;

/// Has no time run back, nor the sum of all run ahead. The present is taken as it looks at a reading; of a
/// switch that was missed the programs learn later, and then some of it was another class's. What
/// was written there too much stays written until the class has caught up, and the others wait for it.
pub(super) fn carry_over(times: &mut [i64], written: &[i64]) {
    if written.contains(&MISSING) {
        return;
    }
    let both = times.iter().zip(written);
    let mut over: i64 = both.map(|(ns, written)| (written - ns).max(0)).sum();
    // Time on a CPU stands first and is known best: waits for one wait rather.
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
    fn what_turns_out_to_be_of_another_class_is_carried_over_and_the_sum_stays() {
        let mut written = [0, 0, 0];
        for (times, expected) in [
            ([10, 0, 0], [10, 0, 0]),
            // 42 waited for nobody, as it looks.
            ([10, 0, 42], [10, 0, 42]),
            // It was another; 8 ran since.
            ([18, 40, 2], [18, 0, 42]),
            ([28, 41, 2], [28, 1, 42]),
            // Nobody catches up.
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
