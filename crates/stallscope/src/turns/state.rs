//! What is kept of an experiment beside its recordings, so that the same command goes on where an earlier one stopped.
//!
//! A file is written anew after each run and takes the old one's place whole. Where root writes, the folder is one into
//! which no other user can put anything, as for recordings.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use recording::{Blocked, FolderHandle, Refused};
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The state's file in the experiment's folder.
const FILE: &str = "experiment.json";
/// Who has it locked runs the experiment.
const LOCK: &str = "experiment.lock";
/// A state of more bytes is none of ours.
const MOST_BYTES: u64 = 16 << 20;

/// What an experiment is of: with another one it does not go on.
pub(crate) trait Design: PartialEq + Serialize + DeserializeOwned {
    /// Name and version of the form of its state.
    const SCHEMA: &'static str;

    /// What another design has in another way, in words; `None` where they are the same.
    fn differs(&self, other: &Self) -> Option<String>;
}

/// A run that was begun.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Its recording's folder.
    pub(crate) name: String,
    /// The place of its command, or of its configuration.
    pub(crate) arm: usize,
    /// The values of its parameters, of a sweep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<String>,
    /// From 1 on.
    pub(crate) round: u32,
    /// What it took, s.
    pub(crate) took_s: f64,
    /// Why it does not count; `None` where it does.
    pub(crate) voided: Option<String>,
    /// Whether it has not ended yet.
    pub(crate) is_open: bool,
}

impl Run {
    /// One that begins now.
    pub(crate) fn open(name: String, arm: usize, round: u32) -> Self {
        Self {
            name,
            arm,
            values: Vec::new(),
            round,
            took_s: 0.0,
            voided: None,
            is_open: true,
        }
    }

    /// It has ended.
    pub(crate) fn close(&mut self, took_s: f64, voided: Option<String>) {
        self.took_s = took_s;
        self.voided = voided;
        self.is_open = false;
    }
}

/// All that is known of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct State<D> {
    schema: String,
    pub(crate) design: D,
    /// What the order of the runs follows from.
    pub(crate) seed: u64,
    /// In the order in which they were begun.
    pub(crate) runs: Vec<Run>,
}

/// The experiment's folder, which nobody else runs in meanwhile.
pub(crate) struct Folder {
    handle: FolderHandle,
    _lock: File,
}

impl Folder {
    /// Opens the folder, or makes it where there is none.
    ///
    /// # Errors
    /// One sentence: it cannot be made, others may write in it, or another process runs in it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            drop(FolderHandle::create(path)?);
        }
        let shown = path.display();
        // The way to a file in it leads through the folder itself.
        let handle = match recording::for_new_file(&path.join(FILE)) {
            Ok((handle, _)) => handle,
            Err(Blocked::Exposed(exposed)) => bail!(
                "the experiment is not kept in {shown} as root: {exposed}. Choose a place where only root may write: --folder {}",
                recording::elsewhere(path).display()
            ),
            Err(Blocked::Io(error)) => {
                return Err(error).with_context(|| format!("cannot open the folder {shown}"));
            }
        };
        let lock = match handle.create_file(LOCK) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                handle.open_file(LOCK)
            }
            made => made,
        };
        let lock = lock.with_context(|| format!("cannot open {LOCK} in {shown}"))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!(
                "another stallscope runs the experiment in {shown}. Wait for its end, or name another folder: --folder F"
            );
        }
        Ok(Self {
            handle,
            _lock: lock,
        })
    }

    /// Its path as it was typed.
    pub(crate) fn path(&self) -> &Path {
        self.handle.path()
    }

    /// Whether an experiment may begin in it.
    ///
    /// # Errors
    /// Something else is in it.
    pub(crate) fn is_free(&self) -> Result<()> {
        let shown = self.path().display();
        let names = self
            .handle
            .names()
            .with_context(|| format!("cannot read {shown}"))?;
        if let Some(other) = names.iter().find(|it| **it != LOCK) {
            let other = other.to_string_lossy();
            bail!(
                "{shown} holds other files ({other}), and no experiment. Name a folder that is empty, or not there yet: --folder F"
            );
        }
        Ok(())
    }

    /// Makes a file that must not exist.
    pub(crate) fn create(&self, name: &str) -> Result<File> {
        let shown = || format!("cannot make {}", self.handle.path_of(name).display());
        self.handle.create_file(name).with_context(shown)
    }

    /// The state of the experiment in it; `None` where none was begun.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub(crate) fn state<D: Design>(&self) -> Result<Option<State<D>>> {
        let path = self.handle.path_of(FILE);
        let shown = path.display();
        let (file, length) = match self.handle.read(FILE) {
            Ok(opened) => opened,
            Err(Refused::Read(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(Refused::Read(error)) => {
                return Err(error).with_context(|| format!("cannot read {shown}"));
            }
            Err(Refused::Kind(why)) => bail!("cannot read {shown}: {why}"),
        };
        let other = "Name another folder to begin anew: --folder F";
        if length > MOST_BYTES {
            bail!("{shown} is too long for the state of an experiment. {other}");
        }
        let state: State<D> = read(file, &shown.to_string())?;
        if state.schema != D::SCHEMA {
            bail!("{shown} is of another version, {}. {other}", state.schema);
        }
        Ok(Some(state))
    }

    /// Writes the state in the place of the old one.
    pub(crate) fn save<D: Design>(&self, state: &State<D>) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let (name, mut file) = self.handle.create_temporary(".experiment-")?;
            let written = serde_json::to_vec_pretty(state)
                .map_err(std::io::Error::from)
                .and_then(|text| file.write_all(&text))
                .and_then(|()| self.handle.rename(&name, FILE));
            if written.is_err() {
                // What is left of it helps nobody.
                let _ = self.handle.remove(&name);
            }
            written
        };
        write().with_context(|| format!("cannot write {}", self.handle.path_of(FILE).display()))
    }
}

