//! Files and folders that must not stay half done: an interrupt takes them away before the program ends.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use anyhow::Result;
use kernel::Interrupts;
use recording::FolderHandle;

static UNFINISHED: Mutex<Vec<Arc<Entry>>> = Mutex::new(Vec::new());
/// Files may be added to a folder while it is removed.
const TRIES: usize = 10;
/// How often, and how long each time, an interrupt waits for something that is just being made: a disk
/// that does not answer must not keep the program from ending.
const WAITS: usize = 100;
const WAIT: Duration = Duration::from_millis(20);

/// What is not finished, and how it is found again.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A folder in the folder for temporary files.
    Temporary(PathBuf),
    /// A folder that is held open.
    Folder(Arc<FolderHandle>),
    /// A file in one.
    File(Arc<FolderHandle>, OsString),
}

/// A file or folder that was made here, and goes on an interrupt for as long as this lives.
pub(crate) struct TemporaryOutput(Arc<Entry>);

impl TemporaryOutput {
    /// Makes it. An interrupt comes before it is made, or when it is known that it was: under load there
    /// may be long between the two. What was there already is not ours, and its maker must refuse it.
    ///
    /// What was made is to be dropped first.
    pub(crate) fn make<T, E>(
        make: impl FnOnce() -> std::result::Result<T, E>,
        entry: impl FnOnce(&T) -> Entry,
    ) -> std::result::Result<(Self, T), E> {
        let mut all = all();
        let made = make()?;
        let entry = Arc::new(entry(&made));
        all.push(entry.clone());
        Ok((Self(entry), made))
    }
}

impl Drop for TemporaryOutput {
    fn drop(&mut self) {
        all().retain(|entry| !Arc::ptr_eq(entry, &self.0));
    }
}

/// Ends the program on an interrupt, with the status that a shell expects, once nothing unfinished is
/// left.
pub(crate) fn watch() -> Result<Interrupts> {
    let watched = Interrupts::watch(|interrupt| {
        // Held until the end: what is unfinished now does not become finished meanwhile.
        let entries = patiently();
        entries
            .iter()
            .flat_map(|all| all.iter())
            .for_each(|entry| remove(entry));
        std::process::exit(128 + interrupt.signal);
    })?;
    Ok(watched)
}

fn remove(entry: &Entry) {
    for _ in 0..TRIES {
        let removed = match entry {
            Entry::Temporary(path) => fs::remove_dir_all(path),
            Entry::Folder(folder) => folder.remove_all(),
            Entry::File(folder, name) => folder.remove(name),
        };
        if removed.is_ok() {
            return;
        }
    }
}

fn all() -> MutexGuard<'static, Vec<Arc<Entry>>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn patiently() -> Option<MutexGuard<'static, Vec<Arc<Entry>>>> {
    for _ in 0..WAITS {
        match UNFINISHED.try_lock() {
            Ok(all) => return Some(all),
            Err(TryLockError::Poisoned(all)) => return Some(all.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interrupt_comes_between_the_making_and_the_knowing() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("x");
        let made = || {
            fs::create_dir(&path)?;
            // It finds the list held, and waits.
            assert!(matches!(
                UNFINISHED.try_lock(),
                Err(TryLockError::WouldBlock)
            ));
            std::io::Result::Ok(())
        };
        let entry = |_: &()| Entry::Temporary(path.clone());
        let known = || {
            let all = patiently().expect("nobody holds it");
            let mut temporary = all.iter().map(|entry| match &**entry {
                Entry::Temporary(path) => path.clone(),
                _ => PathBuf::new(),
            });
            temporary.any(|it| it == path)
        };
        let (temporary_output, ()) = TemporaryOutput::make(made, entry).expect("it is made");
        assert!(known());
        let again = TemporaryOutput::make(|| fs::create_dir(&path), entry);
        assert!(again.is_err(), "what is there is not ours");
        drop(temporary_output);
        assert!(!known());
    }
}
