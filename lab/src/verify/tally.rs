//! How many loads were run, and how many had figures that agree.

use std::fmt;

use crate::print::say;
use crate::requirement;

/// Loads, counted as they are run.
#[derive(Default)]
pub struct Tally {
    within: u32,
    of: u32,
    skipped: u32,
}

impl Tally {
    /// Whether a load can run, of which `why` says what it lacks here; says and counts it if not.
    pub fn can_run(&mut self, why: Option<String>) -> bool {
        if let Some(why) = &why {
            say!("skipped: {why}");
            self.skipped += 1;
        }
        why.is_none()
    }

    /// Counts a load that ran, and whether its figures agree.
    pub fn count(&mut self, holds: bool) {
        self.within += u32::from(holds);
        self.of += 1;
    }

    /// 1 where a figure is off, or where nothing may be skipped and something was.
    pub fn status(&self) -> u8 {
        let all = self.within == self.of && (self.skipped == 0 || !requirement::everything());
        u8::from(!all)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.within, self.of)
    }
}
