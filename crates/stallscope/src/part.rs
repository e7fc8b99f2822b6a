//! The part of a recording that `--from`, `--to` and `--last` name: by the time since its start, or by the clock on the
//! wall.

use std::ops::Bound;
use std::time::Duration;

use anyhow::{Result, bail};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use model::{Timestamp, Window};
use recording::{FolderHandle, Recording, Segments};

use crate::duration::{nanoseconds, parse_duration};
use crate::export::WallClock;

/// An instant of a recording, as a user writes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Instant {
    /// So long after the workload's start.
    After(Duration),
    /// When the wall clock showed so many nanoseconds since 1970, UTC.
    At(i64),
    /// When clocks here last showed this time, before the recording's end.
    TimeOfDay(Time),
}

/// Reads `10s`, `14:05`, `14:05:30`, `2026-11-28 14:05` or `2026-11-28T14:05:00Z`. Without an offset from UTC a time is
/// that of this machine's time zone.
pub(crate) fn parse_instant(text: &str) -> Result<Instant, String> {
    let text = text.trim();
    if let Ok(length) = parse_duration(text) {
        return Ok(Instant::After(length));
    }
    let wrong = || {
        format!(
            "`{text}` is no time: write 10s (since the start), 14:05:30, or 2026-11-28T14:05:30Z"
        )
    };
    // In this order: what has a date has a time of day as well, and what has an offset has both.
    let at = match (text.parse::<jiff::Timestamp>(), text.parse::<DateTime>()) {
        (Ok(at), _) => at,
        (_, Ok(local)) => {
            let zoned = local.to_zoned(TimeZone::system()).map_err(|_| wrong())?;
            zoned.timestamp()
        }
        _ => {
            let time = text.parse::<Time>().map_err(|_| wrong())?;
            return Ok(Instant::TimeOfDay(time));
        }
    };
    let at = i64::try_from(at.as_nanosecond()).map_err(|_| wrong())?;
    Ok(Instant::At(at))
}

impl Instant {
    /// What the wall clock showed, ns since 1970, in a recording at whose end it showed `end`; `None` where it is
    /// counted from the start.
    pub(crate) fn realtime(self, end: i64) -> Option<i64> {
        match self {
            Self::After(_) => None,
            Self::At(ns) => Some(ns),
            Self::TimeOfDay(time) => last_at(time, end),
        }
    }
}

/// The last instant not after `end` at which clocks here showed this time.
fn last_at(time: Time, end: i64) -> Option<i64> {
    let end = jiff::Timestamp::from_nanosecond(i128::from(end)).ok()?;
    let zone = TimeZone::system();
    let day = zone.to_datetime(end).date();
    let on = |day: jiff::civil::Date| {
        let at = day.to_datetime(time).to_zoned(zone.clone()).ok()?;
        Some(at.timestamp()).filter(|at| *at <= end)
    };
    let at = on(day).or_else(|| on(day.yesterday().ok()?))?;
    i64::try_from(at.as_nanosecond()).ok()
}

/// A part of a recording.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Part {
    pub(crate) from: Option<Instant>,
    pub(crate) to: Option<Instant>,
    /// So much before the end, in place of `from`.
    pub(crate) last: Option<Duration>,
}

impl Part {
    /// A part between two instants.
    pub(crate) fn between(from: Option<Instant>, to: Option<Instant>) -> Self {
        Self {
            from,
            to,
            last: None,
        }
    }

    /// Whether it is all.
    pub(crate) fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The segments that it needs; where times cannot be told from descriptions, all.
    pub(crate) fn segments(
        &self,
        segments: &Segments,
        folder: &FolderHandle,
    ) -> std::ops::Range<usize> {
        let start = segments.start(folder);
        let place = |instant: Instant| match instant {
            Instant::After(length) => start.map(|start| start + nanoseconds(length)),
            _ => {
                let end = segments.realtime_end(folder)?;
                segments.at_wall_clock(folder, instant.realtime(end)?)
            }
        };
        let from = match self.last {
            Some(last) => segments.end(folder).map(|end| end + -nanoseconds(last)),
            None => self.from.and_then(place),
        };
        let to = self.to.and_then(place);
        let bound = |at: Option<Timestamp>| at.map_or(Bound::Unbounded, Bound::Included);
        segments.within(folder, (bound(from), bound(to)))
    }

    /// The window of it in what was read of a recording, with the ends of what is judged where one is left out; `None`
    /// for all of it.
    ///
    /// # Errors
    /// One sentence: nothing lies there, or the clock on the wall is not known.
    pub(crate) fn window(&self, recording: &Recording) -> Result<Option<Window>> {
        if self.is_all() {
            return Ok(None);
        }
        let (origin, judged) = analysis::judged(&recording.timeline, &recording.meta);
        self.within(recording, origin, judged).map(Some)
    }

