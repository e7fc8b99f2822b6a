//! How much a bundle may ask of the machine that opens it.

use std::io::{self, Read};

/// The most files: a recording has about 25.
pub(super) const MAX_FILES: usize = 200;

/// Far above any manifest, and little enough to be read into memory.
pub(super) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The most bytes after decompression, whatever the bundle's size.
pub(super) const MAX_BYTES: u64 = 8 << 30;

/// Any bundle may hold this much. It is little, since tables may hold a thousand times their size again:
/// with 64 MiB a bundle of 5 kB filled all memory.
const FREE_BYTES: u64 = 1 << 20;

/// Beyond that, so many times the bundle's own size: tables are compressed inside already, so an
/// honest bundle holds little more than its size.
const MAX_RATIO: u64 = 20;

/// The decompressor's memory, as a power of two: 8 MiB, twice what `pack` uses.
pub(super) const WINDOW_LOG: u32 = 23;

/// What a bundle decompresses to, up to its limit.
pub(super) struct Bounded<R> {
    content: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Bounded<R> {
    /// The content of a bundle of so many bytes.
    pub(super) fn new(content: R, bundle_bytes: u64) -> Self {
        let limit = FREE_BYTES
            .saturating_add(bundle_bytes.saturating_mul(MAX_RATIO))
            .min(MAX_BYTES);
        Self {
            content,
            limit,
            left: limit,
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let limit = self.limit;
            io::Error::other(format!(
                "it holds more than {limit} bytes, the most for a bundle of its size"
            ))
        })?;
        Ok(read)
    }
}
