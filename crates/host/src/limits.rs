//! What a recorder needs when the machine is starved, each taken only where it is allowed.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// So many descriptors are left to the recording's own files, and to what is read once and closed.
const RESERVE: u64 = 64;

/// Raises the soft limit of open files to the hard one and returns the limit as it was, so that the
/// workload can be given it back.
pub fn raise_descriptor_limit() -> Rlimit {
    let before = getrlimit(Resource::Nofile);
    // Refused only under a security policy; then the limit stays and gaps say what was not opened.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: before.maximum,
            maximum: before.maximum,
        },
    );
    before
}

/// Keeps a descriptor for the length of a recording, unless it is one of the last: without those the
/// recording itself could not be written any more. The kernel gives out the lowest free number, so one
/// near the limit says that those below it are taken.
///
/// # Errors
/// The one that the kernel gives where there is none left.
pub(crate) fn keep(descriptor: OwnedFd) -> Result<OwnedFd, Errno> {
    let limit = getrlimit(Resource::Nofile).current;
    if is_among_the_last(descriptor.as_raw_fd(), limit) {
        return Err(Errno::MFILE);
    }
    Ok(descriptor)
}

fn is_among_the_last(number: RawFd, limit: Option<u64>) -> bool {
    let number = u64::from(number.unsigned_abs());
    limit.is_some_and(|limit| number >= limit - RESERVE.min(limit / 4))
}

/// Locks memory as it is touched, so that sampling does not wait for the page-ins of a machine that
/// thrashes. Returns whether it was allowed.
///
/// Only with CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK: under a limit, locking future pages would
/// make later allocations fail.
pub fn lock_memory() -> bool {
    let unlimited = getrlimit(Resource::Memlock).current.is_none();
    let may = unlimited || has_capability(CAP_IPC_LOCK);
    let flags = rustix::mm::MlockAllFlags::CURRENT
        | rustix::mm::MlockAllFlags::FUTURE
        | rustix::mm::MlockAllFlags::ONFAULT;
    may && rustix::mm::mlockall(flags).is_ok()
}

/// Raises the calling thread above the workload: the lowest real-time priority, else nice -10, else
/// nothing. Returns what it got.
pub fn raise_priority() -> &'static str {
    const NICE: i32 = -10;
    let parameters = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // SAFETY: a plain system call on the calling thread (pid 0) with a parameter that outlives it.
    if unsafe { libc::sched_setscheduler(0, policy, &parameters) } == 0 {
        return "SCHED_RR 1";
    }
    // SAFETY: a plain system call; on Linux `0` names the calling thread only.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) } == 0 {
        return "nice -10";
    }
    "normal"
}

/// linux/capability.h
const CAP_IPC_LOCK: u32 = 14;

fn has_capability(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|set| set >> number & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_descriptors_are_left_to_the_recording() {
        for (number, limit, last) in [
            (959, Some(1024), false),
            (960, Some(1024), true),
            (11, Some(16), false),
            (12, Some(16), true),
            (i32::MAX, None, false),
        ] {
            assert_eq!(is_among_the_last(number, limit), last, "{number} {limit:?}");
        }
    }

    #[test]
    fn the_limit_is_returned_as_it_was() {
        let before = raise_descriptor_limit();
        let after = getrlimit(Resource::Nofile);
        assert_eq!(before.maximum, after.maximum);
        setrlimit(Resource::Nofile, before).expect("lowering is always allowed");
    }
}
