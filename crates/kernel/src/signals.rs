//! Interrupts of the recorder itself: Ctrl-C, TERM, HUP, QUIT.
//!
//! A Ctrl-C at the terminal reaches the whole foreground group, the workload included; a signal from `kill`
//! reaches only the recorder and must be passed on. The sender distinguishes the two.
//!
//! A HUP that was ignored from the start stays ignored: nohup(1) asked for that.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::Error;
use crate::privileges::{Duty, give_up_all_but};

/// A signal that asked the recorder to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt {
    /// The signal's number.
    pub signal: i32,
    /// Whether the terminal sent it, so that the workload got it too.
    pub from_terminal: bool,
}

/// Handles interrupts on a thread of its own.
pub struct Interrupts(signal_hook::iterator::Handle);

impl Interrupts {
    /// Calls `on` for each interrupt from now on, instead of the default action. A file that may not grow any
    /// more (`ulimit -f`) becomes a write error instead of ending the recorder.
    ///
    /// # Errors
    /// When the handlers or the thread cannot be created.
    pub fn watch(mut on: impl FnMut(Interrupt) + Send + 'static) -> Result<Self, Error> {
        let setup = |cause| Error::Setup {
            what: "watch for interrupts",
            cause,
        };
        ignore(libc::SIGXFSZ);
        let mut monitored = vec![SIGINT, SIGTERM, SIGQUIT];
        if !is_ignored(SIGHUP) {
            monitored.push(SIGHUP);
        }
        let mut signals: SignalsInfo<WithOrigin> = SignalsInfo::new(monitored).map_err(setup)?;
        let handle = signals.handle();
        let wait = move || {
            give_up_all_but(Duty::Handed);
            for origin in signals.forever() {
                on(Interrupt {
                    signal: origin.signal,
                    from_terminal: origin.cause == Cause::Kernel,
                });
            }
        };
        std::thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(wait)
            .map_err(setup)?;
        Ok(Self(handle))
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn ignore(signal: i32) {
    // SAFETY: signal(2) with a disposition that runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Whether this process was started with a signal ignored, as nohup(1) starts it.
fn is_ignored(signal: i32) -> bool {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: sigaction(2) with no new action only writes the present one to `now`.
    let read = unsafe { libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) };
    // SAFETY: the call succeeded, so that `now` is written.
    read == 0 && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
}
