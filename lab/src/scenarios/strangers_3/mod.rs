//! `strangers-3`, written in the evening of 2026-11-25, by somebody who had not read the engine: servers
//! of the earlier sets with other mechanisms. Queues inside of programs, locks behind locks, limits that a
//! neighbour in the same group uses up, work that somebody else's command does, counters that rise for
//! others. The name of a situation begins with its kind of server.
//!
//! Nobody who writes one looks at what the diagnosis says of it first.

pub(super) mod databases;
mod decoys;
mod runtimes;
pub(super) mod servers;
mod two;
mod unnamed;
mod web;

use anyhow::Result;

use super::strangers::{beside, downstream, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use crate::scenario::{Cause, Expect, Scenario, Set, SetUp};
use crate::stage::Stage;

/// All of them, in the order in which they are run and shown.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = web::scenarios();
    all.extend(databases::scenarios());
    all.extend(runtimes::scenarios());
    all.extend(two::scenarios());
    all.extend(decoys::scenarios());
    all.extend(unnamed::scenarios());
    all
}

/// A situation of this set with one cause, which costs throughput.
fn cause(
    names: [&'static str; 3],
    expect: Expect,
    set_up: fn(&mut Stage, Cause) -> Result<SetUp>,
) -> Scenario {
    Scenario::of_one_cause(Set::Strangers3, names, expect, set_up)
}
