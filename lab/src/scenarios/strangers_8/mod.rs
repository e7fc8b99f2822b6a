//! `strangers-8`, written on 2026-11-26, by somebody who had not read the engine: ordinary servers that their settings,
//! their users and their own code slow down. A session that is opened for each transaction, a view that is made anew,
//! a database in another zone, connections that browsers keep, a limit that was never raised, a cache that leaves no
//! room for files, a call under a lock. The name of a situation begins with its kind of server.
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

use super::strangers::{beside, downstream, far, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_3::{databases as third_databases, servers as third};
use super::strangers_5::{limited, servers as fifth};
use super::strangers_6::servers as sixth;
use super::strangers_7::servers as seventh;
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
    Scenario::of_one_cause(Set::Strangers8, names, expect, set_up)
}
