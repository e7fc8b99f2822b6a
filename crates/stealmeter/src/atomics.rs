//! The atomics that `published.rs` is built on; `tests/loom.rs` puts loom's in their place.

pub use std::sync::atomic::{AtomicU64, Ordering};
