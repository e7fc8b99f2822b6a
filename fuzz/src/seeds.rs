//! What there is to begin with: the fixtures of the repository, and inputs that once broke something.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// An input and where it is from.
pub struct Seed {
    /// For a message, and for the name of its file.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

impl Seed {
    /// A seed by its name.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            bytes: bytes.into(),
        }
    }
}

/// Every file below a folder, whatever it is, in the order of paths.
///
/// # Errors
/// A folder or a file that cannot be read.
pub fn files(folder: &Path) -> Result<Vec<Seed>> {
    let mut found = Vec::new();
    gather(folder, folder, &mut found)?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The inputs that once broke a target.
///
/// # Errors
/// A folder or a file that cannot be read.
pub fn kept(target: &str) -> Result<Vec<Seed>> {
    let folder = crate::repository().join("fuzz/kept").join(target);
    if folder.is_dir() {
        files(&folder)
    } else {
        Ok(Vec::new())
    }
}

fn gather(top: &Path, folder: &Path, found: &mut Vec<Seed>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            gather(top, &path, found)?;
        } else {
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.strip_prefix(top).unwrap_or(&path);
            found.push(Seed::new(name.to_string_lossy().replace('/', "-"), bytes));
        }
    }
    Ok(())
}
