//! When a recording that is written as segments begins the next one.

use std::time::{Duration, Instant};

use collectors::Command;
use kernel::Clocks;
use model::Timestamp;

use super::Session;
use crate::observer::Progress;

/// So long before its end a segment gets a full row of everything, so that its series reach nearly to its end without
/// what comes after. Rows are handed over once a second.
const AHEAD: Duration = Duration::from_millis(1_500);

/// Half of the time between two hand-overs of rows.
const HALF: Duration = Duration::from_millis(500);

/// How long a segment is at least, whatever its size.
const LEAST: Duration = Duration::from_secs(1);

/// A segment of a length.
pub(super) struct Segmenting {
    length: Duration,
    begun: Instant,
    /// Whether its last full rows were asked for.
    is_ending: bool,
}

impl Segmenting {
    /// Segments of this length, of which the first begins now.
    pub(super) fn new(length: Duration) -> Self {
        Self {
            length,
            begun: Instant::now(),
            is_ending: false,
        }
    }
}

impl Session {
    /// Begins the next segment when it is time; to be called when what came last was just flushed, so that all tables
    /// of a second are in the same segment.
    pub(super) fn segment(&mut self) {
        let Some(segmenting) = &mut self.segmenting else {
            return;
        };
        let age = segmenting.begun.elapsed();
        let is_large = age >= LEAST && self.storage.segments().is_some_and(|it| it.is_large());
        if !segmenting.is_ending && age + AHEAD >= segmenting.length {
            segmenting.is_ending = true;
            self.sampler.tell(Command::ForceFullRows);
            self.sampler.tell(Command::ReportCost);
        }
        // What comes next comes in a second.
        if age + HALF >= segmenting.length || is_large {
            self.roll();
        }
    }

    /// Begins the next segment.
    pub(super) fn roll(&mut self) {
        let meta = self.described();
        let mut next = meta.clone();
        next.firings.clear();
        // The wall clock may have been set since; each segment knows it by itself.
        let clocks = Clocks::read();
        next.identity.anchor_realtime_ns = clocks.realtime_ns;
        next.identity.anchor_boottime = clocks.boottime;
        match self.storage.roll(meta, next) {
            Ok(Some(at)) => {
                self.meta.identity.anchor_realtime_ns = clocks.realtime_ns;
                self.meta.identity.anchor_boottime = clocks.boottime;
                self.forget_before(at);
            }
            Ok(None) => {}
            Err(error) => self.observer.progress(Progress::Unwritten(error)),
        }
        if let Some(segmenting) = &mut self.segmenting {
            // Refused, it is tried again after as long.
            segmenting.begun = Instant::now();
            segmenting.is_ending = false;
        }
    }

    /// A recorder that is never stopped must not gather what is in segments that are closed.
    fn forget_before(&mut self, at: Timestamp) {
        let gaps = &mut self.meta.gaps;
        gaps.retain(|gap| gap.window.is_none_or(|window| window.end >= at));
        self.meta.firings.clear();
    }
}
