//! What each set of strangers is there for.

use std::collections::BTreeSet;

use crate::scenario::{Kind, Scenario, Set};

/// The sets with what they have: situations with one cause, with two, decoys, some that nothing of ours names, and kinds
/// of server at least.
const SETS: [(Set, [usize; 4], usize); 17] = [
    (Set::Strangers2, [9, 2, 4, 1], 7),
    (Set::Strangers3, [9, 2, 3, 4], 7),
    (Set::Strangers4, [12, 2, 3, 1], 10),
    (Set::Strangers5, [10, 2, 3, 1], 10),
    (Set::Strangers6, [10, 2, 3, 1], 10),
    (Set::Strangers7, [10, 2, 3, 1], 10),
    (Set::Strangers8, [10, 2, 3, 1], 10),
    (Set::Strangers9, [10, 2, 3, 1], 10),
    (Set::Strangers10, [10, 2, 3, 1], 10),
    (Set::Strangers11, [10, 2, 3, 1], 10),
    (Set::Strangers12, [10, 2, 3, 1], 10),
    (Set::Strangers13, [8, 3, 4, 1], 9),
    (Set::Strangers14, [8, 3, 4, 1], 9),
    (Set::Strangers15, [8, 3, 4, 1], 9),
    (Set::Strangers16, [8, 3, 4, 1], 9),
    (Set::Strangers17, [8, 3, 4, 1], 9),
    (Set::Strangers18, [8, 3, 4, 1], 9),
];

fn sets() -> impl Iterator<Item = Set> {
    SETS.into_iter().map(|(set, ..)| set)
}

fn of(set: Set) -> Vec<Scenario> {
    let all = super::all().into_iter();
    all.filter(|it| it.set == set).collect()
}

/// The name of a situation begins with it.
fn server(scenario: &Scenario) -> Option<&str> {
    scenario.name.split('-').next()
}

/// The third set showed what was known on other servers, and the last ones are samples of what people meet.
fn may_make_again(set: Set) -> bool {
    matches!(
        set,
        Set::Strangers3
            | Set::Strangers12
            | Set::Strangers13
            | Set::Strangers14
            | Set::Strangers15
            | Set::Strangers16
            | Set::Strangers17
            | Set::Strangers18
    )
}

#[test]
fn a_set_has_what_it_is_there_for() {
    for (set, counts, least) in SETS {
        let all = of(set);
        let kinds = [Kind::Cause, Kind::TwoCauses, Kind::Decoy, Kind::Unnamed];
        let found = kinds.map(|kind| all.iter().filter(|it| it.kind == kind).count());
        assert_eq!(found, counts, "{set:?}");
        let servers: BTreeSet<_> = all.iter().map(server).collect();
        assert!(servers.len() >= least, "{set:?}: {servers:?}");
    }
}

#[test]
fn every_cause_of_a_set_is_another() {
    // The third set shows what was known on other servers.
    for set in sets().filter(|it| *it != Set::Strangers3) {
        let all = of(set);
        let causes = all.iter().filter(|it| it.kind == Kind::Cause);
        let causes: Vec<_> = causes.map(|it| it.expect.cause).collect();
        let named: BTreeSet<_> = causes.iter().collect();
        assert_eq!(named.len(), causes.len(), "{set:?}");
    }
}

#[test]
fn no_mechanism_is_made_twice_or_was_made_before() {
    for set in sets().filter(|it| *it != Set::Strangers2) {
        let (all, own) = (super::all(), of(set));
        let mechanisms: BTreeSet<_> = own.iter().map(|it| it.mechanism).collect();
        assert_eq!(mechanisms.len(), own.len(), "{set:?}");
        let mut others = all.iter().filter(|it| it.set != set);
        let again = others.find(|other| {
            // Some sets may make on another server what was made before. Two were written at a time, by hands that did not
            // see each other's.
            let both = [set, other.set];
            let free = both.into_iter().any(may_make_again);
            let at_a_time = [Set::Strangers16, Set::Strangers17];
            let unseen = both.iter().all(|it| at_a_time.contains(it));
            let mut own = own.iter().filter(|it| it.mechanism == other.mechanism);
            own.any(|it| !free || (server(it) == server(other) && !unseen))
        });
        assert_eq!(again.map(|it| it.name), None, "{set:?}");
    }
}
