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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scenario::Kind;

    #[test]
    fn the_set_has_what_it_is_there_for() {
        let all = scenarios();
        let of = |kinds: &[Kind]| all.iter().filter(|it| kinds.contains(&it.kind)).count();
        assert!(all.len() >= 16);
        assert!(of(&[Kind::Decoy, Kind::Unnamed]) >= 7);
        assert!(of(&[Kind::TwoCauses]) >= 2);
        let servers: BTreeSet<_> = all.iter().map(|it| it.name.split('-').next()).collect();
        assert!(servers.len() >= 7, "{servers:?}");
    }

    #[test]
    fn no_mechanism_is_made_twice_or_was_made_on_the_same_server() {
        let server = |it: &Scenario| it.name.split('-').next().map(str::to_owned);
        let all = scenarios();
        let mechanisms: BTreeSet<_> = all.iter().map(|it| it.mechanism).collect();
        assert_eq!(mechanisms.len(), all.len());
        let earlier = super::super::all();
        let earlier = earlier.iter().filter(|it| it.set != Set::Strangers3);
        let earlier: BTreeSet<_> = earlier.map(|it| (server(it), it.mechanism)).collect();
        for it in &all {
            assert!(
                !earlier.contains(&(server(it), it.mechanism)),
                "{}",
                it.name
            );
        }
    }
}
