//! The built program on machines that are not here: trees of /proc and /sys in `fixtures/hosts`, shown
//! to it as a live host by `--root`, recorded for some seconds, and explained.
//!
//! Each host's README says where its files come from. Nothing asserts how fast anything is.

#![expect(
    clippy::print_stdout,
    reason = "SKIPPED lines are read by scripts/test.sh"
)]

mod alike;
#[path = "../e2e/fuse.rs"]
#[expect(dead_code, reason = "the other tests serve files of plain bytes")]
mod fuse;
mod host;
mod hosts;
mod mixed;
#[path = "../e2e/needs.rs"]
mod needs;
#[path = "../e2e/place.rs"]
#[expect(dead_code, reason = "the other tests do more there")]
mod place;
mod player;
#[path = "../e2e/process.rs"]
#[expect(dead_code, reason = "the other tests do more with processes")]
mod process;
mod real;
mod tree;
