//! `lock.futex` where who holds it tells: beside `io.sync`, and beside idle threads.

use expect_test::expect;

use crate::drawing::{drawn, said, told, with};
use crate::locks::SYNC;

/// Of seven threads that wait in futex another has the lock, who sleeps for nine tenths of that; one of eight is in
/// fsync for three tenths of the time.
fn held_beside_syncs() -> String {
    let threads: String = (1..=7)
        .map(|it| {
            format!(
                "thread_pool.pool worker{it} =run ####################
                thread_time.futex_ns worker{it} *1e9 66666666666666666666
                thread_time.io_sync_ns worker{it} *1e9 33333333333333333333\n"
            )
        })
        .collect();
    SYNC.to_owned()
        + &threads
        + "
        thread_pool.pool hot1 =hot ####################
        wakeup.class    run<hot *10 ####################
        wakeup.by       run<hot     ####################
        wakeup.waker    run<hot =hot ####################
        wakeup.wait_ns  run<hot *4e9 ####################
        wakeup.sleep_ns run<hot *4e9 99999999999999999999
        "
}

#[test]
fn a_lock_that_somebody_holds_who_does_not_sync_is_named_beside_syncs() {
    let report = drawn(&held_beside_syncs()).diagnose();
    expect![[r#"
        lock.futex | process server | measured | 0.525 (0.525 to 0.525)
        A lock is the bottleneck: 52 % of each request was threads of server waiting for each other; hot ended 100 % of these waits, 100 % of which were for somebody sleeping on a timer.
        helps: less time under the lock, or several locks instead of one: +100 % to +120 % by waits removed, closed loop
        not: more clients, more threads, more or faster CPUs
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
        present: A lock is the bottleneck: 52 % of each request was threads of server waiting for each other; hot ended 100 % of these waits, 100 % of which were for somebody sleeping on a timer.
        present: Syncing to disk is the bottleneck: 39 % of each request was server waiting for fsync.
    "#]].assert_eq(&format!(
        "{}{}\n{}\n",
        told(&report),
        said(&report, "lock.futex"),
        said(&report, "io.sync")
    ));
    let syncs = with(
        &held_beside_syncs(),
        "
        wakeup.sleep_ns run<hot *4e9 00000000000000000000
        wakeup.sync_ns  run<hot *4e9 99999999999999999999",
    );
    expect!["absent: io.sync explains it: server"]
        .assert_eq(&said(&drawn(&syncs).diagnose(), "lock.futex"));
}

/// Sixteen threads serve four clients and rest in futex, as far as they do not wait there for each other's lock, which two
/// of them do at a time, twenty times in each request.
const HANDED_ON: &str = "
    cpus 4  clients 4
    busy      33333333333333333333
    run x16   11111111111111111111
    blocked   S202
    gen x1    11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       99999999999999999999
";

#[test]
fn a_lock_that_is_handed_on_in_each_request_is_told_beside_idle_threads() {
    let pool: String = (1..=16)
        .map(|it| format!("thread_pool.pool worker{it} =run ####################\n"))
        .collect();
    let edges = |waits: u32| {
        let text = format!(
            "{HANDED_ON}{pool}
            wakeup.class   run<run *10 ####################
            wakeup.by      run<run     ####################
            wakeup.waker   run<run =run ####################
            wakeup.waits   run<run *{waits} ####################
            wakeup.wait_ns run<run *2e9 ####################
            "
        );
        let report = drawn(&text).diagnose();
        format!("{}{}\n", told(&report), said(&report, "lock.futex"))
    };
    expect![[r#"
        lock.futex | process server | consistent | 0.500 (0.500 to 0.500)
        A lock is the bottleneck: 50 % of each request was threads of server waiting for each other.
        helps: less time under the lock, or several locks instead of one: +96 % to +108 % by waits removed, closed loop
        not: more clients, more threads, more CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
        present: A lock is the bottleneck: 50 % of each request was threads of server waiting for each other.

        undetermined | process server | suspected | none
        Undetermined: the threads of server spent more time waiting in futex (a lock) than requests took, so some of them were idle there, and no cause that this version judges explains the rest.
        wrong if: run longer and alone on the machine, and name what serves: --target
        cannot tell: the threads of server were in futex for longer than requests took: some of them were idle there
    "#]].assert_eq(&format!("{}\n{}", edges(20_000), edges(2_000)));
}
