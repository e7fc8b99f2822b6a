//! Writes the fixture of the present format version:
//! `cargo run -p recording --example make_fixture -- crates/recording/fixtures/format-7.stall`
//!
//! Run it for a new version only: the fixture of an old one must stay what the old program wrote.
// The sample is shared with the tests, where a failure should end the program.
#![allow(clippy::unwrap_used)]

use std::path::Path;

#[path = "../tests/recording/sample.rs"]
mod sample;

fn main() {
    let folder = std::env::args_os()
        .nth(1)
        .expect("the folder to write, as the only argument");
    let writer = sample::write_open(Path::new(&folder));
    writer
        .close(&sample::meta(true))
        .expect("the fixture can be closed");
}
