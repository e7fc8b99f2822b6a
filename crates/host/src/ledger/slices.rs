//! How often threads of target and generator got a CPU, which the scheduler counts in pauses too.

/// Slices so far.
#[derive(Default)]
pub(super) struct Slices {
    /// Told, and in pauses.
    so_far: [i64; 2],
}

impl Slices {
    pub(super) fn add(&mut self, in_pause: bool, slices: i64) {
        self.so_far[usize::from(in_pause)] += slices;
    }

    pub(super) fn told(&self) -> i64 {
        self.so_far[0]
    }

    /// Those in pauses among them.
    pub(super) fn all(&self) -> i64 {
        self.so_far.iter().sum()
    }
}
