//! Schedules that parts of the lab follow: when something is to be done, and when it was. Times are the wall clock's, so
//! that a program in any language can follow one.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// Whoever follows a schedule may be started before it is written.
const LOOK: Duration = Duration::from_millis(50);

/// Something that is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// When, ms since 1970.
    pub at_ms: u64,
    /// How it is noted.
    pub label: String,
    /// What; may be empty.
    pub action: String,
}

/// The lines of a schedule. A line that is none is an error.
pub fn read(path: &Path) -> Result<Vec<Line>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the schedule {}", path.display()))?;
    let lines = text
        .lines()
        .map(|line| parse(line).with_context(|| format!("{} has no time: {line}", path.display())));
    lines.collect()
}

/// The same of a schedule that is written later, and moved to its place as a whole.
pub fn wait_for(path: &Path) -> Result<Vec<Line>> {
    while !path.exists() {
        std::thread::sleep(LOOK);
    }
    read(path)
}

fn parse(line: &str) -> Option<Line> {
    let (at, rest) = line.split_once(' ')?;
    let (label, action) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(Line {
        at_ms: at.parse().ok()?,
        label: label.to_owned(),
        action: action.to_owned(),
    })
}

/// Sleeps until a time; not at all where it is over.
pub fn sleep_until(at_ms: u64) {
    let left = Duration::from_millis(at_ms).saturating_sub(now());
    std::thread::sleep(left);
}

/// Writes down that something is done now.
pub fn note(file: &mut impl Write, label: &str) -> Result<()> {
    writeln!(file, "{} {label}", now().as_nanos()).context("cannot note what was done")
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_time_a_label_and_an_action() {
        let known = parse("12 a run sh b").expect("a line");
        assert_eq!(
            (known.at_ms, known.label.as_str(), known.action.as_str()),
            (12, "a", "run sh b")
        );
        assert_eq!(parse("12 a").expect("a line").action, "");
        assert_eq!(parse("12"), None);
        assert_eq!(parse("soon a run b"), None);
    }
}
