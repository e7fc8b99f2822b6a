//! Which processes hold which sockets, from the links in `/proc/PID/fd`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use kernel::folder::socket_inode;
use kernel::process_list;

/// The sockets that one process holds open.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) sockets: HashSet<u64>,
    /// Sockets that are its standard input, output or error.
    pub(super) standard: HashSet<u64>,
}

/// Reads the descriptors of one process.
pub(super) fn sockets_of(proc: &Path, pid: u32) -> io::Result<Held> {
    let mut held = Held::default();
    for entry in fs::read_dir(proc.join(pid.to_string()).join("fd"))? {
        // A descriptor may be closed between listing and reading: then it does not matter.
        let Ok(entry) = entry else { continue };
        let Ok(link) = fs::read_link(entry.path()) else {
            continue;
        };
        let Some(inode) = socket_inode(link.as_os_str().as_bytes()) else {
            continue;
        };
        held.sockets.insert(inode);
        if matches!(entry.file_name().as_bytes(), b"0" | b"1" | b"2") {
            held.standard.insert(inode);
        }
    }
    Ok(held)
}

/// Holders of the wanted sockets.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    pub(super) pids_by_inode: HashMap<u64, BTreeSet<u32>>,
    /// Whether some process's descriptors could not be read: it may hold a socket without a known holder.
    pub(super) some_denied: bool,
}

impl Owners {
    /// One pass over all processes; remembers only wanted sockets.
    pub(super) fn find(proc: &Path, wanted: &HashSet<u64>) -> Self {
        let mut owners = Self::default();
        if wanted.is_empty() {
            return owners;
        }
        for pid in process_list::pids(proc) {
            match sockets_of(proc, pid) {
                Ok(held) => {
                    for &inode in held.sockets.intersection(wanted) {
                        owners.pids_by_inode.entry(inode).or_default().insert(pid);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    owners.some_denied = true;
                }
                // The process has exited since the listing.
                Err(_) => {}
            }
        }
        owners
    }

    /// The holders of one socket.
    pub(super) fn of(&self, inode: u64) -> impl Iterator<Item = u32> {
        self.pids_by_inode
            .get(&inode)
            .into_iter()
            .flatten()
            .copied()
    }
}
