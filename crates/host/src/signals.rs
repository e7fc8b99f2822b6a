//! Interrupts of the recorder itself: Ctrl-C, TERM, HUP, QUIT.
//!
//! A Ctrl-C at the terminal reaches the whole foreground group, the workload included; a signal from
//! `kill` reaches only the recorder and must be passed on. The sender tells the two apart.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::Error;

/// A signal that asked the recorder to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt {
    /// Its number.
    pub signal: i32,
    /// Whether the terminal sent it, so that the workload has it too.
    pub from_terminal: bool,
}

/// Waits for interrupts on a thread of its own.
pub struct Interrupts(signal_hook::iterator::Handle);

impl Interrupts {
    /// Calls `on` for each interrupt from now on, in place of dying of it.
    ///
    /// # Errors
    /// When the handlers or the thread cannot be made.
    pub fn watch(mut on: impl FnMut(Interrupt) + Send + 'static) -> Result<Self, Error> {
        let setup = |source| Error::Setup {
            what: "watch for interrupts",
            source,
        };
        let mut signals: SignalsInfo<WithOrigin> =
            SignalsInfo::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]).map_err(setup)?;
        let handle = signals.handle();
        let wait = move || {
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
