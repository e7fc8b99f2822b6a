//! Entities that have ended: a machine makes millions of processes while it is recorded, and what their
//! next differences would be taken from is not kept for ever.

use std::collections::VecDeque;

use model::{EntityEvent, EntityId};

/// So many flushes later no row about it comes any more: those of one second come together, and what
/// another program says of it comes some seconds late. It is not told by times: a machine may sleep.
const LATE_FLUSHES: u64 = 300;

const WORD: usize = u64::BITS as usize;

/// Who has ended.
#[derive(Default)]
pub(crate) struct Ended {
    /// In the order in which it was told, and before which flush.
    recent: VecDeque<(u64, EntityId)>,
    flushes: u64,
    /// A bit each: those about whom no row may come any more.
    gone: Vec<u64>,
}

impl Ended {
    /// Notes the ends that events report.
    pub(crate) fn note(&mut self, events: &[EntityEvent]) {
        let ended = events
            .iter()
            .filter(|event| event.record.vanished.is_some());
        self.recent
            .extend(ended.map(|event| (self.flushes, event.record.id)));
    }

    /// Notes a flush.
    pub(crate) fn flushed(&mut self) {
        self.flushes += 1;
    }

    /// The next one whose end is long past.
    pub(crate) fn next(&mut self) -> Option<EntityId> {
        let late = self.flushes.saturating_sub(LATE_FLUSHES);
        let (_, id) = self.recent.pop_front_if(|(told, _)| *told < late)?;
        let word = id.0 as usize / WORD;
        self.gone.resize(self.gone.len().max(word + 1), 0);
        self.gone[word] |= 1 << (id.0 as usize % WORD);
        Some(id)
    }

    /// Whether it was handed out by `next`.
    pub(crate) fn has(&self, id: EntityId) -> bool {
        let word = self.gone.get(id.0 as usize / WORD);
        word.is_some_and(|bits| bits >> (id.0 as usize % WORD) & 1 == 1)
    }
}
