//! Every parser of the program, to be fed with bytes that nobody meant.
//!
//! A target is a function that takes any bytes and returns; it panics where a parser breaks a promise.
//! `scripts/fuzz.sh` feeds them for as long as you like, guided by coverage (libFuzzer, on stable Rust);
//! `tests/replay.rs` feeds them with the seeds, with what once broke them (`kept/TARGET/`) and with a few
//! thousand mutations that are the same at each run. A new parser is a line in a target, or a file in
//! `targets/` with a line in `all()`.

mod mutation;
mod seeds;
mod sums;
mod targets;

pub use mutation::Mutator;
pub use seeds::{Seed, kept};

use std::path::Path;

use anyhow::Result;

/// Something that reads bytes.
pub struct Target {
    /// Its name, as in `scripts/fuzz.sh NAME`.
    pub name: &'static str,
    /// Reads the bytes; panics where a promise is broken.
    pub feed: fn(&[u8]),
    /// Good inputs to begin with, from the repository at this path.
    pub seeds: fn(&Path) -> Result<Vec<Seed>>,
    /// Mutations that a test can afford, in debug mode.
    pub affordable: usize,
}

/// Every target.
pub fn all() -> &'static [Target] {
    &targets::ALL
}

/// The repository that this was built from.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}
