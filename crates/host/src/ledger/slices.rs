//! How often threads of target and generator got a CPU, which the scheduler counts in pauses too.

/// Slices so far, and by how much a pause repeats the spell before it.
#[derive(Default)]
pub(super) struct Slices {
    /// Told, and in pauses.
    so_far: [i64; 2],
    /// As they were at the last mark.
    marked: [i64; 2],
    /// How many times what was told between the last two marks happened in the pause at the last. By time alone a
    /// load that is slower for being told of would be told of too little.
    repeats: Option<f64>,
}

impl Slices {
    pub(super) fn add(&mut self, in_pause: bool, slices: i64) {
        self.so_far[usize::from(in_pause)] += slices;
    }

    pub(super) fn mark(&mut self) {
        let [told, paused] = std::array::from_fn(|it| self.so_far[it] - self.marked[it]);
        self.marked = self.so_far;
        self.repeats = (told > 0).then(|| paused as f64 / told as f64);
    }

    pub(super) fn repeats(&self) -> Option<f64> {
        self.repeats
    }

    pub(super) fn told(&self) -> i64 {
        self.so_far[0]
    }

    /// Those in pauses among them.
    pub(super) fn all(&self) -> i64 {
        self.so_far.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_repeats_what_was_told_since_the_mark_before() {
        let mut slices = Slices::default();
        slices.add(false, 1_000);
        slices.mark();
        slices.add(false, 50);
        slices.add(true, 600);
        slices.mark();
        assert_eq!(slices.repeats(), Some(12.0));
        assert_eq!((slices.told(), slices.all()), (1_050, 1_650));
        slices.add(true, 7);
        slices.mark();
        assert_eq!(slices.repeats(), None, "of nothing nothing is known");
    }
}
