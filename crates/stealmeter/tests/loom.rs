//! Every interleaving of one writer and its readers, and every value that weak memory allows.
//!
//! The very source of the crate is compiled here against loom's atomics. No `--cfg loom`: that would
//! build every dependency a second time.

mod atomics {
    pub use loom::sync::atomic::{AtomicU64, Ordering};

    /// The second is the first that comes after one that did not settle; more take hours.
    pub const PASSES: usize = 2;
}

#[path = "../src/published.rs"]
mod published;

use loom::sync::Arc;
use loom::thread;
use published::Published;

/// What a writer publishes one after the other: the words are unlike, and none decreases.
const PUBLISHED: [[u64; 2]; 3] = [[0, 0], [1, 10], [2, 20]];

/// Checks what one reader saw, from first to last.
fn check(seen: &[([u64; 2], bool)]) {
    for (words, settled) in seen {
        assert!(!settled || PUBLISHED.contains(words), "torn: {words:?}");
        for (place, word) in words.iter().enumerate() {
            assert!(PUBLISHED.iter().any(|words| words[place] == *word));
        }
    }
    for pair in seen.windows(2) {
        for (then, now) in pair[0].0.iter().zip(pair[1].0) {
            assert!(*then <= now, "ran backwards: {seen:?}");
        }
    }
}

/// Runs a writer beside readers that read so many times each, in every way that has at most so many
/// preemptions: without that bound the last of these models takes hours.
fn explore(publications: usize, reads: &'static [usize], preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let published = Arc::new(Published::new());
        let readers = reads.iter().map(|reads| {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let seen: Vec<_> = (0..*reads).map(|_| published.read()).collect();
                check(&seen);
            })
        });
        let readers: Vec<_> = readers.collect();
        for words in &PUBLISHED[1..=publications] {
            published.publish(words);
        }
        for reader in readers {
            reader.join().expect("the reader's checks hold");
        }
        assert_eq!(published.read(), (PUBLISHED[publications], true));
    });
}

#[test]
fn a_reader_never_takes_a_mixture_for_one_publication() {
    explore(2, &[1], 3);
}

#[test]
fn no_word_runs_backwards_for_a_reader() {
    explore(1, &[2], 3);
}

#[test]
fn two_readers_do_not_disturb_each_other() {
    explore(1, &[1, 1], 2);
}
