//! The messages of an Arrow IPC stream, read one by one from a file that may be damaged or hostile.
//!
//! Arrow's own `StreamReader` neither tells how far it came nor knows how long the file is. Here the
//! framing is walked by hand: each length is compared with what is left of the file before anything
//! is allocated, and only a message that can be true is given to Arrow.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_record_batch;
use arrow_ipc::{Message, root_as_message_with_opts};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use flatbuffers::VerifierOptions;

use crate::arrow_file::BATCH_BYTES;
use crate::checksum::Chain;
use crate::{FolderHandle, layout};

/// What begins every message, before its length.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// The continuation and the length.
const FRAME_BYTES: u64 = 8;

/// The most that one batch may take after decompression: well above what the writer puts in one.
const MAX_BATCH_BYTES: u64 = 4 * BATCH_BYTES as u64;

/// Sampled tables shrink 10 to 100 times. A file that claims more than this, beyond the bytes that
/// any may take, was made to fill memory.
const MAX_RATIO: u64 = 1000;

/// What any file may take: a folder may hold thousands of them, so it is little.
const ALWAYS_BYTES: u64 = 1 << 20;

/// The most that the description of one message may be: those of the widest tables, with the help of
/// each column, are some ten kilobytes.
const MAX_DESCRIPTION_BYTES: usize = 4 << 20;

/// The most parts of a description: a column has up to four.
const MAX_DESCRIPTION_PARTS: usize = 10_000;

/// An open stream, its schema read.
pub(crate) struct Frames {
    input: BufReader<File>,
    length: u64,
    position: u64,
    decoded: u64,
    schema: SchemaRef,
    /// The sum of what was read; `None` where the format has no checksums.
    chain: Option<Chain>,
    /// Up to where what was read is known to be what was written.
    sound_to: u64,
    ended: bool,
}

impl Frames {
    /// Opens a stream and reads its schema, or says why that is not possible.
    pub(crate) fn open(folder: &FolderHandle, name: &str) -> Result<Self, String> {
        let (file, length) = folder.read(name).map_err(|refused| refused.to_string())?;
        let input = BufReader::new(file);
        let schema = Arc::new(Schema::empty());
        let mut frames = Self {
            input,
            length,
            position: 0,
            decoded: 0,
            schema,
            chain: Some(Chain::default()),
            sound_to: 0,
            ended: false,
        };
        frames.schema = Arc::new(frames.read_schema()?);
        Ok(frames)
    }

    /// Reads on without checksums: the file's format has none.
    pub(crate) fn expect_no_checksums(&mut self) {
        self.chain = None;
        self.sound_to = self.position;
    }

    /// The stream's schema.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The end of the last message that was read and found right, in bytes from the start of the file:
    /// 0 up to the first checksum, which is the schema's as well.
    pub(crate) fn sound_to(&self) -> u64 {
        self.sound_to
    }

