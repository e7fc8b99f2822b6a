//! `strangers-1`, the set of 2026-11-25: servers, runtimes and mechanisms that the diagnosis had not
//! met when they were written, some with two causes, some that only look bad, and some whose cause has
//! no name in it. Their generators are those that people have: with and without latency in their
//! output, unknown ones, and none at all where `record` looks on.
//!
//! Nobody who writes one looks at what the diagnosis says of it first.

mod databases;
mod decoys;
pub(super) mod programs;
mod runtimes;
pub(super) mod servers;
mod stores;
mod threads;
mod two;
mod unnamed;
mod web;

use std::process::Command;

use anyhow::Result;

use super::held_out::wait_for;
use super::loads::own;
use crate::scenario::{AROUND, Cause, Expect, Load, Scenario, Set, SetUp, Who};
use crate::stage::{DELAYED_SERVER, Stage};

/// All of them, in the order in which they are run and shown.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = web::scenarios();
    all.extend(stores::scenarios());
    all.extend(databases::scenarios());
    all.extend(runtimes::scenarios());
    all.extend(threads::scenarios());
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
    Scenario::of_one_cause(Set::Strangers1, names, expect, set_up)
}

/// The lab's own generator, of which `stallscope` is told nothing.
pub(super) fn unknown(stage: &Stage, words: &[&str]) -> Result<Load> {
    let mut load = own(stage, words)?;
    load.options.clear();
    Ok(load)
}

/// The same beside `record`, with the server's process as its target and nothing else.
pub(super) fn beside(stage: &mut Stage, server: u32, words: &[&str]) -> Result<Load> {
    let recorded = stage.seconds;
    stage.seconds += 2 * u32::try_from(AROUND.as_secs())?;
    let load = unknown(stage, words);
    stage.seconds = recorded;
    Ok(load?.recorded_beside(server))
}

/// A service behind the service, in a process of its own; its process and its address.
pub(super) fn downstream(stage: &mut Stage, sleep_us: u32) -> Result<(u32, String)> {
    use anyhow::Context;
    let sleep = sleep_us.to_string();
    let command = stage.own(&["serve", "downstream", "--sleep", &sleep])?;
    let (pid, line) = stage.beside_that_speaks(command)?;
    let (address, _) = crate::server::said(&line).context("the service says where it is")?;
    Ok((pid, address.to_owned()))
}

/// A server at port 7000 which is so far away in each direction where the cause is made, the peer of the situation: its
/// process and its address; why not, where this machine cannot have one.
pub(super) fn far(
    stage: &mut Stage,
    server: &Command,
    cause: Cause,
    one_way_ms: u32,
) -> Result<std::result::Result<(u32, String), String>> {
    let one_way_ms = match cause {
        Cause::Made => one_way_ms,
        Cause::Removed => 0,
    };
    let server = match stage.server_at_a_distance(server, one_way_ms) {
        Ok(server) => server,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    let address = format!("{DELAYED_SERVER}:7000");
    wait_for(&address)?;
    stage.cast.insert(Who::Peer, address.clone());
    Ok(Ok((server, address)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Kind;

    #[test]
    fn the_set_has_what_it_is_there_for() {
        let all = scenarios();
        let of = |kinds: &[Kind]| all.iter().filter(|it| kinds.contains(&it.kind)).count();
        assert!(of(&[Kind::Decoy, Kind::Unnamed]) >= 8);
        assert!(of(&[Kind::TwoCauses]) >= 4);
        assert!(all.len() >= 24);
    }
}
