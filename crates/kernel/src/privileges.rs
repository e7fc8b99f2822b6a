//! Drops privileges of the recorder's threads once each has what it needs.
//!
//! BPF programs are loaded and the priority is raised before sampling begins; from then on a recorder started
//! by root gives up root's capabilities except those for reading. Capabilities belong to threads
//! (capabilities(7)): each thread gives up its own, and threads that it starts have no more. The workload is
//! started before that, and has all that its user has.

use rustix::thread::{CapabilitySet, CapabilitySets};

/// The task of a thread from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duty {
    /// Works on open pipes, sockets and descriptors.
    Handed,
    /// Reads processes and groups of any user.
    Sampling,
    /// Creates sockets in other network namespaces (setns(2)).
    Entering,
    /// Writes into folders and files that are open already, and sends signals to the workload.
    Recording,
}

impl Duty {
    /// CAP_IPC_LOCK stays where memory is locked: without it the next mapping would be refused.
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

/// Drops all capabilities that the calling thread does not need for its duty, for good: a program that it
/// executes cannot regain them. Without privileges this does nothing.
pub fn give_up_all_but(duty: Duty) {
    let Ok(before) = rustix::thread::capabilities(None) else {
        return;
    };
    let less = CapabilitySets {
        effective: before.effective & duty.keeps(),
        permitted: before.permitted & duty.keeps(),
        inheritable: before.inheritable & duty.keeps(),
    };
    // Fails only under a security policy; then the thread continues as it was.
    let _ = rustix::thread::set_capabilities(None, less);
    let _ = rustix::thread::set_no_new_privs(true);
}

/// Whether the calling thread may enter other processes' namespaces.
pub fn may_enter() -> bool {
    has(CapabilitySet::SYS_ADMIN)
}

/// Whether the calling thread has a capability.
pub fn has(capability: CapabilitySet) -> bool {
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
    fn a_thread_keeps_only_the_capabilities_of_its_duty() {
        let before = effective();
        for duty in [
            Duty::Handed,
            Duty::Sampling,
            Duty::Entering,
            Duty::Recording,
        ] {
            let after = std::thread::spawn(move || {
                give_up_all_but(duty);
                // For good: programs it executes have no more, and it cannot regain them.
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
