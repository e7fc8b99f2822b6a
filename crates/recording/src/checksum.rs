//! Checksums: every record batch ends in one that any Arrow reader passes over.
//!
//! The last 8 bytes of a batch's body are a mark and the CRC-32 (that of zlib) of the whole file up to
//! there, so the schema, the order of batches and what stands between them are held by it too. The
//! body's length in the message counts these bytes; no buffer of the batch lies in them.

use arrow_ipc::{Message, root_as_message};
use crc32fast::Hasher;

/// What stands before the sum: "this is a checksum of Stallscope's".
const MARK: [u8; 4] = *b"STcr";

/// Mark and sum.
pub(crate) const SEAL_BYTES: usize = 8;

/// The continuation and the length that begin a message.
const FRAME_BYTES: usize = 8;

/// The sum of a file from its first byte on.
#[derive(Clone, Default)]
pub(crate) struct Chain(Hasher);

impl Chain {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Ends a record batch's message, as Arrow wrote it, with the sum of the file up to there.
    ///
    /// `None` when the message is none: a mistake of the program.
    pub(crate) fn seal(&mut self, message: &mut Vec<u8>) -> Option<()> {
        let place = body_length_place(message)?;
        let length = message.get_mut(place..place + 8)?;
        let grown = i64::from_le_bytes(length.try_into().ok()?) + SEAL_BYTES as i64;
        length.copy_from_slice(&grown.to_le_bytes());
        message.extend_from_slice(&MARK);
        self.0.update(message);
        let sum = self.0.clone().finalize().to_le_bytes();
        message.extend_from_slice(&sum);
        self.0.update(&sum);
        Some(())
    }

    /// Takes a message's body, whose frame and description were taken before; whether its end fits.
    pub(crate) fn verify(&mut self, body: &[u8]) -> bool {
        let Some((summed, sum)) = body.split_last_chunk::<4>() else {
            return false;
        };
        self.0.update(summed);
        let fits = summed.ends_with(&MARK) && self.0.clone().finalize() == u32::from_le_bytes(*sum);
        self.0.update(sum);
        fits
    }
}

/// The sum of some bytes alone.
pub(crate) fn of(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Where in a message the length of its body stands.
fn body_length_place(message: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(message.get(4..FRAME_BYTES)?.try_into().ok()?);
    let description = message.get(FRAME_BYTES..FRAME_BYTES + length as usize)?;
    let table = root_as_message(description).ok()?._tab;
    // An absent field would stand for a body of no bytes, which a batch of rows never has.
    let field = usize::from(table.vtable().get(Message::VT_BODYLENGTH));
    (field > 0).then_some(FRAME_BYTES + table.loc() + field)
}
