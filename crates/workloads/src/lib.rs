//! Load generators: recognise one by its command line, prepare that command, understand its output.
//!
//! An adapter is one file and one line in `all()`. It sees bytes and times, nothing else: it starts no
//! process, opens no file, and knows neither sensors nor recordings. A command that no adapter knows
//! runs as typed.
#![warn(missing_docs)]

mod adapter;
mod complaints;
mod decimal;
mod listener;
mod log;
mod namespace;
mod pattern;
mod pgbench;
mod quote;
mod redact;
mod wrapper;

pub use adapter::{
    Adapter, Adjust, Bin, Ending, Prepared, Quantity, Reader, SIGNAL, Stream, Unknown,
};
pub use listener::Listener;
pub use log::{LATENCY_SAMPLE, LatencyLog, LogOffer, Logged};
pub use pattern::{Attached, Patterns, Rule};
pub use redact::{Secrets, is_known_option, redact, redact_text};
pub use wrapper::name_of;

use std::ffi::OsString;

/// Every adapter.
pub fn all() -> &'static [&'static dyn Adapter] {
    static ALL: &[&dyn Adapter] = &[&pgbench::PGBENCH, &pgbench::YSQL_BENCH];
    ALL
}

/// The first adapter's preparation of `argv`, or `None` for a command that none knows. A load from
/// another network namespace (`ip netns exec NAME COMMAND`), or that `timeout` and the like start, is
/// prepared like any other.
pub fn prepare(argv: &[OsString], adjust: Adjust) -> Option<Prepared> {
    let (prefix, command) = argv.split_at(wrapper::prefix_length(argv));
    let mut prepared = all()
        .iter()
        .find_map(|adapter| adapter.prepare(command, adjust))?;
    if let LogOffer::Possible(log) = &mut prepared.log {
        log.behind += prefix.len();
    }
    Some(Prepared {
        argv: [prefix, &prepared.argv].concat(),
        ..prepared
    })
}
