//! What was sampled at random, where there was more of it than may be looked at.

use model::{Role, Timeline, Window};

use crate::coverage;
use crate::number_format::{integer, percent};
use crate::request_times::RequestTimes;

/// Less of it than this was left out by chance: an end is traced a moment after its time.
const WORTH_SAYING: f64 = 0.01;

/// What was not looked at, and what was sampled instead.
pub(crate) fn left_out(timeline: &Timeline, window: Window) -> Vec<String> {
    let mut all: Vec<_> = off_windows(timeline, window).into_iter().collect();
    let times = RequestTimes::over(timeline, "requests", Role::Target, window);
    if let Some((timed, of)) = times.and_then(|it| part(it.timed, it.requests)) {
        all.push(format!("{timed} of {of} requests timed, sampled at random"));
    }
    all
}

fn off_windows(timeline: &Timeline, window: Window) -> Option<String> {
    coverage::off_part(timeline, window).map(|off| {
        let calls = match coverage::part_of_calls(timeline, window) {
            Some(_) => "wake-ups, and traffic of unix sockets and UDP,",
            None => "and wake-ups,",
        };
        format!(
            "run and wait times complete; reasons for waits, {calls} sampled in {} of the time \
             (--trace-all: all)",
            percent(1.0 - off)
        )
    })
}

/// How many of all were looked at, if others were not and that is worth saying.
fn part(looked: f64, all: f64) -> Option<(String, String)> {
    (all - looked > WORTH_SAYING * all).then(|| (integer(looked), integer(all)))
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
        assert_eq!(said, Some(("125,000".to_owned(), "1,000,000".to_owned())));
    }
}
