//! Programs at their hooks, attached and detached.
//!
//! The kernel ends both with a grace period of RCU, which takes a millisecond, and on CPUs that are full of others'
//! work seconds. So a thread of its own waits for it, and who samples meanwhile goes on.

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use libbpf_rs::libbpf_sys::bpf_raw_tracepoint_open;
use libbpf_rs::{Link, Object, ProgramAttachType, ProgramMut, ProgramType};

use super::refusal::Refusal;
use crate::privileges::{Duty, give_up_all_but};

/// So long a caller waits for the thread that attaches.
const PATIENCE: Duration = Duration::from_millis(5);

/// Attached programs that report events.
pub(super) struct Hooks {
    _always: Vec<Link>,
    /// Where the programs on frequent events are.
    often: State,
    asks: Sender<Ask>,
    answers: Receiver<Answer>,
    /// How often they were asked to attach.
    asked: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Attached,
    /// On their way to their hooks.
    Asked,
    Detached,
}

/// What the thread is to do.
enum Ask {
    /// With the number of the question.
    Attach(u64),
    Detach,
}

/// The number of the question, and what became of it.
type Answer = (u64, Result<(), Refusal>);

impl Hooks {
    /// Attaches all programs; those named in `often` can be detached for off-windows, and with them those of another
    /// object, `beside`.
    pub(super) fn attach(
        object: &mut Object,
        often: &[&str],
        beside: Vec<OwnedFd>,
    ) -> Result<Self, Refusal> {
        let is_often = |name: &OsStr| often.iter().any(|it| name == *it);
        let always: Result<_, libbpf_rs::Error> = tracing(object)
            .filter(|program| !is_often(program.name()))
            .map(|program| program.attach())
            .collect();
        let always = always?;
        let own: std::io::Result<Vec<OwnedFd>> = tracing(object)
            .filter(|program| is_often(program.name()))
            .map(|program| program.as_fd().try_clone_to_owned())
            .collect();
        let programs: Vec<OwnedFd> = own?.into_iter().chain(beside).collect();
        let links = attach_all(&programs)?;
        let (asks, asked) = channel();
        let (answer, answers) = channel();
        let thread = std::thread::Builder::new().name("stallscope-bpf".to_owned());
        thread.spawn(move || attach_as_asked(&programs, links, &asked, &answer))?;
        Ok(Self {
            _always: always,
            often: State::Attached,
            asks,
            answers,
            asked: 0,
        })
    }

    /// Detaches the programs on frequent events, as soon as the kernel does it.
    pub(super) fn detach(&mut self) {
        if self.often != State::Detached {
            self.often = State::Detached;
            self.ask(Ask::Detach);
        }
    }

    /// Attaches them again; whether they are at their hooks. Where that takes longer than a few milliseconds, they
    /// are not yet, and the next call tells.
    pub(super) fn attach_again(&mut self) -> Result<bool, Refusal> {
        if self.often == State::Attached {
            return Ok(true);
        }
        let mut patience = Duration::ZERO;
        if self.often == State::Detached {
            self.asked += 1;
            self.often = State::Asked;
            self.ask(Ask::Attach(self.asked));
            patience = PATIENCE;
        }
        loop {
            match self.answers.recv_timeout(patience) {
                Ok((number, Ok(()))) if number == self.asked => {
                    self.often = State::Attached;
                    return Ok(true);
                }
                Ok((number, Err(refusal))) if number == self.asked => {
                    self.often = State::Detached;
                    return Err(refusal);
                }
                // To a question that has been taken back.
                Ok(_) => {}
                Err(_) => return Ok(false),
            }
        }
    }

    fn ask(&self, ask: Ask) {
        let listens = self.asks.send(ask);
        listens.expect("the thread listens for as long as anybody may ask");
    }
}

/// Attaches and detaches programs, whose links are open at first, until nobody asks any more.
fn attach_as_asked(
    programs: &[OwnedFd],
    mut links: Vec<OwnedFd>,
    asks: &Receiver<Ask>,
    answers: &Sender<Answer>,
) {
    give_up_all_but(Duty::Handed);
    for ask in asks {
        match ask {
            Ask::Attach(number) => {
                let attached = attach_all(programs).map(|new| links = new);
                // Nobody listens once the recording has ended.
                let _ = answers.send((number, attached));
            }
            // The last to come leaves first: what begins something never outlives what ends it.
            Ask::Detach => while links.pop().is_some() {},
        }
    }
}

/// The programs at hooks of tracing.
fn tracing(object: &mut Object) -> impl Iterator<Item = ProgramMut<'_>> {
    object
        .progs_mut()
        // Programs whose hook this kernel does not have are not loaded.
        .filter(|program| program.prog_type() == ProgramType::Tracing && program.autoload())
        // Walks run when they are read.
        .filter(|program| !matches!(program.attach_type(), ProgramAttachType::TraceIter))
}

/// Links of programs that are at their hooks from now on; where one is refused none stays attached.
pub(super) fn attach_all(programs: &[OwnedFd]) -> Result<Vec<OwnedFd>, Refusal> {
    let links = programs.iter().map(|program| {
        // SAFETY: a plain system call on an open descriptor; a tracing program was loaded for its hook, and is given
        // no name. It returns a descriptor or an error.
        let link = unsafe { bpf_raw_tracepoint_open(std::ptr::null(), program.as_raw_fd()) };
        if link < 0 {
            return Err(std::io::Error::from_raw_os_error(-link));
        }
        // SAFETY: the kernel has just returned this descriptor, and nobody else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(link) })
    });
    Ok(links.collect::<std::io::Result<_>>()?)
}
