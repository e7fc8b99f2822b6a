//! Threads and servers that have nothing to do: what they sit in is no wait.

use expect_test::expect;
use model::LedgerClass;

use crate::drawing::{answers, drawn, listed, said, told, with};

/// A server of one process: four threads answer, eight helpers sit in futex and hardly ever run.
const HELPERS: &str = "
    cpus 4  clients 4
    busy      66666666666666666666
    run x4    55555555555555555555
    wait      00000000000000000000
    hot x8    00000000000000000000
    hotwait   00000000000000000000
    hotblocked S202
    gen x2    22222222222222222222
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
";

/// A server that nobody asks for anything, for 40 s; one of its threads writes now and then.
const IDLE: &str = "
    cpus 4
    busy      1111111111111111111111111111111111111111
    run x9    0000000000000000000000000000000000000000
    wait      0000000000000000000000000000000000000000
    blocked   S232
    hot x1    0000000000000000000000000000000000000000
    hotwait   0000000000000000000000000000000000000000
    throttled 0000000000000000000000000000000000000000  /server
    thread.run_ns hot1 *1e7 1111111111111111111111111111111111111111
";

#[test]
fn helpers_that_sit_in_futex_hold_up_nobody() {
    expect!["healthy server 1.00, load.concurrency loadgen none"]
        .assert_eq(&listed(&drawn(HELPERS).diagnose()));
    let syncs = with(
        HELPERS,
        "
        run x4 11111111111111111111
        blocked D75",
    );
    expect!["io.sync server 0.90"].assert_eq(&listed(&drawn(&syncs).diagnose()));
    let changes = [
        ("helpers at rest", ""),
        (
            "workers as busy as the others",
            "hot x8 55555555555555555555",
        ),
        (
            "the lock is real",
            "
            run x4  22222222222222222222
            blocked S202",
        ),
    ];
    expect![[r#"
        helpers at rest
          absent: server was not seen waiting for a lock
          headline: healthy
        workers as busy as the others
          cannot tell: the threads of server were in futex for longer than requests took: some of them were idle there
          headline: undetermined
        the lock is real
          present: A lock is the bottleneck: 80 % of each request was threads of server waiting for each other.
    "#]].assert_eq(&answers(HELPERS, "lock.futex", &changes));
    let sleepers = with(HELPERS, "hotblocked S35");
    expect!["healthy server 1.00, load.concurrency loadgen none"]
        .assert_eq(&listed(&drawn(&sleepers).diagnose()));
}

#[test]
fn an_idle_server_waits_for_nothing() {
    // One second in fsync of 39, and hardly anything else.
    let rest = " S232".repeat(39);
    let rare = " S232".repeat(38);
    let once = format!("{IDLE}    hotblocked S232 D75{rare}\n");
    let report = drawn(&once).diagnose();
    expect![[r#"
        absent: server was waiting for a sync for only 2.6 % of the time
        healthy server 0.97"#]]
    .assert_eq(&format!(
        "{}\n{}",
        said(&report, "io.sync"),
        listed(&report)
    ));
    // Nor if it has one thread only, of whose life that is more than a hundredth.
    let zeros = "0".repeat(40);
    let alone = IDLE
        .replace("run x9", "run x1")
        .replace(&format!("hot x1    {zeros}"), "clients 1")
        .replace(&format!("hotwait   {zeros}"), "clients 1")
        .replace("hot1", "worker1")
        .replace("blocked   S232", &format!("blocked S232 D75{rare}"));
    expect![[r#"
        healthy | process server | measured | 0.974
        No bottleneck: server waited for nothing worth naming; 3.8 % of its non-idle time it was on a CPU.
        wrong if: give it more work: what it then waits for is its limit
    "#]].assert_eq(&told(&drawn(&alone).diagnose()));
    let often = format!("{IDLE}    hotblocked{}\n", " D75 S232 S232".repeat(13));
    expect!["absent: it took 99.7 % of server's non-idle time on the whole, but over 20 % in only 33 % of the seconds: spikes, not a state"].assert_eq(&said(&drawn(&often).diagnose(), "io.sync"));
    // Nobody may see what it is blocked in.
    let unseen =
        format!("{IDLE}    hotblocked D75{rest}\n").replace("blocked   S232", "blocked   S");
    expect!["cannot tell: what server was blocked in was not seen: run as root, or as the user who owns it"].assert_eq(&said(&drawn(&unseen).diagnose(), "io.sync"));
}

#[test]
fn idle_workers_are_no_crowd_behind_a_sync() {
    // Workers take the clients' requests by turns, and one thread more does nothing but sync.
    let pool = with(
        HELPERS,
        "
        cpus 4  clients 8
        run x16 11111111111111111111
        blocked S202
        hot x1  11111111111111111111
        hotblocked D75",
    );
    let report = drawn(&pool).diagnose();
    expect![[r#"
        cannot tell: a thread of server was in fsync, and its others in futex for longer than requests took: some of them were idle there
        cannot tell: the threads of server were in futex for longer than requests took: some of them were idle there
        undetermined | process server | suspected | none
        Undetermined: the threads of server spent more time waiting for another thread's fsync than requests took, so some of them were idle there, and no cause that this version judges explains the rest.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&format!(
        "{}\n{}\n{}",
        said(&report, "io.sync"),
        said(&report, "lock.futex"),
        told(&report)
    ));
}

/// An event loop, and two threads of its runtime that work for a tenth of their time and sit in futex for the rest.
const RUNTIME: &str = "
    cpus 4  clients 4
    busy      33333333333333333333
    run x1    88888888888888888888
    wait      00000000000000000000
    hot x2    11111111111111111111
    hotwait   00000000000000000000
    gen x1    11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
    wakeup.class   hot<run *10 ####################
    wakeup.by      hot<run     ####################
    wakeup.waker   hot<run =run ####################
    wakeup.wait_ns hot<run *1e9 ####################
    thread_pool.pool worker1 =run ####################
    thread_pool.pool hot1    =hot ####################
    thread_pool.pool hot2    =hot ####################
    thread_time.futex_ns worker1 *1e9 00000000000000000000
    thread_time.futex_ns hot1    *1e9 99999999999999999999
    thread_time.futex_ns hot2    *1e9 99999999999999999999
    serving.inside_input_ns worker1 *1e9 22222222222222222222
    serving.answered_for_others worker1 *1000 44444444444444444444
    serving.answered_for_others hot1    *1000 00000000000000000000
    serving.answered_for_others hot2    *1000 00000000000000000000
";

#[test]
fn threads_beside_an_event_loop_that_answer_nobody_hold_up_nobody() {
    let changes = [
        ("as drawn", ""),
        (
            "they answer too",
            "serving.answered_for_others hot1 *1000 11111111111111111111
            serving.answered_for_others hot2 *1000 11111111111111111111",
        ),
        (
            "they end its waits for input",
            "wakeup.class   run<hot *12 ####################
            wakeup.by      run<hot     ####################
            wakeup.waker   run<hot =hot ####################
            wakeup.wait_ns run<hot *1e9 11111111111111111111",
        ),
    ];
    let futex = changes.map(|(what, lanes)| {
        let report = drawn(&with(RUNTIME, lanes)).diagnose();
        let account = report.verdict.account.expect("a target");
        let futex = account
            .items
            .iter()
            .filter(|it| it.class == LedgerClass::Futex);
        let share = futex.fold(0.0, |sum, it| sum + it.share);
        format!("{what}: {:.0} % in futex\n", 100.0 * share)
    });
    expect![[r#"
        as drawn: 0 % in futex
        they answer too: 45 % in futex
        they end its waits for input: 45 % in futex
    "#]]
    .assert_eq(&futex.concat());
}

/// Two threads answer, each for a tenth of the time, and a third of the same pool, that answers nobody, sits in futex; the
/// two are hardly ever in a lock, for each other.
#[test]
fn a_lock_that_is_hardly_met_makes_no_idle_thread_a_part_of_requests() {
    let text = |met: &str| {
        format!(
            "
            cpus 4  clients 2
            busy      22222222222222222222
            run x3    11111111111111111111
            wait      00000000000000000000
            gen x1    11111111111111111111
            throttled 00000000000000000000  /server
            io        00000000000000000000
            memory    00000000000000000000
            tps       99999999999999999999
            wakeup.class   run<run *10 ####################
            wakeup.by      run<run     ####################
            wakeup.waker   run<run =run ####################
            wakeup.serving run<run     ####################
            wakeup.wait_ns run<run *{met} ####################
            thread_pool.pool worker1 =run ####################
            thread_pool.pool worker2 =run ####################
            thread_pool.pool worker3 =run ####################
            thread_time.futex_ns worker1 *1e9 00000000000000000000
            thread_time.futex_ns worker2 *1e9 00000000000000000000
            thread_time.futex_ns worker3 *1e9 99999999999999999999
            thread_time.input_ns worker1 *1e9 99999999999999999999
            thread_time.input_ns worker2 *1e9 99999999999999999999
            serving.outside_input_ns worker1 *1e9 99999999999999999999
            serving.outside_input_ns worker2 *1e9 99999999999999999999
            serving.answered worker1 *1000 44444444444444444444
            serving.answered worker2 *1000 44444444444444444444
            serving.answered worker3 *1000 00000000000000000000
            "
        )
    };
    let futex = ["1e6", "1e8"].map(|met| {
        let report = drawn(&text(met)).diagnose();
        let account = report.verdict.account.expect("a target");
        let items = account.items.iter();
        let futex = items.filter(|it| it.class == LedgerClass::Futex);
        let share = futex.fold(0.0, |sum, it| sum + it.share);
        format!("{met} ns a second: {:.0} % in futex\n", 100.0 * share)
    });
    expect![[r#"
        1e6 ns a second: 0 % in futex
        1e8 ns a second: 45 % in futex
    "#]]
    .assert_eq(&futex.concat());
}
