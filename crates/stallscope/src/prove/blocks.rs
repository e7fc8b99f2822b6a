//! Blocks of time, as it is and with something changed, in turns.

use std::thread::sleep;
use std::time::{Duration, Instant};

use analysis::proof::BlockSignal;
use anyhow::Result;
use capacity::Entry;
use model::{ProofPair, Window};

use super::guardian::Guarded;
use super::load::Load;
use crate::turns::Interruption;

/// A block's length.
pub(super) const LENGTH: Duration = Duration::from_secs(4);
/// So much after a change is not counted: what waited before it is worked off.
const SETTLE: Duration = Duration::from_millis(750);
/// A block that was cut short says something from this length on.
const LEAST: Duration = Duration::from_secs(1);
/// How often it is looked whether the target suffers.
const GUARD_EVERY: Duration = Duration::from_secs(1);
/// How often everything else is looked at.
const POLL: Duration = Duration::from_millis(50);

/// A block that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// What counts of it.
    pub(super) window: Window,
    /// It was ended early, since the target suffered.
    pub(super) is_cut_short: bool,
}

impl Block {
    /// Whether enough of it counts.
    pub(super) fn says_something(&self) -> bool {
        self.window.len_ns() as u128 >= LEAST.as_nanos()
    }
}

/// What a change is done with, and what it is.
pub(super) struct Lowering<'e> {
    pub(super) entry: Entry,
    /// Called while it lasts: what turns up meanwhile is changed too.
    pub(super) meanwhile: &'e mut dyn FnMut(&mut Entry) -> bool,
}

/// Makes blocks, watched over.
pub(super) struct Blocks<'a> {
    load: Load<'a>,
    guarded: Guarded,
    interruption: &'a Interruption,
    at_most: f64,
    until: Instant,
    /// How the target does as it is.
    usual: Option<BlockSignal>,
}

impl<'a> Blocks<'a> {
    /// # Errors
    /// Nobody can watch over them.
    pub(super) fn new(
        load: Load<'a>,
        interruption: &'a Interruption,
        at_most: f64,
        until: Instant,
    ) -> Result<Self> {
        Ok(Self {
            load,
            guarded: Guarded::new()?,
            interruption,
            at_most,
            until,
            usual: None,
        })
    }

