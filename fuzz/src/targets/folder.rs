//! A recording from elsewhere, opened and explained.
//!
//! The first byte of an input says which file of a small recording is replaced by the rest, and of which
//! format the recording is: see `FILES` and `FORMATS`.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use recording::{Reader, Recording};
use tempfile::TempDir;

use crate::{Seed, Target, sums};

pub const TARGET: Target = Target {
    name: "folder",
    feed,
    seeds,
    affordable: 1_000,
};

/// The last puts a table under a name that sensors use.
const FILES: [&str; 5] = [
    "meta.json",
    "entities.arrow",
    "strings.arrow",
    "threads.arrow",
    "pressure.arrow",
];
/// The one that no fixture has.
const EMPTY: &str = "pressure.arrow";

/// Fixtures. In the last checksums stay as they are, in the one before they are made to fit.
const FORMATS: [&str; 4] = [
    "format-2.stall",
    "format-1.stall",
    "format-7.stall",
    "format-7.stall",
];
const SUMS_FIT: usize = 2;

fn feed(bytes: &[u8]) {
    if let Some((_folder, recording)) = open(bytes) {
        super::diagnosis::judge(&recording.timeline, &recording.meta, None);
    }
}

/// Opens the recording that an input makes, if it is taken for one.
pub fn open(bytes: &[u8]) -> Option<(TempDir, Recording)> {
    let (which, content) = bytes.split_first()?;
    let (format, file) = (
        usize::from(which & 3),
        usize::from(which >> 2) % FILES.len(),
    );
    let content = match (file, format) {
        (0, SUMS_FIT) => sums::meta(content.to_vec()),
        (_, SUMS_FIT) => sums::table(content.to_vec()),
        _ => content.to_vec(),
    };
    let folder = tempfile::tempdir().expect("there is room for a small folder");
    // A file that a format does not have is not there; only the table under the other name is empty.
    let files = FILES.iter().zip(&whole()[format]);
    for (name, whole) in files.filter(|(name, whole)| !whole.is_empty() || **name == EMPTY) {
        fs::write(folder.path().join(name), whole).expect("there is room for a small file");
    }
    fs::write(folder.path().join(FILES[file]), &content).expect("there is room for a small file");
    let Ok(recording) = Reader::open(folder.path()) else {
        assert_eq!(file, 0, "a damaged table is no reason to refuse the others");
        return None;
    };
    for lost in &recording.damage {
        assert!(lost.offset <= content.len() as u64, "{lost}");
    }
    check(&recording);
    Some((folder, recording))
}

/// What every later reader relies on.
pub fn check(recording: &Recording) {
    for table in recording.timeline.tables() {
        for row in 0..table.len() {
            let time = table.key(row).0.as_ns();
            assert!((0..1 << 61).contains(&time), "{time} is no time since boot");
        }
    }
    for lost in &recording.damage {
        assert!(!lost.what.is_empty(), "{lost:?}");
    }
}

/// The files of the small recordings; the last of each is empty, which is damage of that table alone.
fn whole() -> &'static [Vec<Vec<u8>>] {
    static WHOLE: OnceLock<Vec<Vec<Vec<u8>>>> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let read = |format: &str, name: &str| {
            fs::read(path_of(crate::repository(), format, name)).unwrap_or_default()
        };
        let files = |format| FILES.iter().map(|name| read(format, name)).collect();
        FORMATS.into_iter().map(files).collect()
    })
}

fn path_of(repository: &Path, format: &str, name: &str) -> std::path::PathBuf {
    let fixtures = repository.join("crates/recording/fixtures");
    fixtures.join(format).join(name)
}

/// Every file of every format, as it is and without compression.
pub fn seeds(repository: &Path) -> Result<Vec<Seed>> {
    let mut found = Vec::new();
    for (format, fixture) in FORMATS.into_iter().enumerate() {
        for (file, name) in FILES.into_iter().enumerate() {
            let path = path_of(repository, fixture, name);
            if !path.exists() {
                continue;
            }
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let which = (file << 2 | format) as u8;
            if file > 0 {
                // Compression hides what is inside from changes of single bytes.
                let plain = sums::table(uncompressed(&bytes)?);
                found.push(seed(which, &format!("plain-{format}-{name}"), &plain));
            }
            found.push(seed(which, &format!("{format}-{name}"), &bytes));
        }
    }
    Ok(found)
}

fn seed(which: u8, name: &str, content: &[u8]) -> Seed {
    Seed::new(name, [&[which], content].concat())
}

fn uncompressed(stream: &[u8]) -> Result<Vec<u8>> {
    let reader = StreamReader::try_new(stream, None)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &reader.schema())?;
    for batch in reader {
        writer.write(&batch?)?;
    }
    Ok(writer.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_a_whole_recording() {
        for seed in seeds(crate::repository()).expect("the fixtures can be read") {
            let (_folder, recording) = open(&seed.bytes).expect("it is one");
            // The table under the other name is empty in all of them.
            let damage = recording.damage.iter();
            let damage: Vec<_> = damage.filter(|it| it.table != "pressure").collect();
            assert!(damage.is_empty(), "{}: {damage:?}", seed.name);
        }
    }
}
