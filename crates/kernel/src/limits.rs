//! Resources that a recorder needs on a starved machine, each taken only if it is allowed.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::CapabilitySet;

use crate::Error;
use crate::privileges::has;

/// Descriptors that are reserved for the recording's own files and for files that are read once and closed.
const RESERVE: u64 = 64;

/// The fewest descriptors that a recording needs besides its standard streams: the interrupts, the sampler's
/// timer and the machine's first files, the recording's own, and the pipes of a workload at its start.
const LEAST: usize = 20;

/// Raises the soft limit of open files to the hard one and returns the earlier limit, so that the workload
/// can get it back.
///
/// # Errors
/// When this process or the machine has too few descriptors for any recording.
pub fn raise_descriptor_limit() -> Result<Rlimit, Error> {
    let before = getrlimit(Resource::Nofile);
    // Fails only under a security policy; then the limit stays, and gaps report what was not opened.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: before.maximum,
            maximum: before.maximum,
        },
    );
    open_least().map_err(|cause| Error::Setup {
        what: "record",
        cause,
    })?;
    Ok(before)
}

/// The purpose of a descriptor that stays open. If there are too few for all, the groups and processes of the
/// whole machine must not take those that target and generator threads need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// A control group.
    Group,
    /// A process.
    Process,
    /// The machine's files, and those of target and generator threads.
    Tracked,
}

/// Keeps a descriptor for the length of a recording, unless it is among the last that its share may use. The
/// kernel hands out the lowest free number, so a number near the limit means that those below are taken.
///
/// # Errors
/// `MFILE`, as the kernel gives without a free descriptor.
pub fn reserve(descriptor: OwnedFd, share: Share) -> Result<OwnedFd, Errno> {
    let limit = getrlimit(Resource::Nofile).current;
    if is_among_the_last(descriptor.as_raw_fd(), limit, share) {
        return Err(Errno::MFILE);
    }
    Ok(descriptor)
}

/// Whether half of the descriptors, and the fewest that a recording needs, are still free: files that every
/// tick reads have precedence over optional programs.
pub fn is_half_free() -> bool {
    File::open("/dev/null").is_ok_and(|next| reserve(next.into(), Share::Group).is_ok())
        && open_least().is_ok()
}

/// Opens as many files as a recording needs at least: there is no other way to learn how many are free.
fn open_least() -> io::Result<Vec<File>> {
    (0..LEAST).map(|_| File::open("/dev/null")).collect()
}

/// The last descriptors are reserved for the recording, which could not be written without them.
fn is_among_the_last(number: RawFd, limit: Option<u64>, share: Share) -> bool {
    let number = u64::from(number.unsigned_abs());
    limit.is_some_and(|limit| {
        number
            >= match share {
                Share::Group => limit / 2,
                Share::Process => limit / 4 * 3,
                Share::Tracked => limit - RESERVE.min(limit / 4),
            }
    })
}

/// Locks memory as it is touched, so that on a thrashing machine sampling does not wait for page faults.
/// Returns whether it was allowed.
///
/// Only with CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK: under a limit, locking future pages would make
/// later allocations fail.
pub fn lock_memory() -> bool {
    let unlimited = getrlimit(Resource::Memlock).current.is_none();
    let may = unlimited || has(CapabilitySet::IPC_LOCK);
    let flags = rustix::mm::MlockAllFlags::CURRENT
        | rustix::mm::MlockAllFlags::FUTURE
        | rustix::mm::MlockAllFlags::ONFAULT;
    may && rustix::mm::mlockall(flags).is_ok()
}

/// Raises the calling thread above the workload: the lowest real-time priority, else nice -10, else nothing.
/// Returns the priority it got.
pub fn raise_priority() -> &'static str {
    let parameters = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // SAFETY: a plain system call on the calling thread (pid 0) with a parameter that outlives it.
    if unsafe { libc::sched_setscheduler(0, policy, &parameters) } == 0 {
        return "SCHED_RR 1";
    }
    if raise_nice() { "nice -10" } else { "normal" }
}

/// Gives the calling thread nice -10, nine times the CPU time of another one that wants as much; returns
/// whether that succeeded.
pub fn raise_nice() -> bool {
    const NICE: i32 = -10;
    // SAFETY: a plain system call; on Linux `0` names the calling thread only.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_descriptors_are_left_to_the_recording_and_the_ones_before_to_the_target() {
        use Share::{Group, Process, Tracked};
        for (number, limit, share, last) in [
            (511, Some(1024), Group, false),
            (512, Some(1024), Group, true),
            (767, Some(1024), Process, false),
            (768, Some(1024), Process, true),
            (959, Some(1024), Tracked, false),
            (960, Some(1024), Tracked, true),
            (11, Some(16), Tracked, false),
            (12, Some(16), Tracked, true),
            (i32::MAX, None, Group, false),
        ] {
            let found = is_among_the_last(number, limit, share);
            assert_eq!(found, last, "{number} {limit:?} {share:?}");
        }
    }

    #[test]
    fn the_limit_is_returned_as_it_was() {
        let before = raise_descriptor_limit().expect("a test may open some");
        let after = getrlimit(Resource::Nofile);
        assert_eq!(before.maximum, after.maximum);
        setrlimit(Resource::Nofile, before).expect("lowering is always allowed");
    }
}
