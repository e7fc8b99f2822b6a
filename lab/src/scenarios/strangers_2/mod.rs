//! `strangers-2`, written later on 2026-11-25, while the engine changed for what `strangers-1` had
//! shown: other servers, and other shapes of causes. Limits on one worker of several, pools of
//! processes, short connections, holders that work, groups in groups, neighbours that live for
//! milliseconds. The name of a situation begins with its kind of server.
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
    Scenario::of_one_cause(Set::Strangers2, names, expect, set_up)
}
