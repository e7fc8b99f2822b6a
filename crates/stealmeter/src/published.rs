//! What one thread publishes and any number of others read, without a lock and without waiting.
//!
//! A block of words with a version around it. A reader takes a bounded number of steps whatever the
//! writer does, even if that stops for good in the middle of writing: after `PASSES` it takes the
//! words as they are. Each word is an atomic of its own that only grows, so that such a mixture of
//! two publications still never runs backwards for a reader, and lies between the two. That is why
//! there is one copy and not two that take turns: out of two, a later mixture could be the older.
//!
//! The file is compiled a second time by `tests/loom.rs`, against loom's atomics and with fewer passes.

use crate::atomics::{AtomicU64, Ordering, PASSES};

/// `N` counters with one writer.
#[derive(Debug)]
pub struct Published<const N: usize> {
    /// Odd while words are being written.
    version: AtomicU64,
    words: [AtomicU64; N],
}

impl<const N: usize> Published<N> {
    /// All words zero.
    pub fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Publishes new words, none of them smaller than before. One thread at a time may do this.
    pub fn publish(&self, words: &[u64; N]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        for (place, word) in self.words.iter().zip(words) {
            // Release: who sees this word sees the odd version too.
            place.store(*word, Ordering::Release);
        }
        self.version.store(version + 2, Ordering::Release);
    }

    /// The words, and whether they are all of one publication.
    pub fn read(&self) -> ([u64; N], bool) {
        let mut words = [0; N];
        for _ in 0..PASSES {
            let before = self.version.load(Ordering::Acquire);
            for (word, place) in words.iter_mut().zip(&self.words) {
                // Acquire: the version is looked at again after this, not before.
                *word = place.load(Ordering::Acquire);
            }
            let after = self.version.load(Ordering::Relaxed);
            if before == after && before.is_multiple_of(2) {
                return (words, true);
            }
        }
        (words, false)
    }
}
