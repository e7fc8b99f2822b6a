//! Gaps on their way to the recording, which has the list of all.

use model::{Gap, GapReason, Sentence, Window};

/// Gaps over the whole recording, at most: every group may cause one.
const MOST_REPORTED: usize = 1_000;

/// Gaps; one that concerns the whole recording is reported once.
#[derive(Default)]
pub(crate) struct Gaps {
    reported: Vec<Gap>,
    /// Not handed over yet.
    fresh: Vec<Gap>,
}

impl Gaps {
    pub(crate) fn report(&mut self, table: &str, what: impl Into<Sentence>, reason: GapReason) {
        let what = what.into();
        let known = |gap: &Gap| gap.table == table && gap.what == what && gap.reason == reason;
        if self.reported.len() < MOST_REPORTED && !self.reported.iter().any(known) {
            self.add(table, what, None, reason);
            self.reported.extend(self.fresh.last().cloned());
        }
    }

    /// Reports a gap whose interval is over.
    pub(crate) fn report_interval(
        &mut self,
        table: &str,
        what: impl Into<Sentence>,
        window: Window,
        reason: GapReason,
    ) {
        self.add(table, what.into(), Some(window), reason);
    }

    fn add(&mut self, table: &str, what: Sentence, window: Option<Window>, reason: GapReason) {
        self.fresh.push(Gap {
            table: table.to_owned(),
            what,
            window,
            reason,
        });
    }

    /// Removes and returns the gaps that were not handed over yet.
    pub(crate) fn take_fresh(&mut self) -> impl Iterator<Item = Gap> {
        self.fresh.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{EntityKind, Part, Timestamp};

    #[test]
    fn interval_gaps_are_all_reported_and_others_once_up_to_a_limit() {
        let mut gaps = Gaps::default();
        let window = Window::new(Timestamp::from_ns(1), Timestamp::from_ns(2));
        let sda = Part::name(EntityKind::Disk, "sda");
        for number in 0..2 * MOST_REPORTED {
            gaps.report_interval("disk", sda.clone(), window, GapReason::Vanished);
            gaps.report("disk", number / 2, GapReason::Vanished);
        }
        let count = |gaps: &mut Gaps, whole| {
            let fresh = gaps.take_fresh();
            fresh.filter(|gap| gap.window.is_none() == whole).count()
        };
        gaps.report("disk", "one more", GapReason::Vanished);
        assert_eq!(count(&mut gaps, true), MOST_REPORTED);
        gaps.report_interval("disk", sda.clone(), window, GapReason::Vanished);
        assert_eq!(count(&mut gaps, false), 1, "a later one is told as well");
    }
}
