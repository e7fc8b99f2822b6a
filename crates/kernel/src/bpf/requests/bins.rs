//! Answers in bins of 20 ms (`bpf/lib/connection.bpf.h`).

use libbpf_rs::MapCore;
use model::Timestamp;
use sensors::bins::BIN_NS;

use super::{Requests, SIDE_BY_SIDE};
use crate::bpf::mapped::Mapped;
use crate::bpf::refusal::Refusal;
use crate::clock::boottime;

/// Bins that are kept (REQUESTS_BINS), several times side by side (REQUESTS_SIDE_BY_SIDE).
const BINS: usize = 64;
/// Bins that one reading tells at most; older ones may be overwritten.
const MOST: u64 = BINS as u64 - 2;

/// How far they were told.
pub(super) struct AnsweredBins {
    answered: Mapped<u64>,
    /// What each place of the ring had counted when its last bin was told.
    before: [u64; BINS],
    /// The first bin, by its number, that was not told; `None` before the first reading.
    next: Option<u64>,
}

impl AnsweredBins {
    pub(super) fn new(answered: &impl MapCore) -> Result<Self, Refusal> {
        Ok(Self {
            answered: Mapped::new(answered)?,
            before: [0; BINS],
            next: None,
        })
    }

    /// Tells the bins before `end`; returns how many are lost, because this comes too late.
    fn read(&mut self, end: u64, mut each: impl FnMut(u64, u64)) -> u64 {
        let Self {
            answered,
            before,
            next,
        } = self;
        let next = next.get_or_insert(end);
        let counted = |place: usize| -> u64 {
            let places = (0..SIDE_BY_SIDE).map(|it| it * BINS + place);
            places.filter_map(|it| answered.get(it)).sum()
        };
        let ended = end.saturating_sub(*next);
        if ended > MOST {
            // Which bin of a place counted what cannot be told any more.
            let places = before.iter_mut().enumerate();
            places.for_each(|(place, before)| *before = counted(place));
            *next = end;
            return ended;
        }
        while *next < end {
            let place = *next as usize % BINS;
            let now = counted(place);
            each(*next, now.wrapping_sub(before[place]));
            before[place] = now;
            *next += 1;
        }
        0
    }
}

impl Requests {
    /// Tells the bins of 20 ms that have ended since the last call, in their order: when each began, and how many
    /// requests were answered in it. Returns how many are lost, because this call comes too late. `ahead_ns`: the
    /// scheduler's clock less `CLOCK_BOOTTIME`, ns.
    pub fn answered(&mut self, ahead_ns: i64, mut each: impl FnMut(Timestamp, u64)) -> u64 {
        let now = (boottime().as_ns() + ahead_ns).cast_unsigned() / BIN_NS;
        // A program that has read the clock at the end of a bin may count a moment later.
        self.bins.read(now.saturating_sub(1), |bin, requests| {
            let from = (bin * BIN_NS).cast_signed() - ahead_ns;
            each(Timestamp::from_ns(from), requests);
        })
    }
}
