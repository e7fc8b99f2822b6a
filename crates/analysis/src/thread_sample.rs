//! What a thread was blocked in when a sample met it.
//!
//! Reasons by precedence: a disk (the kernel's own state), the application's own word, the system
//! call. Where one is not known the next is asked.

use model::{LedgerClass, ThreadTimeClass};
use sensors::syscall;
use sensors::wait_event;

/// What one sample saw of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadSample {
    /// State letter.
    pub(crate) state: Option<i64>,
    /// System call, `syscall::OUTSIDE` or `syscall::RUNNING`; `None` where it may not be read.
    pub(crate) syscall: Option<i64>,
    /// PostgreSQL's wait event, 0 outside of one.
    pub(crate) wait_event: Option<i64>,
    /// Whether it waits in the kernel for memory to be made free.
    pub(crate) reclaims: bool,
}

impl ThreadSample {
    /// The class of the time; `None` when the thread was not blocked.
    pub(crate) fn class(self, architecture: &str) -> Option<LedgerClass> {
        let call = self.syscall.filter(|number| *number >= 0);
        let class = call.and_then(|number| syscall::class(architecture, number));
        let gives = call.is_some_and(|number| syscall::gives(architecture, number));
        match (self.state.and_then(|state| u8::try_from(state).ok()), class) {
            (Some(b'R'), _) => None,
            (Some(b'D'), _) if self.reclaims => Some(LedgerClass::Reclaim),
            (Some(b'D'), Some(class @ (LedgerClass::Sync | LedgerClass::ReadWrite))) => Some(class),
            (Some(b'D'), _) if self.syscall == Some(syscall::OUTSIDE) => {
                Some(LedgerClass::PageFault)
            }
            (Some(b'D'), _) => Some(LedgerClass::Uninterruptible),
            _ if self.told().is_some() => self.told(),
            // A disk is waited for in state D: here it is a pipe or a socket.
            (_, Some(LedgerClass::ReadWrite)) if gives => Some(LedgerClass::Output),
            (_, Some(LedgerClass::ReadWrite)) => Some(LedgerClass::Input),
            (_, Some(class)) => Some(class),
            // The two files are read one after the other, and it was woken in between.
            _ if call.is_none() && self.syscall.is_some() => None,
            // We were not allowed to look, or do not know this architecture's numbers.
            _ => Some(LedgerClass::Unknown),
        }
    }

    /// Of a thread that sleeps, the class of its call and the application's own word for it, if it has
    /// one; `None` when it was not met asleep.
    pub(crate) fn asleep(self, architecture: &str) -> Option<(LedgerClass, Option<LedgerClass>)> {
        if self.state == Some(i64::from(b'D')) {
            return None;
        }
        let silent = ThreadSample {
            wait_event: None,
            ..self
        };
        Some((silent.class(architecture)?, self.told()))
    }

    /// The application's own word; `None` when it has none to say.
    fn told(self) -> Option<LedgerClass> {
        let event = u32::try_from(self.wait_event?).ok()?;
        match wait_event::thread_time_class(event)? {
            // A client may be read from or written to, a file either, another process may be anything:
            // the call tells.
            ThreadTimeClass::EventClient
            | ThreadTimeClass::EventExtension
            | ThreadTimeClass::EventIpc
            | ThreadTimeClass::EventIo => None,
            class => Some(class.ledger()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(state: u8, syscall: Option<i64>, wait_event: Option<i64>) -> Option<LedgerClass> {
        let thread_sample = ThreadSample {
            state: Some(i64::from(state)),
            syscall,
            wait_event,
            reclaims: false,
        };
        thread_sample.class("x86_64")
    }

    #[test]
    fn a_disk_is_told_by_the_state() {
        assert_eq!(class(b'D', Some(75), None), Some(LedgerClass::Sync));
        assert_eq!(class(b'D', Some(17), None), Some(LedgerClass::ReadWrite));
        assert_eq!(
            class(b'D', Some(syscall::OUTSIDE), None),
            Some(LedgerClass::PageFault)
        );
        assert_eq!(class(b'D', None, None), Some(LedgerClass::Uninterruptible));
        let waits = ThreadSample {
            state: Some(i64::from(b'D')),
            reclaims: true,
            ..ThreadSample::default()
        };
        assert_eq!(waits.class("x86_64"), Some(LedgerClass::Reclaim));
    }

    #[test]
    fn a_pipe_or_socket_is_no_disk() {
        assert_eq!(class(b'S', Some(232), None), Some(LedgerClass::Input));
        assert_eq!(class(b'S', Some(0), None), Some(LedgerClass::Input));
        assert_eq!(class(b'S', Some(1), None), Some(LedgerClass::Output));
    }

    #[test]
    fn the_applications_own_word_goes_before_the_call() {
        let told = |event| class(b'S', Some(232), Some(event));
        assert_eq!(told(0x0300_0004), Some(LedgerClass::DatabaseLock));
        assert_eq!(told(0x0100_0008), Some(LedgerClass::SyncQueue));
        assert_eq!(told(0x0100_0004), Some(LedgerClass::InternalLock));
        assert_eq!(told(0x0600_0000), Some(LedgerClass::Input));
        assert_eq!(told(0), Some(LedgerClass::Input));
        assert_eq!(
            class(b'D', Some(75), Some(0x0a00_0046)),
            Some(LedgerClass::Sync),
            "the kernel knows best what it waits for"
        );
    }

    #[test]
    fn who_runs_is_not_blocked_and_who_may_not_be_looked_at_is_unknown() {
        assert_eq!(class(b'R', Some(syscall::RUNNING), None), None);
        assert_eq!(class(b'S', Some(syscall::RUNNING), None), None);
        assert_eq!(class(b'S', None, None), Some(LedgerClass::Unknown));
    }
}
