//! What nodes have recorded and is not here yet: a small file beside the recordings of nodes, from which `fetch` goes on.
//! It is there from before the run starts until everything has been fetched.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use recording::{FolderHandle, Refused};
use serde::{Deserialize, Serialize};

use super::Destination;
use super::clock_offset::ClockOffset;

/// The file's name.
const NAME: &str = "nodes.json";
/// The form that this version writes and reads.
const FORMAT: &str = "stallscope.nodes/1";
/// Far above any such file.
const MOST_BYTES: u64 = 1 << 20;

/// What is not here yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pending {
    format: String,
    /// The recording of the machine that ran `run`: its name in the folder above.
    recording: String,
    /// Those that are to be fetched.
    pub(super) nodes: Vec<PendingNode>,
}

/// A recording on a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PendingNode {
    /// What its recording is called here, without `.stall`.
    pub(super) name: String,
    destination: String,
    /// Where it is there.
    pub(super) path: PathBuf,
    /// How far the node's clock was from ours, from the first measurement to the last.
    pub(super) clock: ClockOffset,
}

impl PendingNode {
    pub(super) fn new(
        name: &str,
        destination: &Destination,
        path: &Path,
        clock: ClockOffset,
    ) -> Self {
        Self {
            name: name.to_owned(),
            destination: destination.text().to_owned(),
            path: path.to_owned(),
            clock,
        }
    }

    /// Its clock was compared once more.
    pub(super) fn measured(&mut self, clock: ClockOffset) {
        self.clock = self.clock.covering(clock);
    }

    /// Where ssh connects to.
    pub(super) fn destination(&self) -> Result<Destination> {
        self.destination.parse().map_err(anyhow::Error::msg)
    }
}

impl Pending {
    pub(super) fn new(recording: &Path, nodes: Vec<PendingNode>) -> Self {
        let name = recording.file_name().unwrap_or_default();
        Self {
            format: FORMAT.to_owned(),
            recording: name.to_string_lossy().into_owned(),
            nodes,
        }
    }

    /// The recording of the machine that ran `run`, seen from the folder of this file.
    pub(super) fn recording(&self, folder: &Path) -> PathBuf {
        let above = folder.parent().unwrap_or(Path::new(""));
        above.join(&self.recording)
    }

    /// What is left to be fetched into a folder; `None` where nothing is.
    pub(super) fn read(folder: &FolderHandle) -> Result<Option<Self>> {
        let path = folder.path_of(NAME);
        let unread = || format!("cannot read {}", path.display());
        let file = match folder.read(NAME) {
            Ok((file, _)) => file,
            Err(Refused::Read(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(refused) => return Err(std::io::Error::from(refused)).with_context(unread),
        };
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut text)
            .with_context(unread)?;
        let pending = Self::parse(&text).with_context(unread)?;
        Ok(Some(pending))
    }

    fn parse(text: &[u8]) -> Result<Self> {
        if text.len() as u64 > MOST_BYTES {
            bail!("it is longer than {MOST_BYTES} bytes");
        }
        let pending: Self = serde_json::from_slice(text)?;
        if pending.format != FORMAT {
            bail!(
                "it is a {:?}, and this stallscope reads {FORMAT:?}",
                pending.format
            );
        }
        if !is_name(&pending.recording) || !pending.nodes.iter().all(|it| is_name(&it.name)) {
            bail!("a name in it leads elsewhere");
        }
        Ok(pending)
    }

    /// Writes it; removes it where nothing is left.
    pub(super) fn save(&self, folder: &Arc<FolderHandle>) -> Result<()> {
        let unwritten = || format!("cannot write {}", folder.path_of(NAME).display());
        if self.nodes.is_empty() {
            return match folder.remove(NAME) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(error).with_context(unwritten)
                }
                _ => Ok(()),
            };
        }
        let mut text = serde_json::to_vec_pretty(self).with_context(unwritten)?;
        text.push(b'\n');
        let (temporary, mut file) = folder.create_temporary(".nodes-").with_context(unwritten)?;
        let written = file
            .write_all(&text)
            .and_then(|()| folder.rename(&temporary, NAME));
        if written.is_err() {
            // What is left of it says nothing to anybody.
            let _ = folder.remove(&temporary);
        }
        written.with_context(unwritten)
    }
}

/// Whether it names an entry of a folder and nothing beyond.
fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let first = parts.next();
    first == Some(Component::Normal(OsStr::new(name))) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(name: &str) -> Pending {
        let destination = "me@n1".parse().expect("a node");
        let clock = ClockOffset {
            ahead_ns: -5,
            within_ns: 3,
        };
        let path = Path::new("/var/tmp/stallscope-run-x/node.stall");
        let node = PendingNode::new(name, &destination, path, clock);
        Pending::new(Path::new("somewhere/a.stall"), vec![node])
    }

    #[test]
    fn what_is_left_is_read_back_until_nothing_is() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = FolderHandle::create(&home.path().join("a-nodes")).expect("it is new");
        let folder = Arc::new(folder);
        assert!(Pending::read(&folder).expect("it is absent").is_none());
        pending("n1").save(&folder).expect("it is written");
        let read = Pending::read(&folder).expect("it is there");
        let read = read.expect("one is left");
        assert_eq!(read.recording(folder.path()), home.path().join("a.stall"));
        let [node] = &*read.nodes else {
            panic!("{read:?}")
        };
        assert_eq!(node.destination().expect("it fits").text(), "me@n1");
        let none = Pending {
            nodes: Vec::new(),
            ..read
        };
        none.save(&folder).expect("it goes");
        none.save(&folder).expect("it has gone");
        assert_eq!(folder.names().expect("it can be listed").len(), 0);
    }

    #[test]
    fn a_file_that_leads_elsewhere_is_refused() {
        for name in ["", "..", "a/b", "/etc", "./n1"] {
            let text = serde_json::to_vec(&pending(name)).expect("JSON");
            assert!(Pending::parse(&text).is_err(), "{name}");
        }
        let text = serde_json::to_string(&pending("n1")).expect("JSON");
        assert!(Pending::parse(text.as_bytes()).is_ok());
        let newer = text.replace("nodes/1", "nodes/2");
        assert!(Pending::parse(newer.as_bytes()).is_err());
        assert!(Pending::parse(b"{").is_err());
        let option = text.replace("me@n1", "-oProxyCommand=x");
        let read = Pending::parse(option.as_bytes()).expect("its form is right");
        assert!(read.nodes[0].destination().is_err());
    }
}
