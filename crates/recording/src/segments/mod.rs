//! A recording as segments: a folder `NAME.stall/` with a folder for each stretch of time, which is a recording by itself.
//!
//! So a long recording can lose its oldest part, a part of it can be moved elsewhere, and a question about ten minutes
//! reads ten minutes. Segments share the numbers of entities, texts and stacks; what a segment's rows refer to is
//! written in it again, and so is the newest row of each series, at its own time: a counter's growth over the boundary
//! is then in the segment in which it ends. There is no index that could be wrong: the names are in order, and each
//! segment's `meta.json` says what it covers.

mod carry_over;
mod joined;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::Segments;
pub use write::{Keep, SegmentedWriter, Stored};

/// The most segments that a folder may have: 48 h of segments of 2 s.
const MOST: usize = 100_000;

/// Digits of a number in a segment's name, so that names sort as numbers do.
const DIGITS: usize = 6;

/// The name of a segment's folder: `000017.stall`.
fn name_of(number: u32) -> String {
    format!("{number:0DIGITS$}.{}", crate::FOLDER_EXTENSION)
}

/// The number in a segment's name; `None` for every other name.
fn number_of(name: &str) -> Option<u32> {
    let digits = name
        .strip_suffix(crate::FOLDER_EXTENSION)?
        .strip_suffix('.')?;
    let number = digits.parse().ok()?;
    (digits.bytes().all(|byte| byte.is_ascii_digit()) && name_of(number) == name).then_some(number)
}
