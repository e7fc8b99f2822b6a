//! When the events of a run really were, by the wall clock.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use model::Identity;

use super::situation::{By, NOTED};
use crate::stage::Stage;

/// What PostgreSQL logs when its own clock starts a checkpoint.
const CHECKPOINT: &str = "checkpoint starting: time";

/// An event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// When, ns since 1970.
    pub at_ns: i64,
    /// The cycle that it belongs to; of random ones its number.
    pub cycle: i64,
}

impl Event {
    /// On the recording's clock, s.
    pub fn seconds(self, identity: &Identity) -> f64 {
        let since = self.at_ns - identity.anchor_realtime_ns;
        (identity.anchor_boottime.as_ns() + since) as f64 / 1e9
    }
}

/// The events of a situation that is still there.
pub fn noted(stage: &Stage, by: &By, period: Option<f64>) -> Result<Vec<Event>> {
    match (by, period) {
        (By::Checkpointer(..), Some(period)) => {
            let log = stage.started()?.log();
            let text = fs::read_to_string(&log)
                .with_context(|| format!("cannot read {}", log.display()))?;
            Ok(checkpoints(&text, period))
        }
        _ => load(&stage.folder().join(NOTED)),
    }
}

/// Those of a file, which is empty where none is there.
pub fn load(path: &Path) -> Result<Vec<Event>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let events = text.lines().map(|line| {
        let (at, cycle) = line.split_once(' ')?;
        Some(Event {
            at_ns: at.parse().ok()?,
            cycle: cycle.parse().ok()?,
        })
    });
    let events: Option<Vec<Event>> = events.collect();
    events.with_context(|| format!("{} is no list of events", path.display()))
}

/// Writes them as they were noted.
pub fn save(path: &Path, events: &[Event]) -> Result<()> {
    let line = |it: &Event| format!("{} {}\n", it.at_ns, it.cycle);
    let text: String = events.iter().map(line).collect();
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// From PostgreSQL's log, in UTC. A cycle is the nearest multiple of the period after the one before.
fn checkpoints(log: &str, period: f64) -> Vec<Event> {
    let starts = log.lines().filter(|line| line.contains(CHECKPOINT));
    let mut events: Vec<Event> = Vec::new();
    for at_ns in starts.filter_map(time) {
        let cycle = events.last().map_or(0, |last| {
            let cycles = (at_ns - last.at_ns) as f64 / 1e9 / period;
            last.cycle + cycles.round().max(1.0) as i64
        });
        events.push(Event { at_ns, cycle });
    }
    events
}

/// Of `2026-11-28 05:48:12.123 UTC ...`, ns since 1970.
fn time(line: &str) -> Option<i64> {
    let (day, rest) = line.split_once(' ')?;
    let (time, _) = rest.split_once(" UTC ")?;
    let mut day = day.split('-').map(|it| it.parse::<i64>().ok());
    let (year, month, date) = (day.next()??, day.next()??, day.next()??);
    let (clock, ms) = time.split_once('.')?;
    let mut clock = clock.split(':').map(|it| it.parse::<i64>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    let seconds = days(year, month, date) * 86_400 + hours * 3_600 + minutes * 60 + seconds;
    Some((seconds * 1_000 + ms.parse::<i64>().ok()?) * 1_000_000)
}

/// Since 1970, of the Gregorian calendar with years that begin in March (H. Hinnant, chrono-compatible low-level date
/// algorithms).
fn days(year: i64, month: i64, date: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + date - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_read_from_the_log_with_their_cycles() {
        let log = "\
            2026-11-28 05:48:12.123 UTC [7] LOG:  checkpoint starting: time\n\
            2026-11-28 05:48:13.000 UTC [7] LOG:  checkpoint complete: wrote 3 buffers\n\
            2026-11-28 05:49:12.600 UTC [7] LOG:  checkpoint starting: time\n\
            2026-11-28 05:49:20.000 UTC [7] LOG:  checkpoint starting: immediate force wait\n\
            2026-11-28 05:49:43.000 UTC [7] LOG:  checkpoint starting: time\n";
        let events = checkpoints(log, 30.0);
        let cycles: Vec<i64> = events.iter().map(|it| it.cycle).collect();
        assert_eq!(cycles, [0, 2, 3]);
        assert_eq!(events[0].at_ns, 1_795_844_892_123_000_000);
        assert_eq!(events[1].at_ns - events[0].at_ns, 60_477_000_000);
    }

    #[test]
    fn days_of_known_dates() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2024, 2, 29), 19_782);
    }

    #[test]
    fn events_are_kept_in_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("truth");
        assert_eq!(load(&path).expect("none"), []);
        let events = [Event { at_ns: 5, cycle: 0 }, Event { at_ns: 9, cycle: 2 }];
        save(&path, &events).expect("written");
        assert_eq!(load(&path).expect("read"), events);
        fs::write(&path, "soon 1\n").expect("written");
        assert!(load(&path).is_err());
    }
}
