//! What was told in spells, as it stands for the pauses between them (`spells.rs`).

/// For how much what was told between two looks stands.
#[derive(Default)]
pub(crate) struct Times {
    before: Option<[i64; 2]>,
}

impl Times {
    /// So many times itself since the look before, by what there was in all so far and what of it was told.
    pub(crate) fn since(&mut self, all: i64, told: i64) -> f64 {
        let before = self.before.replace([all, told]);
        let Some([all_before, told_before]) = before.filter(|it| told > it[1]) else {
            return 1.0;
        };
        ((all - all_before) as f64 / (told - told_before) as f64).max(1.0)
    }
}

/// A number of something, times so much.
pub(crate) fn times(count: i64, factor: f64) -> i64 {
    if factor == 1.0 {
        count
    } else {
        (count as f64 * factor).round() as i64
    }
}

/// Counters that go on through pauses as fast as they did in the spell before.
pub(crate) struct Stretched<const N: usize> {
    marked: [i64; N],
    beyond: [i64; N],
}

impl<const N: usize> Stretched<N> {
    /// From these values on.
    pub(crate) fn new(marked: [i64; N]) -> Self {
        Self {
            marked,
            beyond: [0; N],
        }
    }

    /// Adds what stands for pauses; at a mark (`Turn::stretch`) with what was told since the one before, as many
    /// times as that.
    pub(crate) fn take(&mut self, row: &mut [i64; N], stretch: Option<f64>) {
        self.take_each(row, stretch.map(|it| [it; N]));
    }

    /// The same, with a stretch for each.
    pub(crate) fn take_each(&mut self, row: &mut [i64; N], stretch: Option<[f64; N]>) {
        for column in 0..N {
            if let Some(stretch) = stretch {
                let told = row[column] - std::mem::replace(&mut self.marked[column], row[column]);
                self.beyond[column] += times(told, stretch[column]);
            }
            row[column] += self.beyond[column];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_go_on_through_a_pause_as_before_it() {
        let mut stretched = Stretched::new([0, 7]);
        let mut take = |mut row: [i64; 2], stretch| {
            stretched.take(&mut row, stretch);
            row
        };
        assert_eq!(take([50, 7], Some(0.0)), [50, 7]);
        assert_eq!(take([60, 8], None), [60, 8]);
        assert_eq!(
            take([60, 8], Some(9.0)),
            [150, 17],
            "nine times what came since the mark"
        );
        assert_eq!(take([61, 8], None), [151, 17]);
        let mut times = Times::default();
        assert_eq!(times.since(1_000, 1_000), 1.0);
        assert_eq!(times.since(3_000, 2_000), 2.0);
        assert_eq!(
            times.since(4_000, 2_000),
            1.0,
            "of nothing nothing is known"
        );
    }
}
