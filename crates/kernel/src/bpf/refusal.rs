//! Why a BPF program is not used here.

use std::fmt;

use libbpf_rs::ErrorKind;

/// Why a program is not used here, as a sentence for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal(String);

impl Refusal {
    /// A refusal with its reason, a full sentence or the part after a colon.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// The refusal of an ordinary user: no program is at fault, and libbpf's messages would not help.
    pub(super) fn of_rights() -> Self {
        Self::new(
            "only root, or who has CAP_BPF and CAP_PERFMON, may load programs into the kernel",
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<libbpf_rs::Error> for Refusal {
    fn from(error: libbpf_rs::Error) -> Self {
        // If root is refused, the reason is another one, such as a lockdown.
        if error.kind() == ErrorKind::PermissionDenied && !rustix::process::geteuid().is_root() {
            return Self::of_rights();
        }
        Self(format!("{error:#}"))
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        std::io::Error::from(error).into()
    }
}
