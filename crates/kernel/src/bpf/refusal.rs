//! Why a BPF program is not used here.

use std::fmt;

use libbpf_rs::ErrorKind;
use model::{Part, Sentence, sentence};

/// Why a program is not used here, as a sentence for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal(Sentence);

impl Refusal {
    /// A refusal with its reason, a full sentence or the part after a colon.
    pub fn new(why: impl Into<Sentence>) -> Self {
        Self(why.into())
    }

    /// A refusal because of an error at something.
    pub(crate) fn at(place: &'static str, error: std::io::Error) -> Self {
        Self(sentence!("{}: {}", place, &Self::from(error)))
    }

    /// More CPUs than a program has room for.
    pub(super) fn of_cpus(cpus: usize, most: usize) -> Self {
        Self(sentence!(
            "{} CPUs are more than the {} that it was made for",
            cpus,
            most
        ))
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
        self.0.fmt(f)
    }
}

impl From<&Refusal> for Sentence {
    fn from(refusal: &Refusal) -> Self {
        refusal.0.clone()
    }
}

impl From<libbpf_rs::Error> for Refusal {
    fn from(error: libbpf_rs::Error) -> Self {
        // If root is refused, the reason is another one, such as a lockdown.
        if error.kind() == ErrorKind::PermissionDenied && !rustix::process::geteuid().is_root() {
            return Self::of_rights();
        }
        Self(format!("{error:#}").into())
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(code) => Self(Part::error(code).into()),
            None => Self(error.to_string().into()),
        }
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        std::io::Error::from(error).into()
    }
}
