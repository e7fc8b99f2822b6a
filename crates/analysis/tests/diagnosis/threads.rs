//! Each of the target's threads by itself: awake, on a CPU, in the run queue, blocked, asleep.

use expect_test::expect;

use crate::drawing::{drawn, with};

/// Two threads that share a CPU with somebody, and one that waits for work half of the time.
const LOOPS: &str = "
    cpus 4  clients 4
    busy      88888888888888888888
    run x2    55555555555555555555
    wait      55555555555555555555
    hot x1    22222222222222222222
    hotwait   11111111111111111111
    hotblocked S232
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
";

#[test]
fn each_threads_time_is_told_apart() {
    let told = |text: &str| {
        let report = drawn(text).diagnose();
        let lines = report.threads.iter().map(|it| {
            let queued = it.run_queue_ns.unwrap_or(0);
            let parts = [
                it.on_cpu_ns,
                queued,
                it.blocked_ns,
                it.sleep_ns,
                it.unseen_ns,
            ];
            let percent = parts.map(|part| (part as f64 / it.wall_ns as f64 * 100.0).round());
            format!(
                "{} {:?} {percent:?}\n",
                it.entity.name,
                it.run_queue_ns.is_some()
            )
        });
        lines.collect::<String>()
    };
    expect![[r#"
        thread true [50.0, 50.0, 0.0, 0.0, 0.0]
        thread true [50.0, 50.0, 0.0, 0.0, 0.0]
        thread true [20.0, 10.0, 0.0, 70.0, 0.0]
    "#]]
    .assert_eq(&told(LOOPS));
    expect![[r#"
        thread true [50.0, 50.0, 0.0, 0.0, 0.0]
        thread true [50.0, 50.0, 0.0, 0.0, 0.0]
        thread true [20.0, 10.0, 70.0, 0.0, 0.0]
    "#]]
    .assert_eq(&told(&with(LOOPS, "hotblocked D0")));
    expect![[r#"
        thread true [50.0, 50.0, 0.0, 0.0, 0.0]
        thread true [50.0, 50.0, 0.0, 0.0, 0.0]
        thread true [20.0, 10.0, 0.0, 0.0, 70.0]
    "#]]
    .assert_eq(&told(&with(LOOPS, "hotblocked S")));
    expect![[r#"
        thread false [50.0, 0.0, 0.0, 50.0, 0.0]
        thread false [50.0, 0.0, 0.0, 50.0, 0.0]
        thread true [20.0, 10.0, 0.0, 70.0, 0.0]
    "#]]
    .assert_eq(&told(&with(LOOPS, "wait --------------------")));
}
