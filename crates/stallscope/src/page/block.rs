//! Numbers as bytes: what `docs/page.md` says of blocks.

use std::io::Write;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};

/// Integers one after the other, small ones in one byte.
#[derive(Clone, Default, Debug)]
pub(super) struct Numbers {
    bytes: Vec<u8>,
}

impl Numbers {
    /// LEB128 of the zigzag form.
    pub(super) fn push(&mut self, number: i64) {
        let mut rest = ((number << 1) ^ (number >> 63)) as u64;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// A count, or a place.
    pub(super) fn count(&mut self, count: usize) {
        self.push(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// The number of a text's bytes, then the bytes.
    pub(super) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// As a gzip stream, without a time or a name, so that the same numbers give the same bytes.
    pub(super) fn packed(&self) -> Result<Vec<u8>> {
        let mut packed = GzBuilder::new()
            .mtime(0)
            .write(Vec::new(), Compression::best());
        packed
            .write_all(&self.bytes)
            .and_then(|()| packed.finish())
            .context("cannot pack the numbers of the page")
    }
}
