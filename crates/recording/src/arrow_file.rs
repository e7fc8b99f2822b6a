//! One Arrow IPC stream on disk that only grows: each batch is one write.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, Schema};

use crate::{Error, Result};

/// The least that Arrow allows: batches of a second are small, and padding would be a part of them.
const ALIGNMENT: usize = 8;

/// Batches of a second are too small for more effort to pay: levels 1 to 9 differ by 0.5 % in size
/// where every row changes (`cargo test -p recording size -- --nocapture`), and 1 costs the least.
const ZSTD_LEVEL: i32 = 1;

/// How much a batch holds at most before compression: the writer splits above, the reader refuses
/// much above (`frames::MAX_BATCH_BYTES`).
pub(crate) const BATCH_BYTES: usize = 64 << 20;

/// A stream being written.
///
/// A whole message is put together in memory and given to the kernel by one `write_all` on the bare
/// file. From then on it survives the end of this process in any way. It is not synced: syncing a
/// disk whose waits are being measured would be part of the measurement.
pub(crate) struct ArrowFile {
    path: PathBuf,
    file: File,
    stream: StreamWriter<Vec<u8>>,
    bytes: u64,
    /// After a write that was refused, differences no longer fit what is on disk.
    broken: bool,
}

impl ArrowFile {
    /// Makes the file and writes its schema.
    pub(crate) fn create(path: PathBuf, schema: &Schema) -> Result<Self> {
        let file = File::create_new(&path).map_err(Error::write(&path))?;
        let stream = write_options()
            .and_then(|options| StreamWriter::try_new_with_options(Vec::new(), schema, options))
            .map_err(|error| Error::unfit(&path, error))?;
        let mut created = Self {
            path,
            file,
            stream,
            bytes: 0,
            broken: false,
        };
        created.flush()?;
        Ok(created)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.broken {
            return Err(Error::Write {
                path: self.path.clone(),
                source: std::io::Error::other("an earlier write was refused"),
            });
        }
        self.stream
            .write(batch)
            .map_err(|error| Error::unfit(&self.path, error))?;
        self.flush()
    }

    /// Writes the end marker and returns the file's size.
    pub(crate) fn finish(mut self) -> Result<u64> {
        if !self.broken {
            self.stream
                .finish()
                .map_err(|error| Error::unfit(&self.path, error))?;
            self.flush()?;
        }
        Ok(self.bytes)
    }

    fn flush(&mut self) -> Result<()> {
        let message = self.stream.get_mut();
        let written = self.file.write_all(message);
        if written.is_ok() {
            self.bytes += message.len() as u64;
        } else {
            self.broken = true;
            // Half a message would be reported as damage; when it stays, that is the worst of it.
            let _ = self.file.set_len(self.bytes);
        }
        message.clear();
        written.map_err(Error::write(&self.path))
    }
}

fn write_options() -> std::result::Result<IpcWriteOptions, ArrowError> {
    IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?
        .try_with_compression(Some(CompressionType::ZSTD))?
        .try_with_compression_level(Some(ZSTD_LEVEL))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn after_a_refused_write_nothing_more_is_written() {
        let home = tempfile::tempdir().unwrap();
        let schema = Schema::new(vec![Field::new("n", DataType::Int64, false)]);
        let mut stream = ArrowFile::create(home.path().join("n.arrow"), &schema).unwrap();
        let batch =
            RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(vec![1]))]);
        let batch = batch.unwrap();
        stream.write(&batch).unwrap();
        let written = stream.bytes;
        let writable = std::mem::replace(&mut stream.file, File::open(&stream.path).unwrap());
        assert!(
            matches!(stream.write(&batch), Err(Error::Write { .. })),
            "opened for reading only"
        );
        stream.file = writable;
        let refused = stream.write(&batch).unwrap_err().to_string();
        assert!(
            refused.contains("an earlier write was refused"),
            "{refused}"
        );
        assert_eq!(stream.finish().unwrap(), written);
        assert_eq!(
            std::fs::metadata(home.path().join("n.arrow"))
                .unwrap()
                .len(),
            written
        );
    }
}
