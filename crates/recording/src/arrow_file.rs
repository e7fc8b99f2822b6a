//! One Arrow IPC stream on disk that only grows: each batch is one write, and ends in a checksum.

use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, Schema};

use crate::checksum::Chain;
use crate::{Error, FolderHandle, Result};

/// The least that Arrow allows: padding would be a part of small columns.
const ALIGNMENT: usize = 8;

/// The one that costs the least: batches are compressed while something is measured.
const ZSTD_LEVEL: i32 = 1;

/// How much a batch holds at most before compression: the writer stays far below, the reader refuses
/// much above (`frames::MAX_BATCH_BYTES`).
pub(crate) const BATCH_BYTES: usize = 64 << 20;

/// A stream being written.
///
/// A whole message is put together in memory and given to the kernel by one write. From then on it
/// survives the end of this process in any way. It is not synced: syncing a disk whose waits are
/// being measured would be part of the measurement.
///
/// The file is open only while it is written: a recording has some 25 tables, and where few files may be
/// open each descriptor kept is one that something measured lacks.
pub(crate) struct ArrowFile {
    folder: Arc<FolderHandle>,
    name: String,
    stream: StreamWriter<Vec<u8>>,
    bytes: u64,
    chain: Chain,
}

impl ArrowFile {
    /// Makes the file and writes its schema; leaves no file behind when that is refused.
    pub(crate) fn create(folder: Arc<FolderHandle>, name: String, schema: &Schema) -> Result<Self> {
        let path = folder.path_of(&name);
        let mut stream = write_options()
            .and_then(|options| StreamWriter::try_new_with_options(Vec::new(), schema, options))
            .map_err(|error| Error::unfit(&path, error))?;
        let file = folder.create_file(&name).map_err(Error::write(&path))?;
        let message = stream.get_mut();
        if let Err(source) = file.write_all_at(message, 0) {
            // The next attempt makes it anew.
            let _ = folder.remove(&name);
            return Err(Error::Write { path, source });
        }
        let mut chain = Chain::default();
        chain.update(message);
        let bytes = message.len() as u64;
        message.clear();
        Ok(Self {
            folder,
            name,
            stream,
            bytes,
            chain,
        })
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends one batch: wholly or, with an error, not at all.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.stream
            .write(batch)
            .map_err(|error| Error::unfit(&self.path(), error))?;
        let mut chain = self.chain.clone();
        if chain.seal(self.stream.get_mut()).is_none() {
            return Err(Error::unfit(&self.path(), "a batch has no length"));
        }
        self.append()?;
        self.chain = chain;
        Ok(())
    }

    /// Writes the end marker and returns the file's size.
    pub(crate) fn finish(&mut self) -> Result<u64> {
        self.stream
            .finish()
            .map_err(|error| Error::unfit(&self.path(), error))?;
        self.append()?;
        Ok(self.bytes)
    }

    /// Writes what the stream put together. What was refused is gone from it: its rows are still with
    /// whoever wanted them written, and come again.
    fn append(&mut self) -> Result<()> {
        let message = self.stream.get_mut();
        // The file made before, and not what a link in its place leads to.
        let written = self.folder.open_file(&self.name).and_then(|file| {
            let written = file.write_all_at(message, self.bytes);
            if written.is_err() {
                // Half a message would be reported as damage; when it stays, the next one overwrites it.
                let _ = file.set_len(self.bytes);
            }
            written
        });
        if written.is_ok() {
            self.bytes += message.len() as u64;
        }
        message.clear();
        written.map_err(Error::write(&self.path()))
    }

    fn path(&self) -> PathBuf {
        self.folder.path_of(&self.name)
    }
}

fn write_options() -> std::result::Result<IpcWriteOptions, ArrowError> {
    IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?
        .try_with_compression(Some(CompressionType::ZSTD))?
        .try_with_compression_level(Some(ZSTD_LEVEL))
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;
    use arrow_schema::{DataType, Field};

    use super::*;
    use crate::frames::Frames;

    #[test]
    fn a_refused_batch_leaves_no_trace_and_may_come_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("n.arrow");
        let schema = Schema::new(vec![Field::new("n", DataType::Int64, false)]);
        let folder = Arc::new(FolderHandle::open(home.path()).unwrap());
        let mut stream = ArrowFile::create(folder.clone(), "n.arrow".to_owned(), &schema).unwrap();
        let batch = |n| {
            let column = Arc::new(Int64Array::from(vec![n]));
            RecordBatch::try_new(Arc::new(schema.clone()), vec![column]).unwrap()
        };
        stream.write(&batch(1)).unwrap();
        let aside = home.path().join("aside");
        std::fs::rename(&path, &aside).unwrap();
        std::os::unix::fs::symlink(&aside, &path).unwrap();
        assert!(
            matches!(stream.write(&batch(2)), Err(Error::Write { .. })),
            "a link is not followed"
        );
        std::fs::rename(&aside, &path).unwrap();
        stream.write(&batch(2)).unwrap();
        let bytes = stream.finish().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes);
        let mut frames = Frames::open(&folder, "n.arrow").unwrap();
        for n in [1, 2] {
            assert_eq!(frames.next_batch().unwrap(), Some(batch(n)));
        }
        assert_eq!(frames.next_batch(), Ok(None));
        assert!(frames.ended());
    }
}
