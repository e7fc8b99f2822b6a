//! `strangers-6`, written on 2026-11-26, by somebody who had not read the engine: causes of which the usual
//! figures say little or nothing. A quota that is used up by bursts while its mean is not, queues that no
//! thread and no socket shows, a service that is reached without a network, syncs that a limit delays, a
//! window that is too small for its way. The name of a situation begins with its kind of server.
//!
//! Nobody who writes one looks at what the diagnosis says of it first.

mod databases;
mod decoys;
mod runtimes;
pub(super) mod servers;
mod two;
mod unnamed;
mod web;

use anyhow::Result;

use super::strangers::{beside, downstream, far, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_3::servers as third;
use super::strangers_4::servers as fourth;
use super::strangers_5::{limited, servers as fifth};
use crate::scenario::{Cause, Expect, Scenario, Set, SetUp};
use crate::stage::Stage;

/// All of them, in the order in which they are run and shown.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = web::scenarios();
    all.extend(databases::scenarios());
    all.extend(runtimes::scenarios());
    all.extend(two::scenarios());
    all.extend(decoys::scenarios());
    all.push(unnamed::scenario());
    all
}

/// A situation of this set with one cause, which costs throughput.
fn cause(
    names: [&'static str; 3],
    expect: Expect,
    set_up: fn(&mut Stage, Cause) -> Result<SetUp>,
) -> Scenario {
    Scenario::of_one_cause(Set::Strangers6, names, expect, set_up)
}
