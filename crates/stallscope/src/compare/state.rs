//! What is kept of an experiment beside its recordings, so that the same command goes on where an earlier one stopped.
//!
//! A file is written anew after each run and takes the old one's place whole. Where root writes, the folder is one into
//! which no other user can put anything, as for recordings.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use recording::{Blocked, FolderHandle, Refused};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

/// The state's file in the experiment's folder.
const FILE: &str = "experiment.json";
/// Who has it locked runs the experiment.
const LOCK: &str = "experiment.lock";
/// Name and version of the file's form.
const SCHEMA: &str = "stallscope.experiment/1";
/// A state of more bytes is none of ours.
const MOST_BYTES: u64 = 16 << 20;

/// What an experiment is of: with another one it does not go on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Design {
    /// The commands, secrets replaced.
    pub(super) commands: Vec<String>,
    /// The options that every run gets, by name, in the order in which they were typed.
    pub(super) options: Vec<String>,
    /// Half of the interval's width that ends it, as a part of the baseline.
    pub(super) precision: f64,
}

/// A run that was begun.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    /// Its recording's folder.
    pub(super) name: String,
    /// The command's place.
    pub(super) arm: usize,
    /// From 1 on.
    pub(super) round: u32,
    /// What it took, s.
    pub(super) took_s: f64,
    /// Why it does not count; `None` where it does.
    pub(super) voided: Option<String>,
    /// Whether it has not ended yet.
    pub(super) is_open: bool,
}

impl Run {
    /// One that begins now.
    pub(super) fn open(name: String, arm: usize, round: u32) -> Self {
        Self {
            name,
            arm,
            round,
            took_s: 0.0,
            voided: None,
            is_open: true,
        }
    }

    /// It has ended.
    pub(super) fn close(&mut self, took_s: f64, voided: Option<String>) {
        self.took_s = took_s;
        self.voided = voided;
        self.is_open = false;
    }
}

/// All that is known of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct State {
    schema: String,
    pub(super) design: Design,
    /// What the order of the runs follows from.
    pub(super) seed: u64,
    /// In the order in which they were begun.
    pub(super) runs: Vec<Run>,
}

/// The experiment's folder, which nobody else runs in meanwhile.
pub(super) struct Folder {
    handle: FolderHandle,
    _lock: File,
}

impl Folder {
    /// Opens the folder, or makes it where there is none.
    ///
    /// # Errors
    /// One sentence: it cannot be made, others may write in it, or another process runs in it.
    pub(super) fn open(path: &Path) -> Result<Self> {
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
    pub(super) fn path(&self) -> &Path {
        self.handle.path()
    }

    /// Whether an experiment may begin in it.
    ///
    /// # Errors
    /// Something else is in it.
    pub(super) fn is_free(&self) -> Result<()> {
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
    pub(super) fn create(&self, name: &str) -> Result<File> {
        let shown = || format!("cannot make {}", self.handle.path_of(name).display());
        self.handle.create_file(name).with_context(shown)
    }

    /// The state of the experiment in it; `None` where none was begun.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub(super) fn state(&self) -> Result<Option<State>> {
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
        let mut text = String::new();
        file.take(MOST_BYTES)
            .read_to_string(&mut text)
            .with_context(|| format!("cannot read {shown}"))?;
        let state: State = serde_json::from_str(&text)
            .map_err(|error| anyhow!("{shown} is damaged: {error}. {other}"))?;
        if state.schema != SCHEMA {
            bail!("{shown} is of another version, {}. {other}", state.schema);
        }
        Ok(Some(state))
    }

    /// Writes the state in the place of the old one.
    pub(super) fn save(&self, state: &State) -> Result<()> {
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

impl State {
    /// An experiment in which nothing was run.
    pub(super) fn new(design: Design, seed: u64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            design,
            seed,
            runs: Vec::new(),
        }
    }

    /// What its runs took, s.
    pub(super) fn spent_s(&self) -> f64 {
        self.runs.iter().map(|it| it.took_s).sum()
    }

    /// The next round: one that was left in the middle is not gone on with, since what the machine did in between lies
    /// between its runs.
    pub(super) fn next_round(&self) -> u32 {
        self.runs.iter().map(|it| it.round).max().unwrap_or(0) + 1
    }
}

impl Design {
    /// What another design has in another way, in words; `None` where they are the same.
    pub(super) fn differs(&self, other: &Self) -> Option<String> {
        if self.commands.len() != other.commands.len() {
            let [own, others] = [self, other].map(|it| it.commands.len());
            return Some(format!("it compares {own} commands, and not {others}"));
        }
        let mut commands = self.commands.iter().zip(&other.commands).zip('A'..);
        if let Some(((own, others), letter)) = commands.find(|((own, others), _)| own != others) {
            return Some(format!(
                "its command {letter} is `{own}`, and not `{others}`"
            ));
        }
        if self.options != other.options {
            let shown = |it: &Self| match it.options.is_empty() {
                true => "none".to_owned(),
                false => it.options.join(" "),
            };
            let (own, others) = (shown(self), shown(other));
            return Some(format!(
                "its options for the runs are {own}, and not {others}"
            ));
        }
        let percent = |it: &Self| format!("{} %", it.precision * 100.0);
        // What is read back of a number may differ in its last bit.
        ((self.precision - other.precision).abs() > 1e-9).then(|| {
            format!(
                "its --precision is {}, and not {}",
                percent(self),
                percent(other)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn design() -> Design {
        Design {
            commands: vec!["a".to_owned(), "b".to_owned()],
            options: Vec::new(),
            precision: 0.02,
        }
    }

    #[test]
    fn a_state_comes_back_as_it_was_written_and_a_link_is_not_followed() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("f");
        let folder = Folder::open(&path).expect("it is made");
        assert_eq!(folder.state().expect("it can be read"), None);
        let mut state = State::new(design(), 7);
        let mut run = Run::open("001-A.stall".to_owned(), 0, 3);
        run.close(1.5, None);
        state.runs.push(run);
        folder.save(&state).expect("it can be written");
        folder.save(&state).expect("and again");
        assert_eq!(folder.state().expect("it is there"), Some(state.clone()));
        assert_eq!((state.next_round(), state.spent_s()), (4, 1.5));
        assert!(Folder::open(&path).is_err(), "somebody runs in it");
        drop(folder);
        let folder = Folder::open(&path).expect("nobody does");
        let victim = home.path().join("victim");
        std::fs::write(&victim, "old").expect("the folder is ours");
        std::fs::remove_file(path.join(FILE)).expect("it is there");
        symlink(&victim, path.join(FILE)).expect("the folder is ours");
        assert!(folder.state().is_err(), "a link is not read");
        folder.save(&state).expect("the link itself is replaced");
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

    #[test]
    fn what_differs_is_named() {
        let own = design();
        assert_eq!(own.differs(&own), None);
        let with = |change: fn(&mut Design)| {
            let mut other = design();
            change(&mut other);
            own.differs(&other).expect("they differ")
        };
        let said = [
            with(|it| it.commands[1] = "c".to_owned()),
            with(|it| it.commands.truncate(1)),
            with(|it| it.options.push("--target pid:1".to_owned())),
            with(|it| it.precision = 0.05),
        ];
        assert_eq!(
            said,
            [
                "its command B is `b`, and not `c`",
                "it compares 2 commands, and not 1",
                "its options for the runs are none, and not --target pid:1",
                "its --precision is 2 %, and not 5 %",
            ]
        );
    }
}
