//! One look at one log, with the room that it has.

use sensors::log::{Lines, LogMiner};

/// Bytes of a log whose lines are looked at in one reading: 300 MB a minute.
const MOST_MINED: usize = 512 << 10;
/// Bytes whose lines are counted beyond that.
const MOST_COUNTED: usize = 16 << 20;

/// What there is room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// To look at lines.
    Mining,
    /// To count them.
    Counting,
    /// For nothing more.
    None,
}

/// One reading.
pub(super) struct Reading<'a> {
    pub(super) miner: &'a mut LogMiner,
    pub(super) buffer: &'a mut [u8],
    taken: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(miner: &'a mut LogMiner, buffer: &'a mut [u8]) -> Self {
        Self {
            miner,
            buffer,
            taken: 0,
        }
    }

    /// What there is room for still.
    pub(super) fn room(&self) -> Room {
        match self.taken {
            taken if taken < MOST_MINED => Room::Mining,
            taken if taken < MOST_COUNTED => Room::Counting,
            _ => Room::None,
        }
    }

    /// Takes what stands in the buffer.
    pub(super) fn take(&mut self, count: usize, lines: &mut Lines) {
        let bytes = &self.buffer[..count];
        match self.room() {
            Room::Mining => lines.take(bytes, |line, length| self.miner.line(line, length)),
            _ => {
                let (count, bytes) = lines.count(bytes);
                self.miner.unmined(count, bytes);
            }
        }
        self.taken += count;
    }
}
