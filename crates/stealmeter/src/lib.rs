//! Where the time of an event loop's thread goes, counted by the loop itself.
//!
//! ```
//! let mut meter = stealmeter::Meter::new();
//! let reader = meter.reader(); // goes to any other thread
//! for _ in 0..3 {
//!     meter.before_wait();
//!     std::thread::sleep(std::time::Duration::from_millis(1)); // epoll_wait, io_uring_enter, ...
//!     meter.after_wait();
//!     // ... work
//! }
//! let seen = reader.read().counters;
//! assert!(seen.sleep_ns > 0);
//! assert_eq!(seen.wall_ns(), seen.awake_ns() + seen.sleep_ns);
//! ```
//!
//! [`Counters`] says what the five classes are. They never decrease, add up to the wall time at every
//! reading, and do not depend on who reads them or how often.
//!
//! # Where the marks go
//!
//! [`Meter::before_wait`] and [`Meter::after_wait`] go around the call that may put the loop to
//! sleep, and nothing else. A poll that returns at once whatever it finds needs no marks, only
//! [`Meter::tick`] once a round. A loop that polls first and sleeps only when there was nothing pays
//! for boundaries only when it really sleeps.
//!
//! # Threads
//!
//! One thread marks. Any number of others read, through a [`Reader`], without waiting for it or for
//! each other. What they see is as of the loop's last boundary, and [`Snapshot`] says of when that
//! is: a loop that sleeps for a minute thread_times the minute when it wakes up. Let it wake up at least as
//! often as the counters are looked at, or rates will come in lumps.
//!
//! # C
//!
//! The same as `stealmeter.h`; see `README.md`.

#![warn(missing_docs)]

mod atomics;
mod boundaries;
mod counters;
mod exposition;
mod ffi;
mod hooks;
mod meter;
mod published;
mod thread;
mod thread_times;

pub use counters::Counters;
pub use exposition::{BadLabel, Format, Registry};
pub use hooks::ThreadHooks;
pub use meter::{Meter, Reader, RunQueue, Snapshot};
