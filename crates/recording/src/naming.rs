//! Names of recordings: the next free one, and the newest that is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{Error, FOLDER_EXTENSION, FolderHandle, META_FILE, Result, Segments};

/// Long enough for any program's name, short enough for any file system's.
const STEM_BYTES: usize = 60;

/// The newest recording directly inside `folder`, by the time its `meta.json` was written.
pub fn newest(folder: &Path) -> Result<PathBuf> {
    fs::read_dir(folder)
        .map_err(Error::read(folder))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == FOLDER_EXTENSION)
        })
        .filter_map(|path| Some((described_at(&path)?, path)))
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| Error::NoneFound {
            folder: folder.to_owned(),
        })
}

/// Whether a folder is a recording, by what it is called within.
pub fn is_recording(path: &Path) -> bool {
    let is_segmented = || Segments::of(&FolderHandle::open(path).ok()?).ok()?;
    path.join(META_FILE).is_file() || is_segmented().is_some()
}

/// When the description of a recording was written, or that of its newest segment.
fn described_at(path: &Path) -> Option<SystemTime> {
    if let Ok(about) = fs::metadata(path.join(META_FILE)) {
        return about.modified().ok();
    }
    let segments = Segments::of(&FolderHandle::open(path).ok()?).ok()??;
    let newest = path.join(segments.newest()).join(META_FILE);
    fs::metadata(newest).ok()?.modified().ok()
}

/// The name of the next recording in `folder`: `<stem>-<n>.stall`, numbered above all that exist.
pub fn next_name(folder: &Path, stem: &str) -> PathBuf {
    let stem = sanitised(stem);
    let highest = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| number_of(entry.file_name().to_str()?, &stem))
        .max();
    let number = highest.unwrap_or(0).saturating_add(1);
    folder.join(format!("{stem}-{number}.{FOLDER_EXTENSION}"))
}

/// The number in `<stem>-<n>.stall`; `None` for every other name.
fn number_of(name: &str, stem: &str) -> Option<u64> {
    let digits = name
        .strip_prefix(stem)?
        .strip_prefix('-')?
        .strip_suffix(".stall")?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())?
}

/// A stem that is a safe part of a file's name and of a command line: a leading `-` would be taken
/// for an option, a leading `.` would hide the recording.
fn sanitised(stem: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '-'
        }
    };
    let replaced: String = stem.chars().map(safe).collect();
    let trimmed = replaced.trim_start_matches(['.', '-']);
    // All characters are ASCII by now, so that a byte is a character.
    let cut = trimmed[..trimmed.len().min(STEM_BYTES)].trim_end_matches('-');
    if cut.is_empty() {
        "recording".to_owned()
    } else {
        cut.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_next_number_is_above_all_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let name = |stem| {
            next_name(folder.path(), stem)
                .file_name()
                .unwrap()
                .to_owned()
        };
        assert_eq!(name("pgbench"), "pgbench-1.stall");
        for taken in [
            "pgbench-1.stall",
            "pgbench-7.stall",
            "pgbench-x.stall",
            "pgbench-9.txt",
            "pg-40.stall",
        ] {
            fs::create_dir(folder.path().join(taken)).unwrap();
        }
        assert_eq!(name("pgbench"), "pgbench-8.stall");
        assert_eq!(name("pg"), "pg-41.stall");
    }

    #[test]
    fn a_stem_is_made_safe() {
        assert_eq!(sanitised("my tool"), "my-tool");
        assert_eq!(sanitised("../../etc/passwd"), "etc-passwd");
        assert_eq!(sanitised("-rf"), "rf");
        assert_eq!(sanitised("..."), "recording");
        assert_eq!(sanitised(""), "recording");
        assert_eq!(sanitised("é"), "recording");
    }

    #[test]
    fn the_newest_is_told_by_its_meta() {
        let folder = tempfile::tempdir().unwrap();
        let none = newest(folder.path()).unwrap_err().to_string();
        let path = folder.path().display();
        assert_eq!(
            none,
            format!("no recording in {path}: record one with: stallscope run -- COMMAND")
        );
        for (name, age_s) in [("b-1.stall", 10), ("a-1.stall", 5), ("c-1.stall", 20)] {
            fs::create_dir(folder.path().join(name)).unwrap();
            let meta = fs::File::create(folder.path().join(name).join(META_FILE)).unwrap();
            let written = std::time::SystemTime::now() - std::time::Duration::from_secs(age_s);
            meta.set_modified(written).unwrap();
        }
        fs::create_dir(folder.path().join("d-1.stall")).unwrap();
        assert_eq!(
            newest(folder.path()).unwrap(),
            folder.path().join("a-1.stall")
        );
    }

    proptest! {
        #[test]
        fn any_stem_becomes_a_safe_one(stem in "\\PC*") {
            let safe = sanitised(&stem);
            prop_assert!(!safe.is_empty() && safe.len() <= STEM_BYTES);
            prop_assert!(!safe.starts_with(['.', '-']));
            prop_assert!(safe.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)));
        }
    }
}
