//! Waits drawn by hand, and where they end.

use super::*;

const WORKERS: EntityId = EntityId(1);
const SYNCER: EntityId = EntityId(2);

/// Waits of `woken` in futex: by whom, how long, and what that one did meanwhile.
fn edge(woken: EntityId, waker: EntityId, ns: f64, did: &[(LedgerClass, f64)]) -> Edge {
    let mut edge = Edge {
        waits: 1.0,
        woken,
        class: LedgerClass::Futex,
        by: By::Pool,
        waker: Some(waker),
        ns,
        serving: None,
        did: [0.0; CLASSES.len()],
    };
    for (class, ns) in did {
        edge.did[sensors::wakeup::place(*class).expect("it has a column")] = *ns;
    }
    edge
}

fn ends(edges: Vec<Edge>) -> Ends {
    let serving = BTreeSet::from([WORKERS]);
    let waits = WaitsFor {
        edges,
        serving,
        knows_requests: false,
    };
    waits.locks().expect("they waited")
}

fn is_about(part: f64, expected: f64) -> bool {
    (part - expected).abs() < 1e-3
}

use LedgerClass::{CpuWait, Futex, Input, InternalLock, OnCpu, Sync, SyncQueue, Unknown};

#[test]
fn a_crowd_behind_one_in_fdatasync_waits_for_the_disk() {
    let one = ends(vec![edge(
        WORKERS,
        SYNCER,
        8.0,
        &[(Sync, 7.0), (OnCpu, 1.0)],
    )]);
    assert!(is_about(one.part(Sync), 0.875), "{one:?}");
    assert_eq!(one.holder(), Some((SYNCER, 1.0)));
    // The leader is one of the crowd, and was itself in line before: as group commits have it.
    let group = [(Sync, 4.0), (Futex, 3.5), (OnCpu, 0.5), (Input, 9.0)];
    let group = ends(vec![edge(WORKERS, WORKERS, 8.0, &group)]);
    assert!(is_about(group.part(Sync), 8.0 / 9.0), "{group:?}");
    assert!(is_about(group.part(Input), 0.0), "{group:?}");
    assert_eq!(group.most().map(|it| it.0), Some(Sync));
}

#[test]
fn a_long_line_behind_one_who_syncs_waits_for_the_disk_too() {
    // Of thirty waits nearly all were ended by one who had waited in the same line.
    let line = [(Sync, 0.24), (OnCpu, 0.06), (Futex, 7.7)];
    let long = ends(vec![edge(WORKERS, WORKERS, 8.0, &line)]);
    assert!(is_about(long.part(Sync), 0.8), "{long:?}");
    assert!(is_about(long.part(OnCpu), 0.2), "{long:?}");
    assert!(is_about(long.circle, 0.0), "{long:?}");
    // Of a thousand: too little is left to say.
    let line = [(Sync, 0.001), (OnCpu, 0.004), (Futex, 7.995)];
    let longer = ends(vec![edge(WORKERS, WORKERS, 8.0, &line)]);
    assert!(is_about(longer.circle, 1.0), "{longer:?}");
}

#[test]
fn a_lock_whose_holder_works_ends_on_the_cpu_and_in_its_wait_for_one() {
    let held = [(Futex, 7.0), (OnCpu, 0.75), (CpuWait, 0.25)];
    let ends = ends(vec![edge(WORKERS, WORKERS, 8.0, &held)]);
    assert!(is_about(ends.part(OnCpu), 0.75), "{ends:?}");
    assert!(is_about(ends.part(CpuWait), 0.25), "{ends:?}");
    assert!(ends.circle < 1e-3, "{ends:?}");
}

#[test]
fn a_lock_of_the_databases_own_is_passed_along_as_futex_is() {
    let did = [(InternalLock, 2.0), (SyncQueue, 6.0), (OnCpu, 2.0)];
    let internal = Edge {
        class: InternalLock,
        ..edge(WORKERS, WORKERS, 8.0, &did)
    };
    let ends = ends(vec![internal]);
    assert!(is_about(ends.part(SyncQueue), 0.75), "{ends:?}");
    assert!(is_about(ends.part(OnCpu), 0.25), "{ends:?}");
    assert!(is_about(ends.part(InternalLock), 0.0), "{ends:?}");
}

#[test]
fn workers_that_wait_for_one_who_waits_for_requests_are_idle() {
    let ends = ends(vec![edge(
        WORKERS,
        SYNCER,
        8.0,
        &[(Input, 7.2), (OnCpu, 0.8)],
    )]);
    assert!(is_about(ends.part(Input), 0.9), "{ends:?}");
}

#[test]
fn what_goes_round_and_what_is_not_known_is_said_to_be_so() {
    let round = ends(vec![edge(WORKERS, WORKERS, 8.0, &[(Futex, 8.0)])]);
    assert!(is_about(round.circle, 1.0), "{round:?}");
    let mut timer = edge(WORKERS, WORKERS, 2.0, &[]);
    (timer.by, timer.waker) = (By::Interrupt, None);
    let early = edge(WORKERS, SYNCER, 6.0, &[]);
    let ends = ends(vec![timer, early]);
    assert!(is_about(ends.part(Unknown), 1.0), "{ends:?}");
    assert_eq!(ends.holder(), Some((SYNCER, 0.75)));
}

#[test]
fn waits_in_futex_that_a_timer_ended_are_told_apart() {
    let timer = Edge {
        by: By::Interrupt,
        waker: None,
        ..edge(WORKERS, WORKERS, 3.0, &[])
    };
    let given = edge(WORKERS, SYNCER, 1.0, &[(OnCpu, 1.0)]);
    // One wait of 3 ns.
    let timed = |requests, response_ns| {
        ends(vec![timer.clone(), given.clone()])
            .of_requests(requests, response_ns)
            .timed
    };
    assert!(is_about(timed(0.0, Some(9.0)), 0.75));
    assert!(is_about(timed(50.0, None), 0.75));
    assert!(is_about(timed(1.0, Some(9.0)), 0.75));
    // Tried again and again, for one request or for many.
    let tried = Edge {
        waits: 12.0,
        ..timer.clone()
    };
    let tried = ends(vec![tried]).of_requests(1.0, Some(9.0));
    assert!(is_about(tried.timed, 0.0));
    assert!(is_about(timed(50.0, Some(9.0)), 0.0));
    // Somebody sleeps for longer than requests take.
    assert!(is_about(timed(50.0, Some(2.0)), 0.75));
    let internal = Edge {
        class: InternalLock,
        by: By::Interrupt,
        ..edge(WORKERS, WORKERS, 3.0, &[])
    };
    assert!(is_about(ends(vec![internal]).timed, 0.0));
}
