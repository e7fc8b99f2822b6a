//! Checksums that fit whatever the bytes are: a fuzzer that has to guess a CRC-32 never gets past it.
//!
//! Written after `docs/recording.md` and not with the writer's code, so that the two are compared.

use arrow_ipc::{MessageHeader, root_as_message};

/// What stands before a batch's sum.
const MARK: &[u8; 4] = b"STcr";
/// The continuation and the length of a message; length and sum of a journal's record.
const HEAD: usize = 8;
/// A block of an archive, and where its header has the size of what follows and its own sum.
const BLOCK: usize = 512;
const SIZE: std::ops::Range<usize> = 124..136;
const SUM: std::ops::Range<usize> = 148..156;

/// A record of the journal.
pub fn record(payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("inputs are small");
    let sum = crc32fast::hash(payload);
    [&length.to_le_bytes(), &sum.to_le_bytes(), payload].concat()
}

/// The payloads of a journal that is whole.
pub fn payloads(journal: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut rest) = (Vec::new(), journal);
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (payload, next) = after[4..].split_at(u32::from_le_bytes(*length) as usize);
        found.push(payload);
        rest = next;
    }
    found
}

/// A table's file, each of whose batches ends in the sum of all before.
pub fn table(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some((end, is_batch)) = message(&bytes, at) {
        if is_batch && end >= at + HEAD + 8 {
            bytes[end - 8..end - 4].copy_from_slice(MARK);
            let sum = crc32fast::hash(&bytes[..end - 4]);
            bytes[end - 4..end].copy_from_slice(&sum.to_le_bytes());
        }
        at = end;
    }
    bytes
}

/// Where the message that begins at `at` ends, and whether it is a batch.
fn message(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let (head, rest) = bytes.get(at..)?.split_first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    let message = root_as_message(rest.get(..length)?).ok()?;
    let body = usize::try_from(message.bodyLength()).ok()?;
    let end = (at + HEAD + length).checked_add(body)?;
    let is_batch = message.header_type() == MessageHeader::RecordBatch;
    (end <= bytes.len()).then_some((end, is_batch))
}

/// A `meta.json` with the sum of what precedes it, where it has one.
pub fn meta(mut bytes: Vec<u8>) -> Vec<u8> {
    let member = b"\"checksum\": \"crc32:";
    let places = bytes.windows(member.len());
    if let Some(place) = places.rev().position(|it| it == member) {
        bytes.truncate(bytes.len() - member.len() - place);
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(member);
        bytes.extend_from_slice(format!("{sum:08x}\"\n}}\n").as_bytes());
    }
    bytes
}

/// An archive whose headers have the sum of their bytes.
pub fn archive(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some(header) = bytes.get_mut(at..at + BLOCK)
        && header.iter().any(|byte| *byte != 0)
    {
        header[SUM].fill(b' ');
        let sum: u32 = header.iter().copied().map(u32::from).sum();
        header[SUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = header[SIZE].iter().filter(|byte| byte.is_ascii_digit());
        let size = digits.fold(0usize, |size, digit| {
            size.saturating_mul(8)
                .saturating_add(usize::from(digit - b'0'))
        });
        at = at
            .saturating_add(BLOCK)
            .saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK));
        if at >= bytes.len() {
            break;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fixture(name: &str) -> Vec<u8> {
        let folder = crate::repository().join("crates/recording/fixtures/format-3.stall");
        fs::read(folder.join(name)).expect(name)
    }

    #[test]
    fn what_the_writer_wrote_has_these_sums() {
        for name in ["threads.arrow", "entities.arrow"] {
            let written = fixture(name);
            let mut damaged = written.clone();
            let last = damaged.len() - 9;
            damaged[last] ^= 1;
            assert_eq!(
                table(damaged),
                written,
                "{name}: the end marker follows the last sum"
            );
        }
        let written = fixture("meta.json");
        assert_eq!(meta(written.clone()), written);
    }
}
