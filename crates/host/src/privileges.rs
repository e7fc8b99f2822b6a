//! What each thread of the recorder may still do once it has what it needs.
//!
//! The programs in the kernel are loaded and priority is raised before sampling begins; from then on a
//! recorder that root started gives up what root may do, but for reading. Capabilities belong to threads
//! (capabilities(7)): each gives up its own, and what it starts has no more than it. The workload is
//! started before, and has all that its user has.

use rustix::thread::{CapabilitySet, CapabilitySets};

/// What a thread does from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duty {
    /// Works on what it was handed: pipes, sockets, descriptors.
    Handed,
    /// Reads of processes and groups, whoever's they are.
    Sampling,
    /// Makes sockets in other network namespaces (setns(2)).
    Entering,
    /// Writes into folders and files that were opened before, and passes signals on to the workload.
    Recording,
}

impl Duty {
    /// Memory that is locked as it is touched stays so: without CAP_IPC_LOCK the next mapping would be
    /// refused.
    fn keeps(self) -> CapabilitySet {
        let reading = CapabilitySet::DAC_READ_SEARCH | CapabilitySet::SYS_PTRACE;
        let needed = match self {
            Self::Handed => CapabilitySet::empty(),
            Self::Sampling => reading,
            Self::Entering => CapabilitySet::SYS_ADMIN,
            Self::Recording => reading | CapabilitySet::KILL,
        };
        needed | CapabilitySet::IPC_LOCK
    }
}

/// Gives up all that the calling thread does not need for its duty, for good: a program that it would
/// start gains nothing either. Without privileges there is nothing to give up.
pub fn give_up_all_but(duty: Duty) {
    let Ok(before) = rustix::thread::capabilities(None) else {
        return;
    };
    let less = CapabilitySets {
        effective: before.effective & duty.keeps(),
        permitted: before.permitted & duty.keeps(),
        inheritable: before.inheritable & duty.keeps(),
    };
    // Less is never refused but by a security policy, and then the thread goes on as it was.
    let _ = rustix::thread::set_capabilities(None, less);
    let _ = rustix::thread::set_no_new_privs(true);
}

/// Whether the calling thread may enter the namespaces of others.
pub(crate) fn may_enter() -> bool {
    has(CapabilitySet::SYS_ADMIN)
}

/// Whether the calling thread has a capability.
pub(crate) fn has(capability: CapabilitySet) -> bool {
    rustix::thread::capabilities(None)
        .is_ok_and(|psi_groups| psi_groups.effective.contains(capability))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective() -> CapabilitySet {
        rustix::thread::capabilities(None)
            .expect("a thread may read its own")
            .effective
    }

    #[test]
    fn a_thread_keeps_what_its_duty_needs_and_others_keep_theirs() {
        let before = effective();
        for duty in [
            Duty::Handed,
            Duty::Sampling,
            Duty::Entering,
            Duty::Recording,
        ] {
            let after = std::thread::spawn(move || {
                give_up_all_but(duty);
                // For good: what it starts has no more, and more is not to be had again.
                let regained = CapabilitySets {
                    effective: before,
                    permitted: before,
                    inheritable: CapabilitySet::empty(),
                };
                let _ = rustix::thread::set_capabilities(None, regained);
                let started = std::thread::spawn(effective);
                (effective(), started.join().expect("it only reads"))
            });
            let (own, inherited) = after.join().expect("it only gives up");
            assert_eq!(own, before & duty.keeps(), "{duty:?}");
            assert_eq!(inherited, own, "{duty:?}");
        }
        assert_eq!(effective(), before);
    }
}
