//! Programs at their hooks, attached and detached.

use std::ffi::OsStr;

use libbpf_rs::{Link, Object, ProgramAttachType, ProgramType};

use super::refusal::Refusal;

/// Attached programs that report events.
pub(super) struct Hooks {
    _always: Vec<Link>,
    /// Programs on frequent events, while they are attached.
    often: Vec<Link>,
    names: &'static [&'static str],
}

impl Hooks {
    /// Attaches all programs; those named in `often` can be detached for off-windows.
    pub(super) fn attach(
        object: &mut Object,
        often: &'static [&'static str],
    ) -> Result<Self, Refusal> {
        Ok(Self {
            _always: attached(object, |name| !often.iter().any(|it| name == *it))?,
            often: attached(object, |name| often.iter().any(|it| name == *it))?,
            names: often,
        })
    }

    pub(super) fn detach(&mut self) {
        self.often.clear();
    }

    pub(super) fn attach_again(&mut self, object: &mut Object) -> Result<(), Refusal> {
        if self.often.is_empty() {
            let names = self.names;
            self.often = attached(object, |name| names.iter().any(|it| name == *it))?;
        }
        Ok(())
    }
}

/// Attaches the tracing programs whose names are wanted. A skeleton's own `attach` leaves those attached that
/// came before a refused one (libbpf-rs 0.27).
fn attached(object: &mut Object, wanted: impl Fn(&OsStr) -> bool) -> Result<Vec<Link>, Refusal> {
    let tracing = object
        .progs_mut()
        // Programs whose hook this kernel does not have are not loaded.
        .filter(|program| program.prog_type() == ProgramType::Tracing && program.autoload())
        // Walks run when they are read.
        .filter(|program| !matches!(program.attach_type(), ProgramAttachType::TraceIter))
        .filter(|program| wanted(program.name()));
    let links: Result<_, libbpf_rs::Error> = tracing.map(|program| program.attach()).collect();
    Ok(links?)
}
