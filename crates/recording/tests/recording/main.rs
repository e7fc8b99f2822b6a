//! Recordings written, damaged and read.
// Clippy knows a test by its attribute, and not what only tests call.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod damage;
mod errors;
mod formats;
mod full_disk;
mod other_readers;
mod round_trip;
mod sample;
mod size;
