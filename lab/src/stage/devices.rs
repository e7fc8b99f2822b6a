//! Disks below folders, and what the page cache holds of their files.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise, fsync, major, minor};

/// The whole disk that a folder lies on, as `major:minor`: limits are not taken for partitions.
pub fn device_of(folder: &Path) -> Result<String> {
    let disk = disk_of(folder)?;
    let text = fs::read_to_string(disk.join("dev"))
        .with_context(|| format!("{} has no number", disk.display()))?;
    Ok(text.trim().to_owned())
}

/// The name of the whole disk that a folder or file lies on.
pub fn disk_name_of(path: &Path) -> Result<String> {
    let disk = disk_of(path)?;
    let name = disk
        .file_name()
        .with_context(|| format!("{} has no name", disk.display()))?;
    Ok(name.to_string_lossy().into_owned())
}

/// Where the kernel shows it.
fn disk_of(path: &Path) -> Result<PathBuf> {
    let number = fs::metadata(path)
        .with_context(|| format!("cannot look at {}", path.display()))?
        .dev();
    let known = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    let known = fs::canonicalize(&known)
        .with_context(|| format!("{} lies on no block device ({known})", path.display()))?;
    match known.join("partition").exists() {
        true => Ok(known.parent().unwrap_or(&known).to_path_buf()),
        false => Ok(known),
    }
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
