//! What has to be put back, written down before it is changed.
//!
//! Whoever changes something and whoever watches over it hold a shared lock beside the journal. Where nobody holds one,
//! both are dead, and the next command puts back what stands there (`repair`).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use kernel::Hierarchies;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::{Change, Error, Stopped};

/// Of a journal more is not read, bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The end of a journal's name.
const JOURNAL: &str = "json";
/// The end of its lock's.
const LOCK: &str = "lock";

/// All that is to be put back.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Capacities.
    pub changes: Vec<Change>,
    /// Processes.
    pub stopped: Vec<Stopped>,
}

impl Entry {
    /// Puts everything back.
    ///
    /// # Errors
    /// The first refusal; everything else is put back all the same.
    pub fn restore(&self) -> Result<(), Error> {
        let mut result = Ok(());
        for process in &self.stopped {
            result = result.and(process.resume());
        }
        for change in self.changes.iter().rev() {
            result = result.and(change.restore());
        }
        result
    }

    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.stopped.is_empty()
    }
}

/// The journal of one process.
#[derive(Debug)]
pub struct Journal {
    file: PathBuf,
    _lock: File,
}

impl Journal {
    /// A new one, of this process.
    ///
    /// # Errors
    /// There is no folder that only this user can write in.
    pub fn create() -> Result<Self, Error> {
        let folder = folder()?;
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
            .create(&folder)
            .map_err(|error| refused(&folder, &error.to_string()))?;
        is_private(&folder)?;
        Self::at(folder.join(format!("{}.{JOURNAL}", std::process::id())))
    }

    /// The journal of another process, to watch over it.
    ///
    /// # Errors
    /// Its lock cannot be taken.
    pub fn at(file: PathBuf) -> Result<Self, Error> {
        let path = file.with_extension(LOCK);
        let lock = opened(&path).map_err(|error| refused(&path, &error.to_string()))?;
        flock(&lock, FlockOperation::LockShared)
            .map_err(|errno| refused(&path, &io::Error::from(errno).to_string()))?;
        Ok(Self { file, _lock: lock })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Writes down what is to be put back from now on: it takes the place of what was there, whole.
    ///
    /// # Errors
    /// It cannot be written: nothing may be changed then.
    pub fn write(&self, entry: &Entry) -> Result<(), Error> {
        if entry.is_empty() {
            return self.clear();
        }
        let new = self.file.with_extension("new");
        let written = || -> io::Result<()> {
            let mut file = options()
                .write(true)
                .create(true)
                .truncate(true)
                .open(&new)?;
            file.write_all(&serde_json::to_vec(entry)?)?;
            fs::rename(&new, &self.file)
        };
        written().map_err(|error| refused(&self.file, &error.to_string()))
    }

    /// Nothing is to be put back.
    ///
    /// # Errors
    /// The journal cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(refused(&self.file, &error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// What is to be put back now; `None` for nothing.
    ///
    /// # Errors
    /// It cannot be read, or is no journal.
    pub fn read(&self) -> Result<Option<Entry>, Error> {
        read(&self.file)
    }

    /// Removes it, and its lock, once nothing is to be put back any more.
    ///
    /// # Errors
    /// The journal cannot be removed.
    pub fn end(self) -> Result<(), Error> {
        self.clear()?;
        // Left behind it is an empty file.
        let _ = fs::remove_file(self.file.with_extension(LOCK));
        Ok(())
    }
}

/// What a command put back that a dead one had changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repaired {
    /// The groups that have their limits again.
    pub groups: Vec<PathBuf>,
    /// The processes that go on.
    pub processes: Vec<u32>,
}

/// Puts back what processes left that died together with those that watched over them.
///
/// # Errors
/// A journal that cannot be read, or a limit that cannot be put back; journals behind it are left for the next command.
pub fn repair() -> Result<Vec<Repaired>, Error> {
    match folder() {
        // One that others can write in, or that is another user's (as in a user namespace), is none of ours.
        Ok(folder) if is_private(&folder).is_ok() => repair_in(&folder),
        _ => Ok(Vec::new()),
    }
}

