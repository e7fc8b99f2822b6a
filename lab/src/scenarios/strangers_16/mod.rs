//! `strangers-16`, written on 2026-11-30, by somebody who had not read the engine: a sample of what the tuning and
//! troubleshooting guides of distributions, databases, web servers and runtimes and the forums of their users answer again
//! and again. Each situation says where it is from. Of what is common there some mechanisms were made before; here they are
//! on another kind of server, or by another program. The name of a situation begins with its kind of server.
//!
//! Nobody who writes one looks at what the diagnosis says of it first.

mod databases;
mod decoys;
mod runtimes;
mod servers;
mod two;
mod unnamed;
mod web;

use anyhow::Result;

use super::strangers::{downstream, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_6::servers as sixth;
use super::strangers_7::servers as seventh;
use super::strangers_9::servers as ninth;
use super::strangers_13::servers as thirteenth;
use super::strangers_15::servers as fifteenth;
use crate::scenario::{Cause, Expect, Scenario, Set, SetUp};
use crate::stage::Stage;

/// All of them, in the order in which they are run and shown.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = databases::scenarios();
    all.extend(web::scenarios());
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
    Scenario::of_one_cause(Set::Strangers16, names, expect, set_up)
}
