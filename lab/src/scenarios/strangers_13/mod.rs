//! `strangers-13`, written on 2026-11-30, by somebody who had not read the engine: what runbooks, manuals and checklists say
//! of nearly every system. Each situation says where it is from. Common things come again and again: most mechanisms were
//! made before, and here they are on another kind of server. The name of a situation begins with its kind of server.
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

use super::strangers::{downstream, far, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_6::servers as sixth;
use super::strangers_7::servers as seventh;
use super::strangers_12::servers as twelfth;
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
    Scenario::of_one_cause(Set::Strangers13, names, expect, set_up)
}