/// Reads the text of a state.
fn read<T: DeserializeOwned>(file: File, shown: &str) -> Result<T> {
    let mut text = String::new();
    file.take(MOST_BYTES)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {shown}"))?;
    serde_json::from_str(&text)
        .map_err(|error| anyhow!("{shown} is damaged: {error}. Name another folder: --folder F"))
}

/// What a folder holds, for who runs nothing in it.
pub(crate) enum Kept<D> {
    /// No experiment.
    Nothing,
    /// An experiment of this kind.
    Own(State<D>),
    /// One of another kind or version.
    Other,
}

/// The experiment in a folder, which may be running.
///
/// # Errors
/// It cannot be read.
pub(crate) fn kept<D: Design>(folder: &Path) -> Result<Kept<D>> {
    let path = folder.join(FILE);
    let shown = path.display().to_string();
    // A pipe of that name would be waited for for ever.
    if !path.is_file() {
        return Ok(Kept::Nothing);
    }
    let file = File::open(&path).with_context(|| format!("cannot read {shown}"))?;
    let value: serde_json::Value = read(file, &shown)?;
    if value.get("schema").and_then(|it| it.as_str()) != Some(D::SCHEMA) {
        return Ok(Kept::Other);
    }
    let state = serde_json::from_value(value);
    Ok(Kept::Own(
        state.map_err(|error| anyhow!("{shown} is damaged: {error}"))?,
    ))
}

impl<D: Design> State<D> {
    /// The experiment of the folder, which must be this one; a new one where there is none.
    ///
    /// # Errors
    /// One sentence: the folder holds another experiment or other files, or cannot be read or written.
    pub(crate) fn begun(folder: &Folder, design: D) -> Result<Self> {
        let shown = folder.path().display();
        let Some(mut state) = folder.state::<D>()? else {
            folder.is_free()?;
            let seed = getrandom::u64().map_err(|error| anyhow!("no random numbers: {error}"))?;
            // JSON's readers keep 53 bits of a number.
            let state = Self::new(design, (seed >> 12).max(1));
            folder.save(&state)?;
            return Ok(state);
        };
        if let Some(differs) = state.design.differs(&design) {
            bail!(
                "{shown} is of another experiment: {differs}. Repeat its command to go on, or name another folder: --folder F"
            );
        }
        // Whoever ran it then ended before it could say so.
        for run in state.runs.iter_mut().filter(|it| it.is_open) {
            run.close(0.0, Some("it was cut off".to_owned()));
        }
        folder.save(&state)?;
        Ok(state)
    }

    /// An experiment in which nothing was run.
    fn new(design: D, seed: u64) -> Self {
        Self {
            schema: D::SCHEMA.to_owned(),
            design,
            seed,
            runs: Vec::new(),
        }
    }

    /// What its runs took, s.
    pub(crate) fn spent_s(&self) -> f64 {
        self.runs.iter().map(|it| it.took_s).sum()
    }

    /// The next round: one that was left in the middle is not gone on with, since what the machine did in between lies
    /// between its runs.
    pub(crate) fn next_round(&self) -> u32 {
        self.runs.iter().map(|it| it.round).max().unwrap_or(0) + 1
    }
}

/// A folder here of this kind, `sweep-1`, that is not there yet.
pub(crate) fn free_folder(kind: &str) -> PathBuf {
    let names = (1..).map(|number| PathBuf::from(format!("{kind}-{number}")));
    let mut free = names.filter(|it| std::fs::symlink_metadata(it).is_err());
    free.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    struct Anything(u32);

    impl Design for Anything {
        const SCHEMA: &'static str = "test/1";

        fn differs(&self, other: &Self) -> Option<String> {
            (self != other).then(|| format!("it is {}, and not {}", self.0, other.0))
        }
    }

    fn state(folder: &Folder) -> Result<Option<State<Anything>>> {
        folder.state()
    }

    #[test]
    fn a_state_comes_back_as_it_was_written_and_a_link_is_not_followed() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("f");
        let folder = Folder::open(&path).expect("it is made");
        assert_eq!(state(&folder).expect("it can be read"), None);
        let mut written = State::new(Anything(1), 7);
        let mut run = Run::open("001-A.stall".to_owned(), 0, 3);
        run.close(1.5, None);
        written.runs.push(run);
        folder.save(&written).expect("it can be written");
        folder.save(&written).expect("and again");
        assert_eq!(state(&folder).expect("it is there"), Some(written.clone()));
        assert_eq!((written.next_round(), written.spent_s()), (4, 1.5));
        assert!(Folder::open(&path).is_err(), "somebody runs in it");
        drop(folder);
        let folder = Folder::open(&path).expect("nobody does");
        let victim = home.path().join("victim");
        std::fs::write(&victim, "old").expect("the folder is ours");
        std::fs::remove_file(path.join(FILE)).expect("it is there");
        symlink(&victim, path.join(FILE)).expect("the folder is ours");
        assert!(state(&folder).is_err(), "a link is not read");
        folder.save(&written).expect("the link itself is replaced");
        assert_eq!(std::fs::read(&victim).expect("it is there"), b"old");
    }

    #[test]
    fn root_keeps_nothing_where_others_may_write() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("f");
        std::fs::create_dir(&path).expect("the folder is ours");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777))
            .expect("it is ours");
        let refused = Folder::open(&path).err().map(|it| it.to_string());
        assert!(refused.is_some_and(|it| it.contains("every user may write")));
    }
}
