//! What was left out by chance, where there was more of it than a recorder may look at.

use model::{Role, Timeline, Window};

use crate::pauses;
use crate::request_times::RequestTimes;
use crate::words::{integer, percent};

/// Less of it than this was left out by chance: an end is told a moment after its time.
const WORTH_SAYING: f64 = 0.01;

/// What was not looked at, and what stands for it.
pub(crate) fn left_out(timeline: &Timeline, window: Window) -> Vec<String> {
    let mut all: Vec<_> = rested(timeline, window).into_iter().collect();
    let times = RequestTimes::over(timeline, "requests", Role::Target, window);
    if let Some((left, of)) = times.and_then(|it| part(it.timed, it.requests)) {
        all.push(format!(
            "times of {left} of {of} requests: the others were timed, sampled at random"
        ));
    }
    all
}

/// For how long programs at events rested.
fn rested(timeline: &Timeline, window: Window) -> Option<String> {
    pauses::part(timeline, window).map(|part| {
        format!(
            "reasons for waits, and wake-ups, in {} of the time: sampled in the rest, so that tracing does not slow \
             the load (--no-pauses traces all of it; run and wait times are complete)",
            percent(part)
        )
    })
}

/// How many were left out of all, if that is worth saying.
fn part(looked: f64, all: f64) -> Option<(String, String)> {
    let left = all - looked;
    (left > WORTH_SAYING * all).then(|| (integer(left), integer(all)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_whole_is_not_spoken_of() {
        assert_eq!(part(1_000.0, 1_000.0), None);
        assert_eq!(part(995.0, 1_000.0), None);
        assert_eq!(part(0.0, 0.0), None);
        let said = part(125_000.0, 1_000_000.0);
        assert_eq!(said, Some(("875,000".to_owned(), "1,000,000".to_owned())));
    }
}
