//! The kernel's queues for asynchronous work: linux-aio and io_uring.
//!
//! Only as much of them as the experiment's event loops need: writes from memory that is never freed, and
//! notification when a descriptor has something to read. Requests carry a tag, and completions return it.

#[expect(unsafe_code, reason = "system calls without a wrapper")]
mod aio;
#[expect(
    unsafe_code,
    reason = "what a request points to must outlive it, which no type says"
)]
mod ring;

pub(crate) use aio::Aio;
pub(crate) use ring::Ring;

/// A completed request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The tag of the request.
    pub tag: u64,
    /// What the system call would have returned: bytes, ready events, or a negative errno.
    pub result: i64,
}

/// Requests in progress, at most.
const DEPTH: u32 = 8;

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    use super::*;

    /// A queue of the kernel's; `None` skips the test.
    fn needed<T>(what: &str, queue: io::Result<T>) -> Option<T> {
        let required = std::env::var("STALLSCOPE_REQUIRE").is_ok_and(|it| it == "all");
        queue
            .inspect_err(|why| {
                assert!(!required, "STALLSCOPE_REQUIRE=all, and {what}: {why}");
                println!("SKIPPED: {what}: {why}");
            })
            .ok()
    }

    static TEXT: [u8; 3] = *b"abc";
    const WRITTEN: Done = Done { tag: 7, result: 3 };

    fn file() -> File {
        tempfile::tempfile().expect("a file can be made")
    }

    #[track_caller]
    fn holds(file: &File, expected: &[u8]) {
        use std::os::unix::fs::FileExt;
        let mut bytes = vec![0; 64];
        let length = file.read_at(&mut bytes, 0).expect("it can be read");
        assert_eq!(&bytes[..length], expected);
    }

    /// A timer that expires after a moment.
    fn timer() -> std::os::fd::OwnedFd {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK);
        let timer = timer.expect("a timer can be made");
        let none = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let soon = Timespec {
            tv_nsec: 100_000,
            ..none
        };
        let once = Itimerspec {
            it_interval: none,
            it_value: soon,
        };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once).expect("it is a timer");
        timer
    }

    /// The completion of a poll on an expired timer.
    const OVER: Done = Done {
        tag: 9,
        result: libc::POLLIN as i64,
    };

    #[test]
    fn linux_aio_writes_and_watches() {
        let Some(mut queue) = needed("linux-aio", Aio::new()) else {
            return;
        };
        let (file, mut done) = (file(), Vec::new());
        queue
            .write(file.as_fd(), &TEXT, 2, 7)
            .expect("there is room");
        queue.wait(&mut done).expect("it is done at last");
        assert_eq!(done, [WRITTEN]);
        holds(&file, b"\0\0abc");
        done.clear();
        queue.reap(&mut done).expect("nothing is left");
        assert_eq!(done, []);
        let timer = timer();
        queue.watch(timer.as_fd(), 9).expect("there is room");
        queue.wait(&mut done).expect("the timer is over at last");
        assert_eq!(done, [OVER]);
    }

    #[test]
    fn io_uring_writes_and_watches() {
        let Some(mut queue) = needed("io_uring", Ring::new()) else {
            return;
        };
        let (file, mut done) = (file(), Vec::new());
        queue
            .write(file.as_fd(), &TEXT, 2, 7)
            .expect("there is room");
        queue.submit().expect("it is taken");
        queue.wait().expect("it is done at last");
        queue.reap(&mut done);
        assert_eq!(done, [WRITTEN]);
        holds(&file, b"\0\0abc");
        done.clear();
        let timer = timer();
        queue.watch(timer.as_fd(), 9).expect("there is room");
        queue.submit().expect("it is taken");
        queue.wait().expect("the timer is over at last");
        queue.reap(&mut done);
        assert_eq!(done, [OVER]);
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error_or_a_result_below_0() {
        let read_only = File::open("/dev/null").expect("it is there");
        let nowhere: BorrowedFd = read_only.as_fd();
        if let Ok(mut queue) = Aio::new() {
            assert!(queue.write(nowhere, &TEXT, 0, 1).is_err());
        }
        if let Ok(mut queue) = Ring::new() {
            let mut done = Vec::new();
            queue.write(nowhere, &TEXT, 0, 1).expect("there is room");
            queue.submit().expect("it is taken");
            queue.wait().expect("it is done at once");
            queue.reap(&mut done);
            assert_eq!(done[0].result, -i64::from(libc::EBADF));
        }
    }
}
