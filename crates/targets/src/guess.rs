//! Guesses the serving process from the socket's owner alone: for users who may not read other users'
//! processes. The answer is marked as a guess.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::error::Error;
use super::{Guess, Hidden};
use kernel::process_list::{self, Process};

/// A process tree that belongs to the owner of a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerGuess {
    /// Roots of the tree; several if they are children of one process of another user (workers of a master
    /// that runs as root).
    pub roots: Vec<u32>,
    /// Processes that probably serve: those that the roots started after the generator started, else all.
    pub serving: Vec<u32>,
    /// Basis of the guess: always `Guess::Owner`.
    pub by: Guess,
}

/// Guesses the process of a hidden end: the only process tree that belongs to its owner.
///
/// `generator_started` is in clock ticks since boot, as `start_ticks` returns: servers that fork for each
/// connection have children younger than that.
pub fn guess_by_owner(
    proc: &Path,
    hidden: &Hidden,
    generator_started: u64,
    exclude: &HashSet<u32>,
) -> Result<OwnerGuess, Error> {
    let unseen = || Error::HiddenServer {
        endpoint: hidden.endpoint.to_string(),
    };
    // Most of a machine's processes belong to root: its trees say nothing.
    let uid = hidden.uid.filter(|&uid| uid != 0).ok_or_else(unseen)?;
    let all = process_list::all(proc);
    let belongs =
        |pid: &u32| !exclude.contains(pid) && process_list::uid_of(proc, *pid) == Some(uid);
    let owned: BTreeSet<u32> = all.keys().copied().filter(belongs).collect();
    let roots: Vec<&Process> = owned
        .iter()
        .filter_map(|pid| all.get(pid))
        .filter(|process| !owned.contains(&process.parent) && !process.zombie)
        .collect();
    if roots.is_empty() {
        return Err(unseen());
    }
    if roots.len() > 1 && !are_siblings(&roots) {
        let candidates = roots
            .iter()
            .map(|root| (root.pid, root.comm.clone()))
            .collect();
        return Err(Error::Candidates {
            endpoint: hidden.endpoint.to_string(),
            uid,
            candidates,
        });
    }
    let roots: Vec<u32> = roots.iter().map(|root| root.pid).collect();
    let serving = serving_in(&all, &roots, generator_started, exclude);
    Ok(OwnerGuess {
        roots,
        serving,
        by: Guess::Owner(uid),
    })
}

/// Whether one process started all of them that is not init, the parent of every daemon.
fn are_siblings(roots: &[&Process]) -> bool {
    let parents: BTreeSet<u32> = roots.iter().map(|root| root.parent).collect();
    parents.len() == 1 && parents.iter().all(|&parent| parent > 1)
}

fn serving_in(
    all: &BTreeMap<u32, Process>,
    roots: &[u32],
    generator_started: u64,
    exclude: &HashSet<u32>,
) -> Vec<u32> {
    let alive = || {
        all.values()
            .filter(|process| !process.zombie && !exclude.contains(&process.pid))
    };
    let young: Vec<u32> = alive()
        .filter(|process| roots.contains(&process.parent) && process.started >= generator_started)
        .map(|process| process.pid)
        .collect();
    if !young.is_empty() {
        return young;
    }
    let in_tree = |pid: u32| {
        roots.contains(&pid)
            || process_list::ancestors(all, pid).any(|above| roots.contains(&above))
    };
    alive()
        .map(|process| process.pid)
        .filter(|&pid| in_tree(pid))
        .collect()
}
