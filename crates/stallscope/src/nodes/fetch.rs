//! A node's recording on its way into the folder here: copied, unpacked by the rules for bundles, opened, found whole, and
//! given what was learned of its clock. Only then it is removed on the node.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use analysis::cluster::{CLOCK_AHEAD, CLOCK_AHEAD_OF, CLOCK_AHEAD_WITHIN};
use anyhow::{Context as _, Result, bail};
use model::Gap;
use recording::{FolderHandle, Reader, bundle};

use super::TABLE;
use super::clock_offset::ClockOffset;
use super::pending::{Pending, PendingNode};
use super::remote::Remote;
use crate::arguments::Fetch;
use crate::temporary_output::{self, Entry, TemporaryOutput};
use crate::{COULD_NOT_EXPLAIN, outputs};

/// `fetch`: what `run --on` could not fetch.
pub(crate) fn fetch(arguments: &Fetch) -> Result<u8> {
    let _interrupts = temporary_output::watch()?;
    let shown = arguments.folder.display();
    let folder = FolderHandle::open(&arguments.folder)
        .with_context(|| format!("there is no folder {shown}"))?;
    let folder = Arc::new(folder);
    let Some(mut pending) = Pending::read(&folder)? else {
        outputs::say(&format!("Nothing is left to fetch into {shown}"));
        return Ok(0);
    };
    let recording = pending.recording(folder.path());
    // Where it is gone, what nodes recorded is worth fetching still.
    let main = Reader::folder(&recording).map(Arc::new).ok();
    let description = main
        .as_ref()
        .and_then(|main| recording::description(main).ok());
    let id = description.map(|meta| meta.identity.recording_id);
    let mut status = 0;
    for node in std::mem::take(&mut pending.nodes) {
        match fetch_one(&node, arguments.copy, &folder, id.as_deref()) {
            Ok(()) => {
                outputs::say(&format!("Fetched {}", place(&folder, &node.name)));
                // Without it the gap says what was true at the end of the run.
                let is_other = |gap: &Gap| gap.table != TABLE || gap.what != *node.name;
                if let Some(main) = &main {
                    let _ = recording::amend(main, |meta| meta.gaps.retain(is_other));
                }
            }
            Err(error) => {
                let why = outputs::sentence(&error);
                outputs::say(&format!("stallscope: {} is not fetched: {why}", node.name));
                status = COULD_NOT_EXPLAIN;
                pending.nodes.push(node);
            }
        }
    }
    pending.save(&folder)?;
    if status == 0 && main.is_some() {
        all_together(&recording, &folder)
            .iter()
            .for_each(|it| outputs::say(it));
    }
    Ok(status)
}

fn fetch_one(
    node: &PendingNode,
    copy: bool,
    folder: &Arc<FolderHandle>,
    id: Option<&str>,
) -> Result<()> {
    let interrupted = Arc::new(AtomicI32::new(0));
    let mut remote = Remote::connect(&node.destination()?, copy, interrupted)?;
    take(&mut remote, node, folder, id)
}

/// Fetches a recording, and removes it on the node.
///
/// # Errors
/// Why it is still there. Nothing of it is left here then.
pub(super) fn take(
    remote: &mut Remote,
    node: &PendingNode,
    folder: &Arc<FolderHandle>,
    id: Option<&str>,
) -> Result<()> {
    let name = format!("{}.stall", node.name);
    if folder.has(&name) {
        let there = folder.path_of(&name);
        bail!("{} exists: move it away", there.display());
    }
    let make = || folder.create_temporary(".fetch-");
    let entry = |(name, _): &(OsString, _)| Entry::File(folder.clone(), name.clone());
    let (temporary, (bundle, mut file)) = TemporaryOutput::make(make, entry)?;
    let taken = remote
        .fetch(&node.path, &mut file)
        .and_then(|()| unpack(folder, &folder.path_of(&bundle), &name, node.clock, id));
    // Its bytes are in the recording now, or worth nothing.
    let _ = folder.remove(&bundle);
    drop(temporary);
    taken?;
    // What cannot be removed stays there, and is here too.
    let _ = remote.remove(&node.path);
    Ok(())
}

/// Makes a recording of a bundle that was copied.
fn unpack(
    folder: &Arc<FolderHandle>,
    bundle: &Path,
    name: &str,
    clock: ClockOffset,
    id: Option<&str>,
) -> Result<()> {
    let private = || {
        let mut made = tempfile::Builder::new();
        made.prefix(".unpack-");
        if rustix::process::geteuid().is_root() {
            // As any recording of root's.
            made.permissions(Permissions::from_mode(0o700));
        }
        made.tempdir_in(folder.path())
    };
    let mut temporary = None;
    let unpacked = bundle::unpack_in(bundle, || {
        let entry = |made: &tempfile::TempDir| Entry::Temporary(made.path().to_owned());
        let (entry, made) = TemporaryOutput::make(private, entry)?;
        temporary = Some(entry);
        Ok(made)
    })?;
    let whole = Reader::open(unpacked.folder())?;
    if let Some(damage) = whole.damage.first() {
        bail!("it is damaged: {damage}");
    }
    drop(whole);
    let held = Arc::new(Reader::folder(unpacked.folder())?);
    recording::amend(&held, |meta| {
        let Some(id) = id else { return };
        let facts = [
            (CLOCK_AHEAD, clock.ahead_ns.to_string()),
            (CLOCK_AHEAD_WITHIN, clock.within_ns.to_string()),
            (CLOCK_AHEAD_OF, id.to_owned()),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        meta.environment.extend(facts);
    })?;
    let own = unpacked.folder().file_name().unwrap_or_default();
    folder
        .rename(own, name)
        .with_context(|| format!("cannot make {}", folder.path_of(name).display()))?;
    // Its folder has another name by now, so that dropping it removes nothing.
    drop(unpacked);
    drop(temporary);
    Ok(())
}

/// The command that shows a run with all its nodes; `None` where no node's recording is here.
pub(super) fn all_together(recording: &Path, folder: &FolderHandle) -> Option<String> {
    let names = folder.names().ok()?;
    let names = names
        .iter()
        .filter_map(|it| it.to_str()?.strip_suffix(".stall"));
    let mut names: Vec<String> = names.map(|name| place(folder, name)).collect();
    names.sort();
    (!names.is_empty()).then(|| {
        format!(
            "All machines together: stallscope explain {} {}",
            recording.display(),
            names.join(" ")
        )
    })
}

/// Where a node's recording is, for people.
fn place(folder: &FolderHandle, name: &str) -> String {
    folder
        .path_of(format!("{name}.stall"))
        .display()
        .to_string()
}
