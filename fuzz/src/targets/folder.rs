//! A recording from elsewhere, opened and explained.
//!
//! The first byte of an input says which file of a small recording is replaced by the rest: 0 is
//! `meta.json`, 1 the entity list, 2 a table; 3 puts the table under a name that sensors use.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use recording::Reader;

use crate::{Seed, Target};

pub const TARGET: Target = Target {
    name: "folder",
    feed,
    seeds,
    affordable: 1_000,
};

const FILES: [&str; 4] = [
    "meta.json",
    "entities.arrow",
    "threads.arrow",
    "pressure.arrow",
];
const FIXTURE: &str = "crates/recording/fixtures/format-2.stall";

fn feed(bytes: &[u8]) {
    let Some((which, content)) = bytes.split_first() else {
        return;
    };
    let folder = tempfile::tempdir().expect("there is room for a small folder");
    for (name, whole) in FILES.iter().zip(whole()) {
        fs::write(folder.path().join(name), whole).expect("there is room for a small file");
    }
    let name = FILES[usize::from(*which) % FILES.len()];
    fs::write(folder.path().join(name), content).expect("there is room for a small file");
    let Ok(recording) = Reader::open(folder.path()) else {
        assert_eq!(
            name, FILES[0],
            "a damaged table is no reason to refuse the others"
        );
        return;
    };
    for table in recording.timeline.tables() {
        for row in 0..table.len() {
            let time = table.key(row).0.as_ns();
            assert!((0..1 << 61).contains(&time), "{time} is no time since boot");
        }
    }
    for lost in &recording.damage {
        assert!(lost.offset <= content.len() as u64, "{lost}");
    }
    super::diagnosis::judge(&recording.timeline, &recording.meta, None);
}

/// The files of the small recording; the last is empty, which is damage of that table alone.
fn whole() -> &'static [Vec<u8>] {
    static WHOLE: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let read = |name: &&str| {
            let path = crate::repository().join(FIXTURE).join(name);
            fs::read(path).unwrap_or_default()
        };
        FILES.iter().map(read).collect()
    })
}

fn seeds(repository: &Path) -> Result<Vec<Seed>> {
    let mut found = Vec::new();
    for (which, name) in FILES.iter().enumerate().take(3) {
        let path = repository.join(FIXTURE).join(name);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if which > 0 {
            // Compression hides what is inside from changes of single bytes.
            let plain = uncompressed(&bytes)?;
            found.push(seed(which, &format!("plain-{name}"), &plain));
        }
        found.push(seed(which, name, &bytes));
    }
    Ok(found)
}

fn seed(which: usize, name: &str, content: &[u8]) -> Seed {
    Seed::new(name, [&[which as u8], content].concat())
}

fn uncompressed(stream: &[u8]) -> Result<Vec<u8>> {
    let reader = StreamReader::try_new(stream, None)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &reader.schema())?;
    for batch in reader {
        writer.write(&batch?)?;
    }
    Ok(writer.into_inner()?)
}