fn repair_in(folder: &Path) -> Result<Vec<Repaired>, Error> {
    let mut repaired = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let lock = entry.path();
        if lock.extension().is_none_or(|it| it != LOCK) {
            continue;
        }
        let Ok(file) = opened(&lock) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            // Its process lives, or the one that watches over it.
            continue;
        }
        let journal = lock.with_extension(JOURNAL);
        if let Some(left) = read(&journal)? {
            left.restore()?;
            repaired.push(Repaired {
                groups: left
                    .changes
                    .iter()
                    .filter_map(|it| it.group().map(Path::to_owned))
                    .collect(),
                processes: left.stopped.iter().map(|it| it.pid()).collect(),
            });
        }
        for file in [journal.with_extension("new"), journal, lock] {
            let _ = fs::remove_file(file);
        }
    }
    Ok(repaired)
}

/// Where journals are: a folder that does not outlive the machine's run, as cgroups do not.
fn folder() -> Result<PathBuf, Error> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/run/stallscope"));
    }
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|it| it.is_absolute() && it.is_dir());
    own.map(|it| it.join("stallscope"))
        .ok_or_else(|| refused(Path::new("$XDG_RUNTIME_DIR"), "it names no folder"))
}

/// A folder that somebody else can write in would let them have files written.
fn is_private(folder: &Path) -> Result<(), Error> {
    let found =
        fs::symlink_metadata(folder).map_err(|error| refused(folder, &error.to_string()))?;
    let own = rustix::process::geteuid().as_raw();
    match found.is_dir() && found.uid() == own && found.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(refused(folder, "others can write in it: remove it")),
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    options.mode(0o600).custom_flags(flags.cast_signed());
    options
}

fn opened(path: &Path) -> io::Result<File> {
    options().read(true).write(true).create(true).open(path)
}

fn read(path: &Path) -> Result<Option<Entry>, Error> {
    let file = match options().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(path, &error.to_string())),
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(path, &error.to_string()))?;
    let entry: Entry = serde_json::from_slice(&bytes)
        .map_err(|_| refused(path, "it is no journal of this program: remove it"))?;
    let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let hierarchies = Hierarchies::from_mountinfo(&mounts, Path::new("/"));
    match entry.changes.iter().all(|it| it.is_of_groups(&hierarchies)) {
        true => Ok(Some(entry)),
        false => Err(refused(
            path,
            "it names files that are no limits of groups: remove it",
        )),
    }
}

fn refused(path: &Path, why: &str) -> Error {
    Error::Journal {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lowered;
    use crate::held::tests::held;

    fn private() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn what_the_dead_left_is_put_back_and_the_living_are_left_alone() {
        let Some((_group, mut child, held)) = held("journal") else {
            return;
        };
        let folder = private();
        let journal = Journal::at(folder.path().join("7.json")).expect("a lock");
        let change = held.change(&Lowered::Cpu(0.25)).expect("it is ours");
        let entry = Entry {
            changes: vec![change.clone()],
            stopped: vec![Stopped::of(child.id()).expect("it runs")],
        };
        journal.write(&entry).expect("it is ours");
        assert_eq!(journal.read().expect("it is ours"), Some(entry.clone()));
        change.apply().expect("the kernel takes it");
        entry.stopped[0].stop().expect("it is ours");
        assert_eq!(repair_in(folder.path()).expect("it is ours"), []);
        assert_eq!(held.quota().expect("a group"), Some(0.25));
        // As if its process had died.
        drop(journal);
        let repaired = repair_in(folder.path()).expect("it is ours");
        assert_eq!(repaired.len(), 1);
        assert_eq!(repaired[0].processes, [child.id()]);
        assert_eq!(held.quota().expect("a group"), None);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        assert_eq!(repair_in(folder.path()).expect("it is ours"), []);
        child.kill().expect("it sleeps");
        child.wait().expect("it ended");
    }

    #[test]
    fn a_journal_may_name_nothing_but_limits() {
        let folder = private();
        let file = folder.path().join("7.json");
        for text in [
            "no json",
            r#"{"changes":[{"steps":[{"path":"/etc/passwd","lowered":"1","before":"2"}]}],"stopped":[]}"#,
            r#"{"changes":[{"steps":[{"path":"/sys/fs/cgroup/../../../etc/cpu.max","lowered":"1","before":"2"}]}],"stopped":[]}"#,
        ] {
            fs::write(&file, text).expect("a file");
            assert!(read(&file).is_err(), "{text}");
        }
    }
}
