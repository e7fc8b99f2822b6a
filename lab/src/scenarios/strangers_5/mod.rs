//! `strangers-5`, written on 2026-11-26, by somebody who had not read the engine: causes that the server's own
//! settings, keys and patterns bring in. A pattern that tries all ways, a row that a foreign key locks, a
//! pool of threads inside a database, ways that are paid twice, readers who wait for a writer, limits of
//! writes and of clients. The name of a situation begins with its kind of server.
//!
//! Nobody who writes one looks at what the diagnosis says of it first.

mod databases;
mod decoys;
mod processes;
pub(super) mod servers;
mod two;
mod unnamed;
mod web;

use anyhow::Result;

use super::strangers::{beside, downstream, far, programs, servers as first, unknown};
use super::strangers_2::servers as second;
use super::strangers_3::{databases as third_databases, servers as third};
use super::strangers_4::servers as fourth;
use crate::scenario::{Cause, Expect, Scenario, Set, SetUp, Who};
use crate::stage::{Limit, Stage};

/// All of them, in the order in which they are run and shown.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = web::scenarios();
    all.extend(databases::scenarios());
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
    Scenario::of_one_cause(Set::Strangers5, names, expect, set_up)
}

/// Limits what a server may use; the answer says why that cannot be.
pub(super) fn limited(stage: &mut Stage, server: u32, limit: Limit) -> Option<String> {
    match stage.confine("limited", server, &[limit]) {
        Ok(group) => {
            stage.cast.insert(Who::LimitedGroup, group.path);
            None
        }
        Err(error) => Some(format!("{error:#}")),
    }
}
