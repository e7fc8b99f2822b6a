//! The atomics that `published.rs` is built on; `tests/loom.rs` puts loom's in their place.

pub use std::sync::atomic::{AtomicU64, Ordering};

/// How often a reader looks for a moment at which nobody writes.
pub const PASSES: usize = 4;
