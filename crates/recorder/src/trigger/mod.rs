//! `record --trigger`: what is looked for while a ring of segments is recorded, and how often something is saved.
//!
//! Pure: readings go in, firings come out. Who writes and moves segments is `session/ring.rs`.

mod expression;
mod rate_limit;
mod readings;
mod spike;
mod watch;

pub use expression::{Trigger, WrongTrigger};
pub(super) use rate_limit::{Limiter, Verdict};
pub use rate_limit::{RateLimit, WrongLimit};
pub(super) use watch::{Fired, Watch};
