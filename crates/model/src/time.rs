//! Points and intervals on one clock: `CLOCK_BOOTTIME`, in nanoseconds.
//!
//! Boot time neither steps with NTP nor stops in suspend. Wall-clock time is joined through the
//! `clock` table of a recording, never stored in a row.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

const NS_PER_S: f64 = 1e9;

/// A point in time: nanoseconds on `CLOCK_BOOTTIME` of the recorded machine.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From nanoseconds since boot.
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// From seconds since boot; meant for drawn timelines in tests.
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * NS_PER_S).round() as i64)
    }

    /// Nanoseconds since boot.
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Signed nanoseconds from `earlier` to `self`.
    pub const fn ns_since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Signed seconds from `earlier` to `self`.
    pub fn seconds_since(self, earlier: Timestamp) -> f64 {
        self.ns_since(earlier) as f64 / NS_PER_S
    }
}

impl Add<i64> for Timestamp {
    type Output = Timestamp;
    /// Adds nanoseconds.
    fn add(self, ns: i64) -> Timestamp {
        Timestamp(self.0.saturating_add(ns))
    }
}

impl Sub<i64> for Timestamp {
    type Output = Timestamp;
    /// Subtracts nanoseconds.
    fn sub(self, ns: i64) -> Timestamp {
        Timestamp(self.0.saturating_sub(ns))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.0 as f64 / NS_PER_S)
    }
}

/// A half-open interval `[start, end)`; empty when `end <= start`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Window {
    /// First instant inside, ns on `CLOCK_BOOTTIME`.
    pub start: Timestamp,
    /// First instant after, ns on `CLOCK_BOOTTIME`.
    pub end: Timestamp,
}

impl Window {
    /// The interval from `start` up to, not including, `end`.
    pub const fn new(start: Timestamp, end: Timestamp) -> Self {
        Self { start, end }
    }

    /// Length in nanoseconds; 0 when empty.
    pub fn len_ns(self) -> i64 {
        self.end.ns_since(self.start).max(0)
    }

    /// Length in seconds; 0 when empty.
    pub fn seconds(self) -> f64 {
        self.len_ns() as f64 / NS_PER_S
    }

    /// Whether no instant lies inside.
    pub fn is_empty(self) -> bool {
        self.len_ns() == 0
    }

    /// Whether `at` lies inside.
    pub fn contains(self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// What both windows cover, or `None` when they share nothing.
    pub fn intersect(self, other: Window) -> Option<Window> {
        let both = Window::new(self.start.max(other.start), self.end.min(other.end));
        (!both.is_empty()).then_some(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_half_open() {
        let window = Window::new(Timestamp::from_ns(10), Timestamp::from_ns(20));
        assert!(window.contains(Timestamp::from_ns(10)));
        assert!(!window.contains(Timestamp::from_ns(20)));
        assert_eq!(
            window.intersect(Window::new(window.end, window.end + 5)),
            None
        );
        assert_eq!(Window::new(window.end, window.start).len_ns(), 0);
    }
}