    /// Puts everything back, and gives the recording.
    ///
    /// # Errors
    /// Something cannot be put back.
    pub(super) fn end(mut self) -> Result<Load<'a>> {
        self.guarded.restore()?;
        Ok(self.load)
    }

    /// Whether so much more lies before the end, and before an earlier one.
    pub(super) fn has_time(&self, until: Option<Instant>, long: Duration) -> bool {
        let until = until.map_or(self.until, |it| it.min(self.until));
        Instant::now() + long <= until
    }

    /// The processes that the experiment itself needs.
    pub(super) fn own(&self) -> [u32; 2] {
        [self.load.recorder(), self.guarded.guardian()]
    }

    /// How the target did.
    ///
    /// # Errors
    /// The recording cannot be read, or ended.
    pub(super) fn signals(&mut self, windows: &[Window]) -> Result<Vec<Option<BlockSignal>>> {
        self.load.signals(windows)
    }

    /// How much slower a block may be than what it is compared with.
    pub(super) fn at_most(&self) -> f64 {
        self.at_most
    }

    /// A block as it is; `None` where it is interrupted.
    ///
    /// # Errors
    /// The recorder ended.
    pub(super) fn as_it_is(&mut self, long: Duration) -> Result<Option<Block>> {
        let began = kernel::boottime();
        if !self.wait(long)? {
            return Ok(None);
        }
        Ok(Some(counted(began, false)))
    }

    /// From now on the guard compares with how the target did in this block.
    ///
    /// # Errors
    /// The recording cannot be read, or ended.
    pub(super) fn compare_with(&mut self, block: &Block) -> Result<()> {
        let signals = self.load.signals(&[block.window])?;
        self.usual = signals.first().copied().flatten().or(self.usual);
        Ok(())
    }

    /// A block in which something is changed, and put back at its end; `None` where it is interrupted.
    ///
    /// # Errors
    /// It cannot be changed or put back, or the recorder ended. Everything is as it was then.
    pub(super) fn changed(
        &mut self,
        lowering: Lowering<'_>,
        long: Duration,
    ) -> Result<Option<Block>> {
        self.lower(lowering.entry)?;
        let began = kernel::boottime();
        let ended = self.watched(long, lowering.meanwhile);
        self.guarded.restore()?;
        let block = counted(began, matches!(ended, Ok(Some(false))));
        Ok(ended?.map(|_| block))
    }

    /// Changes something until `restore`.
    ///
    /// # Errors
    /// It cannot be changed. Everything is as it was then.
    pub(super) fn lower(&mut self, entry: Entry) -> Result<()> {
        self.guarded.note(entry)?;
        let entry = self.guarded.noted();
        let changes = entry.changes.iter().map(capacity::Change::apply);
        let stopped = entry.stopped.iter().map(|it| it.stop());
        if let Err(error) = changes.chain(stopped).collect::<Result<(), _>>() {
            self.guarded.restore()?;
            return Err(error.into());
        }
        Ok(())
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(super) fn restore(&mut self) -> Result<()> {
        self.guarded.restore()
    }

    /// A part of a time in which something is changed; `None` where it is interrupted.
    ///
    /// # Errors
    /// The recorder ended.
    pub(super) fn part(&mut self, long: Duration) -> Result<Option<Block>> {
        let began = kernel::boottime();
        let ended = self.watched(long, &mut |_| false)?;
        Ok(ended.map(|is_whole| counted(began, !is_whole)))
    }

    /// Whether a changed block went on to its end; `None` where it is interrupted.
    fn watched(
        &mut self,
        long: Duration,
        meanwhile: &mut dyn FnMut(&mut Entry) -> bool,
    ) -> Result<Option<bool>> {
        let until = Instant::now() + long;
        let mut next_look = Instant::now() + SETTLE + GUARD_EVERY;
        while Instant::now() < until {
            if self.interruption.signal().is_some() {
                return Ok(None);
            }
            let mut entry = self.guarded.noted().clone();
            if meanwhile(&mut entry) {
                self.lower(entry)?;
            }
            if Instant::now() >= next_look {
                self.load.lives()?;
                if self.suffers() {
                    return Ok(Some(false));
                }
                next_look = Instant::now() + GUARD_EVERY;
            }
            sleep(POLL);
        }
        Ok(Some(true))
    }

    /// Whether the target is much slower than it was.
    fn suffers(&self) -> bool {
        let Some((usual, lately)) = self.usual.zip(self.load.lately(GUARD_EVERY)) else {
            return false;
        };
        let slower = |(now, before): (f64, f64)| now > self.at_most * before;
        let latency = lately.latency_ns.zip(usual.latency_ns);
        latency.is_some_and(slower) || lately.throughput * self.at_most < usual.throughput
    }

    /// Whether it was not interrupted.
    fn wait(&mut self, long: Duration) -> Result<bool> {
        let until = Instant::now() + long;
        while Instant::now() < until {
            if self.interruption.signal().is_some() {
                return Ok(false);
            }
            sleep(POLL);
        }
        self.load.lives()?;
        Ok(true)
    }
}

fn counted(began: model::Timestamp, is_cut_short: bool) -> Block {
    let end = kernel::boottime();
    let start = (began + crate::duration::nanoseconds(SETTLE)).min(end);
    Block {
        window: Window::new(start, end),
        is_cut_short,
    }
}

/// A block with something changed between two as it is; `None` where one of them says nothing.
pub(super) fn pair(
    changed: &Block,
    [before, during, after]: [Option<BlockSignal>; 3],
    lowered_to: f64,
    available: f64,
) -> Option<ProofPair> {
    let (before, during, after) = (before?, during?, after?);
    let mean = |a: f64, b: f64| (a + b) / 2.0;
    Some(ProofPair {
        at: changed.window.start,
        lowered_to,
        available,
        throughput: mean(before.throughput, after.throughput),
        throughput_changed: during.throughput,
        latency_ns: before
            .latency_ns
            .zip(after.latency_ns)
            .map(|(a, b)| mean(a, b)),
        latency_changed_ns: during.latency_ns,
    })
}