    /// Whether the end marker was read: a file that was closed has one.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// The next batch; `None` at the end, with or without an end marker.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        let Some(metadata) = self.read_metadata()? else {
            return Ok(None);
        };
        let message = parse(&metadata)?;
        let body = self.read_body(&message, metadata.len())?;
        if let Some(chain) = &mut self.chain
            && !chain.verify(&body)
        {
            return Err("its checksum does not fit what is there".to_owned());
        }
        let batch = message
            .header_as_record_batch()
            .ok_or("a message is not a record batch")?;
        let bytes = layout::decoded_bytes(&batch, &self.schema, &body)?;
        let limit = ALWAYS_BYTES.saturating_add(self.length.saturating_mul(MAX_RATIO));
        self.decoded = self.decoded.saturating_add(bytes);
        if bytes > MAX_BATCH_BYTES || self.decoded > limit {
            return Err(format!("a batch claims {bytes} bytes after decompression"));
        }
        let (schema, version) = (self.schema.clone(), message.version());
        let batch =
            contained(|| read_record_batch(&body, batch, schema, &HashMap::new(), None, &version))?;
        self.position += FRAME_BYTES + (metadata.len() + body.len()) as u64;
        self.sound_to = self.position;
        Ok(Some(batch))
    }

    fn read_schema(&mut self) -> Result<Schema, String> {
        let metadata = self.read_metadata()?.ok_or("it is empty")?;
        let message = parse(&metadata)?;
        let body = self.read_body(&message, metadata.len())?;
        let schema = message
            .header_as_schema()
            .ok_or("its first message is not a schema")?;
        let schema = contained(|| try_fb_to_schema(schema))?;
        layout::check_types(&schema)?;
        self.position += FRAME_BYTES + (metadata.len() + body.len()) as u64;
        Ok(schema)
    }

    /// The description of the next message; `None` at the end of the stream.
    fn read_metadata(&mut self) -> Result<Option<Vec<u8>>, String> {
        let left = self.length.saturating_sub(self.position);
        if left == 0 {
            return Ok(None);
        }
        let mut frame = [0u8; FRAME_BYTES as usize];
        self.read_exact(&mut frame, left)?;
        let left = left - FRAME_BYTES;
        let [start @ .., a, b, c, d] = frame;
        if start != CONTINUATION {
            return Err("no message begins here".to_owned());
        }
        match u32::from_le_bytes([a, b, c, d]) {
            0 if left == 0 => {
                self.ended = true;
                Ok(None)
            }
            0 => Err(format!("{left} bytes follow the end marker")),
            length if u64::from(length) > left => Err(cut_short(u64::from(length), left)),
            length if length as usize > MAX_DESCRIPTION_BYTES => Err(format!(
                "a message's description of {length} bytes is larger than {MAX_DESCRIPTION_BYTES}"
            )),
            length => {
                let mut metadata = vec![0; length as usize];
                self.read_exact(&mut metadata, left)?;
                if let Some(chain) = &mut self.chain {
                    chain.update(&frame);
                    chain.update(&metadata);
                }
                Ok(Some(metadata))
            }
        }
    }

    /// The body of a message whose description, of that many bytes, was just read.
    fn read_body(&mut self, message: &Message<'_>, described: usize) -> Result<Buffer, String> {
        let length = message.bodyLength();
        let length = u64::try_from(length).map_err(|_| "a message has a negative length")?;
        let read = self.position + FRAME_BYTES + described as u64;
        let left = self.length.saturating_sub(read);
        if length > left {
            return Err(cut_short(length, left));
        }
        let mut body = MutableBuffer::from_len_zeroed(length as usize);
        self.read_exact(&mut body, left)?;
        Ok(body.into())
    }

    fn read_exact(&mut self, bytes: &mut [u8], left: u64) -> Result<(), String> {
        if bytes.len() as u64 > left {
            return Err(cut_short(bytes.len() as u64, left));
        }
        self.input
            .read_exact(bytes)
            .map_err(|error| format!("it cannot be read: {error}"))
    }
}

/// Parts of a description may be used many times over, and each use is a copy in memory: what counts is
/// how large it is with all of them.
fn parse(metadata: &[u8]) -> Result<Message<'_>, String> {
    let limits = VerifierOptions {
        max_apparent_size: MAX_DESCRIPTION_BYTES,
        max_tables: MAX_DESCRIPTION_PARTS,
        ..VerifierOptions::default()
    };
    root_as_message_with_opts(&limits, metadata).map_err(|_| {
        format!("a message's description is damaged, or larger than {MAX_DESCRIPTION_BYTES} bytes")
    })
}

fn cut_short(wanted: u64, left: u64) -> String {
    format!("a message is cut short: {wanted} bytes wanted, {left} left")
}

/// Runs Arrow's code on bytes that may be damaged.
///
/// `layout` refuses what is known to make Arrow panic; this holds what is not known, since a panic
/// over one table would take all the others along. Nothing that the closure touched is used after.
fn contained<T>(decode: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(Ok(decoded)) => Ok(decoded),
        Ok(Err(error)) => Err(format!("a message cannot be decoded: {error}")),
        Err(_) => Err("a message cannot be decoded: Arrow gave up on it".to_owned()),
    }
}
