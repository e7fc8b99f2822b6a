//! `strangers-9`, written on 2026-11-30, by somebody who had not read the engine: settings, code and users again. A cache
//! of pages on a disk without room, a page that asks for its parts one by one, files that may not be opened, a generation
//! that is too small, transactions that are prepared first, keys that an import replaces, a way that loses packets. The
//! name of a situation begins with its kind of server.
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

use super::strangers::{beside, far, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_3::databases as third_databases;
use super::strangers_5::{limited, servers as fifth};
use super::strangers_7::servers as seventh;
use super::strangers_8::servers as eighth;
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
    Scenario::of_one_cause(Set::Strangers9, names, expect, set_up)
}
