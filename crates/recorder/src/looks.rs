//! When searches through connections look: for a look the kernel walks tables.

use std::time::Duration;

/// Between looks at first, and later.
const SOON: Duration = Duration::from_millis(250);
const LATER: Duration = Duration::from_secs(5);
/// Looks at first.
const FIRST: u32 = 4;
/// Looks take at most one part in so many of the time.
const SHARE: u32 = 400;

/// Soon at first, and rarely later.
#[derive(Default)]
pub(super) struct Pace {
    looks: u32,
}

impl Pace {
    /// Begins anew: there is news.
    pub(super) fn restart(&mut self) {
        self.looks = 0;
    }

    /// Whether nobody looked since the last news.
    pub(super) fn is_first(&self) -> bool {
        self.looks == 0
    }

    /// How long to wait after a look that took so long.
    pub(super) fn next(&mut self, took: Duration) -> Duration {
        self.looks += 1;
        let usual = if self.looks < FIRST { SOON } else { LATER };
        usual.max(took * SHARE)
    }
}
