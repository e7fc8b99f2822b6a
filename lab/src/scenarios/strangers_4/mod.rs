//! `strangers-4`, written in the night to 2026-11-26, by somebody who had not read the engine: causes that
//! come in by another door. Waits without the system call that usually goes with them, pools that idle
//! sessions hold, locks between processes, memory that is mapped, workers that are killed and come back,
//! a disk with room and no inodes. The name of a situation begins with its kind of server.
//!
//! Nobody who writes one looks at what the diagnosis says of it first.

mod databases;
mod decoys;
mod processes;
mod runtimes;
pub(super) mod servers;
mod two;
mod unnamed;
mod web;

use anyhow::Result;

use super::strangers::{beside, downstream, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_3::{databases as third_databases, servers as third};
use crate::scenario::{Cause, Expect, Scenario, Set, SetUp};
use crate::stage::Stage;

/// All of them, in the order in which they are run and shown.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = web::scenarios();
    all.extend(databases::scenarios());
    all.extend(runtimes::scenarios());
    all.extend(processes::scenarios());
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
    Scenario::of_one_cause(Set::Strangers4, names, expect, set_up)
}