    /// The same with the recording's ends where one is left out.
    ///
    /// # Errors
    /// As of [`Part::window`].
    pub(crate) fn stretch(&self, recording: &Recording) -> Result<Window> {
        let (origin, _) = analysis::judged(&recording.timeline, &recording.meta);
        self.within(recording, origin, recording.timeline.window)
    }

    fn within(&self, recording: &Recording, origin: Timestamp, ends: Window) -> Result<Window> {
        let Recording { meta, timeline, .. } = recording;
        let clock = WallClock::of(&meta.identity, timeline);
        let place = |instant: Instant| match instant {
            Instant::After(length) => Some(origin + nanoseconds(length)),
            _ => {
                let end = clock.at(timeline.window.end)?;
                clock.boot_at(instant.realtime(end)?)
            }
        };
        let at = |instant: Option<Instant>| match instant.map(place) {
            Some(None) => bail!("the recording does not say what time it was"),
            known => Ok(known.flatten()),
        };
        let from = match self.last {
            Some(last) => Some(timeline.window.end + -nanoseconds(last)),
            None => at(self.from)?,
        };
        between(recording, origin, ends, (from, at(self.to)?))
    }
}

/// The window between two instants, as far as the recording covers it; `ends` stand for one that is left out.
///
/// # Errors
/// One sentence: nothing lies there.
pub(crate) fn between(
    recording: &Recording,
    origin: Timestamp,
    ends: Window,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
) -> Result<Window> {
    let whole = recording.timeline.window;
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        bail!("the start is not before the end: nothing lies between them");
    }
    let asked = Window::new(from.unwrap_or(ends.start), to.unwrap_or(ends.end));
    let covered = asked.intersect(whole);
    let Some(window) = covered.filter(|_| !asked.is_empty()) else {
        bail!(
            "the recording holds nothing there: it covers {:.1} s to {:.1} s of the run{}. Choose a start and an end inside",
            whole.start.seconds_since(origin).max(0.0),
            whole.end.seconds_since(origin),
            on_the_wall(recording)
        );
    };
    Ok(window)
}

/// What the recording covers by the clock on the wall, after a comma; nothing where that is not known.
fn on_the_wall(recording: &Recording) -> String {
    let Recording { meta, timeline, .. } = recording;
    let clock = WallClock::of(&meta.identity, timeline);
    let show = |at: Timestamp| {
        let at = jiff::Timestamp::from_nanosecond(i128::from(clock.at(at)?)).ok()?;
        Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    };
    // Where no clock was read, times are those since 1970.
    let is_known = meta.identity.anchor_realtime_ns > 0;
    let both = show(timeline.window.start).zip(show(timeline.window.end));
    both.filter(|_| is_known)
        .map_or(String::new(), |(start, end)| format!(", {start} to {end}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instants() {
        let at = |text: &str| text.parse::<jiff::Timestamp>().expect("a time");
        let ns =
            |text: &str| Instant::At(i64::try_from(at(text).as_nanosecond()).expect("it fits"));
        let time = Time::constant(14, 5, 0, 0);
        for (text, expected) in [
            ("10s", Instant::After(Duration::from_secs(10))),
            ("1.5m", Instant::After(Duration::from_secs(90))),
            ("14:05", Instant::TimeOfDay(time)),
            ("14:05:00", Instant::TimeOfDay(time)),
            ("2026-11-28T14:05:00Z", ns("2026-11-28T14:05:00Z")),
            ("2026-11-28 14:05:00+02:00", ns("2026-11-28T12:05:00Z")),
        ] {
            assert_eq!(parse_instant(text), Ok(expected), "{text}");
        }
        for wrong in [
            "",
            "noon",
            "25:00",
            "2026-13-01T00:00Z",
            "-3s",
            "9999-12-31T00:00Z",
        ] {
            let said = parse_instant(wrong).expect_err(wrong);
            assert!(said.ends_with("2026-11-28T14:05:30Z"), "{said}");
        }
    }

    #[test]
    fn a_time_of_day_is_the_last_one_before_the_end() {
        let zone = TimeZone::system();
        let local = |text: &str| {
            let local: DateTime = text.parse().expect("a time");
            let at = local.to_zoned(zone.clone()).expect("it exists").timestamp();
            i64::try_from(at.as_nanosecond()).expect("it fits")
        };
        let end = local("2026-11-28T14:10:00");
        let on = |hour, minute| last_at(Time::constant(hour, minute, 0, 0), end);
        assert_eq!(on(14, 5), Some(local("2026-11-28T14:05:00")));
        assert_eq!(on(14, 10), Some(end));
        assert_eq!(on(23, 50), Some(local("2026-11-27T23:50:00")));
    }

    proptest! {
        #[test]
        fn no_text_is_more_than_an_error(text in "\\PC*|[0-9T:. Z+-]{0,30}") {
            let _ = parse_instant(&text);
        }
    }
}
