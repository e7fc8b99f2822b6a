//! A run on disk: a folder `NAME.stall/` with `meta.json` and one Arrow IPC stream per table.
//!
//! The writer is made for a machine in trouble: each flush is one checksummed record of a journal, handed
//! to the kernel at once, so that `kill -9` loses nothing that was flushed; many of them become record
//! batches, which have checksums too, and there is no footer to lose. A disk that refuses makes a gap.
//! The reader is made for files from elsewhere: whatever their bytes are, it neither panics nor asks
//! for more memory than the file can account for, and what it could not read becomes a [`Damage`] and
//! a gap of the timeline. The format is described in `docs/recording.md`.
//!
//! This crate knows the words of `model` and files; it knows no sensor and draws no conclusion.
#![warn(missing_docs)]

mod amend;
mod arrow_file;
pub mod bundle;
mod checksum;
mod damage;
mod delta;
mod ended;
mod entity_list;
mod error;
mod exposed;
mod folder;
mod frames;
mod journal;
mod layout;
mod list_file;
mod marks_file;
mod member;
mod meta_file;
mod naming;
mod place;
mod reader;
mod recovery;
mod schema;
mod segments;
mod string_list;
mod table_file;
mod tables;
mod upgrade;
mod whole;
mod write_backlog;
mod writer;

// The sample that the integration tests use, where the writer can be made impatient.
#[cfg(test)]
extern crate self as recording;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../tests/recording/sample.rs"]
mod sample;

pub use amend::{amend, description};
pub use damage::Damage;
pub use error::{Error, Result};
pub use exposed::{Blocked, Exposed};
pub use folder::{FolderHandle, for_new_file};
pub use marks_file::add_mark;
pub use member::Refused;
pub use naming::{is_recording, newest, next_name};
pub use place::{elsewhere, open_named};
pub use reader::Reader;
pub use segments::{Keep, SegmentedWriter, Segments, Stored};
pub use whole::Recording;
pub use writer::Writer;

use model::Timestamp;

/// The file that makes a folder a recording.
const META_FILE: &str = "meta.json";

/// How a recording's folder ends.
const FOLDER_EXTENSION: &str = "stall";

/// The extension of tables.
const TABLE_EXTENSION: &str = "arrow";

/// Whether an instant can be one of a machine's boot clock.
///
/// Times outside (73 years are in) are damage. Holding them off here lets every later reader
/// subtract two times without a thought of overflow.
fn plausible(time: Timestamp) -> bool {
    (0..1 << 61).contains(&time.as_ns())
}
