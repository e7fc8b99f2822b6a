//! Disks below folders, and what the page cache holds of their files.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise, fsync, major, minor};

/// The whole disk that a folder lies on, as `major:minor`: limits are not taken for partitions.
pub fn device_of(folder: &Path) -> Result<String> {
    let number = fs::metadata(folder)
        .with_context(|| format!("cannot look at {}", folder.display()))?
        .dev();
    let known = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    let known = fs::canonicalize(&known)
        .with_context(|| format!("{} lies on no block device ({known})", folder.display()))?;
    let disk = if known.join("partition").exists() {
        known.parent().unwrap_or(&known).to_path_buf()
    } else {
        known
    };
    let text = fs::read_to_string(disk.join("dev"))
        .with_context(|| format!("{} has no number", disk.display()))?;
    Ok(text.trim().to_owned())
}

/// Writes a folder's files to disk and drops them from the page cache, so that the next reads reach
/// the disk and are charged to whoever reads.
pub fn forget_cached(folder: &Path) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries.flatten() {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            forget_cached(&entry.path())?;
        } else if kind.is_file() {
            let file = File::open(entry.path())?;
            // Pages that are not yet written cannot be dropped.
            fsync(&file)?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_files_can_be_forgotten() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("a")).expect("a folder");
        fs::write(folder.path().join("a/b"), "text").expect("written");
        forget_cached(folder.path()).expect("forgotten");
        assert!(forget_cached(&folder.path().join("absent")).is_err());
    }
}
