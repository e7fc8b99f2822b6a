//! Files and folders that must not stay half done: an interrupt takes them away before the program ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use host::Interrupts;

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Files may be added to a folder while it is removed.
const TRIES: usize = 10;

/// A file or folder that was made here, and goes on an interrupt for as long as this lives.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// To be called when the path was made, and not before: what was there already is not ours.
    pub(crate) fn new(path: &Path) -> Self {
        all().push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        all().retain(|path| *path != self.0);
    }
}

/// Ends the program on an interrupt, with the status that a shell expects, once nothing unfinished is
/// left.
pub(crate) fn watch() -> Result<Interrupts> {
    let watched = Interrupts::watch(|interrupt| {
        // Held until the end: what is unfinished now does not become finished meanwhile.
        let paths = all();
        paths.iter().for_each(|path| remove(path));
        std::process::exit(128 + interrupt.signal);
    })?;
    Ok(watched)
}

fn remove(path: &Path) {
    for _ in 0..TRIES {
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
        if removed.is_ok() {
            return;
        }
    }
}

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
