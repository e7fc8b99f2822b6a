//! `cpu.*` beside quota, neighbour and saturation: one thread, one CPU, the hypervisor, the kernel.

use expect_test::expect;
use model::Confidence;

use crate::drawing::{answers, drawn, listed, said, told, with};
use crate::saturated::SATURATED;

/// One thread of eight does the work of all; of four CPUs one and a half are busy.
pub const SINGLE: &str = "
    cpus 4  clients 8
    busy      33333333333333333333
    run x7    00000000000000000000
    wait      00000000000000000000
    hot x1    ####################
    hotwait   00000000000000000000
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
";

/// Of four CPUs one is full and another has nothing to do, and servers wait for the full one.
pub const IMBALANCE: &str = "
    cpus 4  clients 4
    busy      ####################
    busy      22222222222222222222
    busy      11111111111111111111
    busy      11111111111111111111
    run x4    22222222222222222222
    wait      55555555555555555555
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
";

/// The hypervisor takes three tenths of CPUs that would be full.
pub const STEAL: &str = "
    cpus 2  clients 2
    busy      77777777777777777777
    steal     33333333333333333333
    run x2    88888888888888888888
    wait      11111111111111111111
    gen       22222222222222222222
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
";

/// Full CPUs, one of which serves interrupts for three tenths of its time.
pub fn softirq() -> String {
    with(
        SATURATED,
        "
        cpu.user_ns    cpu1 *1e9 77777777777777777777
        cpu.softirq_ns cpu1 *1e9 22222222222222222222
        cpu.irq_ns     cpu1 *1e9 11111111111111111111
        ",
    )
}

/// Full CPUs, and servers that spend eight tenths of their CPU time in the kernel.
pub fn kernel() -> String {
    with(
        SATURATED,
        "
        thread.user_ns   *1e9 22222222222222222222
        thread.system_ns *1e9 88888888888888888888
        ",
    )
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn a_single_thread_leads_and_what_speaks_against_it() {
    let report = drawn(SINGLE).diagnose();
    expect![[r#"
        cpu.single_thread | thread thread | measured | 0.912
        One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy.
        helps: the work of thread spread over 4 CPUs: +215 % to +273 % by CPU law
        not: more clients, a machine with more CPUs, faster disk, more memory
        wrong if: run with twice the clients: if throughput grows, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["cpu.single_thread thread 0.91"].assert_eq(&listed(&report));
    let changes = [
        ("it has a little time left", "hot x1 89898989898989898989"),
        (
            "another thread is nearly as busy",
            "hot x2 ####################",
        ),
        ("one CPU only", "cpus 4 clients 8 allowed 1"),
        ("one request at a time", "clients 1"),
        ("no response time", "tps --------------------"),
        (
            "its threads were not seen",
            "
            run x7 --------------------
            hot x1 --------------------",
        ),
        ("CPU times were not recorded", "busy --------------------"),
        (
            "the CPUs are full",
            "
            busy ####################
            gen x3 ####################
            run x7 01010101010101010101
            wait 88888888888888888888",
        ),
        (
            "the thread waits for what a quota leaves",
            "
            hot x1    99999999999999999999
            hotwait   11111111111111111111
            run x7    00000000000000000000
            wait      99999999999999999999
            throttled 77777777777777777777 /server",
        ),
    ];
    expect![[r#"
        it has a little time left
          absent: the busiest thread of server was on a CPU for 85 % of the time
          headline: undetermined
        another thread is nearly as busy
          absent: 2 threads of server were about as busy
          headline: undetermined
        one CPU only
          absent: server may use one CPU only
          headline: undetermined
        one request at a time
          absent: 1.00 requests were in progress on average: one at a time needs one thread
          headline: healthy
        no response time
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy.
        its threads were not seen
          cannot tell: the threads of server were not seen in this window
          headline: undetermined
        CPU times were not recorded
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time.
        the CPUs are full
          absent: cpu.saturated explains it: server
          headline: cpu.saturated
        the thread waits for what a quota leaves
          absent: cpu.quota explains it: server
          headline: cpu.quota
    "#]].assert_eq(&answers(SINGLE, "cpu.single_thread", &changes));
}

#[test]
fn a_busy_thread_that_serves_nobody_is_no_bottleneck() {
    let mut run = drawn(&with(SINGLE, "run x7 88888888888888888888"));
    for record in run.timeline.entities.iter_mut() {
        record.serving &= record.entity.name != "hot";
    }
    expect!["absent: the busiest thread of server serves no requests"]
        .assert_eq(&crate::drawing::said(&run.diagnose(), "cpu.single_thread"));
}

/// Every other thread works a little, and hands the rest to the busy one, whose pool is `pool`; as who woke
/// whom tells it.
fn handed_over(pool: &str) -> String {
    let members: String = (1..=7)
        .map(|it| format!("thread_pool.pool worker{it} =run ####################\n"))
        .collect();
    format!(
        "
        run x7 11111111111111111111
        {members}
        thread_pool.pool hot1 ={pool} ####################
        wakeup.class   run<{pool} *10 ####################
        wakeup.by      run<{pool}     ####################
        wakeup.waker   run<{pool} ={pool} ####################
        wakeup.wait_ns run<{pool} *5e9 ####################
        wakeup.on_cpu_ns run<{pool} *5e9 ####################
        "
    )
}

#[test]
fn other_threads_that_wait_for_the_single_one_make_it_surer() {
    let handed = handed_over("hot");
    expect![[r#"
        cpu.single_thread | thread thread | measured | 0.921
        One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy, and 5.00 other threads at a time waited for it.
        helps: the work of thread spread over 4 CPUs: +104 % to +140 % by CPU law
        not: more clients, a machine with more CPUs, faster disk, more memory
        wrong if: run with twice the clients: if throughput grows, this is wrong
    "#]].assert_eq(&told(&drawn(&with(SINGLE, &handed)).diagnose()));
    let but = |lines: &str| with(&handed, lines);
    let changes = [
        (
            "a little less than one at a time",
            but("wakeup.wait_ns run<hot *5e9 02020202020202020202"),
        ),
        (
            "others of its pool may have been waited for",
            handed_over("run"),
        ),
        ("they wait for work", but("run x7 00000000000000000000")),
        (
            "another ends their waits",
            but("wakeup.waker run<hot =run ####################"),
        ),
        ("no response time", but("tps --------------------")),
    ];
    let changes: Vec<_> = changes
        .iter()
        .map(|(what, lanes)| (*what, &**lanes))
        .collect();
    expect![[r#"
        a little less than one at a time
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy.
        others of its pool may have been waited for
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy.
        they wait for work
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy.
        another ends their waits
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy.
        no response time
          present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy, and 5.00 other threads at a time waited for it.
    "#]].assert_eq(&answers(SINGLE, "cpu.single_thread", &changes));
    // The one that they wait for goes before the waits.
    let locked = drawn(&with(SINGLE, &but("blocked S202"))).diagnose();
    expect!["cpu.single_thread thread 1.00, lock.futex server 0.79"].assert_eq(&listed(&locked));
    let sure = |lines: &str| drawn(&with(SINGLE, lines)).diagnose().verdict.findings[0].confidence;
    let unheard = "tps --------------------";
    assert_eq!(sure(unheard), Confidence::Consistent);
    assert_eq!(sure(&but(unheard)), Confidence::Measured);

    let mut apart = drawn(&with(SINGLE, &handed));
    for record in apart.timeline.entities.iter_mut() {
        record.serving &= record.entity.name != "hot";
    }
    expect!["present: One thread is the bottleneck: thread of server was on a CPU for 100 % of the time, while the CPUs were 30 % busy, and 5.00 other threads at a time waited for it."].assert_eq(&crate::drawing::said(
        &apart.diagnose(),
        "cpu.single_thread",
    ));
}

#[test]
fn a_cpu_that_only_affinity_keeps_the_target_off_is_a_free_one() {
    let pinned = "
        cpus 2  allowed 1  which 1  clients 4
        busy     33333333333333333333
        busy     ####################
        run x4   22222222222222222222
        wait     55555555555555555555
        gen      22222222222222222222
        tps      99999999999999999999
        cgroup_limit.cpus /server *2 ####################
    ";
    let report = drawn(pinned).diagnose();
    expect![[r#"
        cpu.imbalance | cpu cpu1 | consistent | 0.500 (0.500 to 0.500)
        The CPUs are used unevenly: cpu1 was 100 % busy while cpu0 was 30 % busy, and 50 % of each request was server waiting for a CPU.
        helps: server allowed on cpu0 too, which its affinity keeps it off: +43 % to +74 % by CPU law
        not: more clients, a machine with more CPUs, faster disk
        wrong if: look where its threads may run: taskset -acp PID; cat /proc/interrupts
    "#]].assert_eq(&told(&report));
    expect!["absent: only its affinity keeps server off cpu0, which was 30 % busy"]
        .assert_eq(&said(&report, "cpu.saturated"));
    // A cpuset is somebody's decision: within it the CPUs are full.
    let confined = pinned.replace("*2", "*1");
    expect!["absent: cpu.saturated explains it: server"]
        .assert_eq(&said(&drawn(&confined).diagnose(), "cpu.imbalance"));
}

#[test]
fn imbalance_leads_and_what_speaks_against_it() {
    expect![[r#"
        cpu.imbalance | cpu cpu0 | consistent | 0.500 (0.500 to 0.500)
        The CPUs are used unevenly: cpu0 was 100 % busy while cpu2 was 10 % busy, and 50 % of each request was server waiting for a CPU.
        helps: threads and interrupts of cpu0 spread over all CPUs: +108 % to +316 % by waits removed, closed loop
        not: more clients, a machine with more CPUs, faster disk, more memory
        wrong if: look where its threads may run: taskset -acp PID; cat /proc/interrupts
    "#]].assert_eq(&told(&drawn(IMBALANCE).diagnose()));
    let changes = [
        (
            "servers wait for a little less than 15 %",
            "wait 12121212121212121211",
        ),
        ("in three of ten seconds only", "wait 90090009009009000900"),
        (
            "the fullest CPU has a little time left",
            "busy 98989898989898989898",
        ),
        (
            "the target may use some CPUs only",
            "cpus 4 clients 4 allowed 2",
        ),
        (
            "CPU times were not recorded",
            "
            busy --------------------
            busy --------------------
            busy --------------------
            busy --------------------",
        ),
        ("the wait was not recorded", "wait --------------------"),
        (
            "a quota holds them back",
            "throttled 55555555555555555555 /server",
        ),
    ];
    expect![[r#"
        servers wait for a little less than 15 %
          absent: server was waiting for a CPU for only 15 % of each request
          headline: undetermined
        in three of ten seconds only
          absent: it took 24 % of each request on the whole, but over 15 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
        the fullest CPU has a little time left
          absent: the fullest CPU was 85 % busy, the emptiest 10 %
          headline: undetermined
        the target may use some CPUs only
          cannot tell: the target may use some of the CPUs only, and which is not recorded
          headline: undetermined
        CPU times were not recorded
          cannot tell: CPU times were not recorded
          headline: undetermined
        the wait was not recorded
          cannot tell: how long server waited for a CPU was not recorded
          headline: undetermined
        a quota holds them back
          absent: cpu.quota explains it: server
          headline: cpu.quota
    "#]].assert_eq(&answers(IMBALANCE, "cpu.imbalance", &changes));
}

#[test]
fn steal_leads_and_what_speaks_against_it() {
    let report = drawn(STEAL).diagnose();
    expect![[r#"
        cpu.steal | machine machine | consistent | 0.270
        The hypervisor takes the CPU away: 30 % of the CPUs was stolen while they were 70 % busy, and that is about 27 % of each request.
        helps: a machine with CPUs of its own: +0 % to +19 % by CPU law
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    expect!["cpu.steal machine 0.27"].assert_eq(&listed(&report));
    let changes = [
        (
            "a little under 5 %",
            "
            busy  99999999999999999999
            steal 01010101010101010100",
        ),
        (
            "CPUs with room beside it",
            "
            busy  44444444444444444444
            steal 33333333333333333333",
        ),
        (
            "it costs the target little",
            "
            run x2 01000100010001000100
            wait   00000000000000000000",
        ),
        ("CPU times were not recorded", "busy --------------------"),
        ("the wait was not recorded", "wait --------------------"),
    ];
    expect![[r#"
        a little under 5 %
          absent: steal was 4.7 %
          headline: cpu.saturated
        CPUs with room beside it
          absent: the CPUs were busy or stolen for 70 % of the time: there was room beside it
          headline: healthy
        it costs the target little
          absent: the hypervisor took 30 %, which cost server only 0.8 % of each request
          headline: undetermined
        CPU times were not recorded
          cannot tell: CPU times were not recorded
          headline: healthy
        the wait was not recorded
          cannot tell: how long server waited for a CPU was not recorded
          headline: cpu.saturated
    "#]]
    .assert_eq(&answers(STEAL, "cpu.steal", &changes));
}

#[test]
fn interrupts_add_to_full_cpus() {
    let report = drawn(&softirq()).diagnose();
    expect!["cpu.saturated server 0.50, load.shares_cpu loadgen 0.20, cpu.softirq cpu1 0.15"]
        .assert_eq(&listed(&report));
    let changes = [
        ("", ""),
        (
            "a little under a fifth",
            "
            cpu.user_ns cpu1 *1e9 88888888888888888888
            cpu.softirq_ns cpu1 *1e9 00000000000000000000
            cpu.irq_ns cpu1 *1e9 11111111111111111111",
        ),
        ("servers wait for no CPU", "wait 00000000000000000000"),
        (
            "CPU times were not recorded",
            "
            busy --------------------
            cpu.user_ns    cpu1 *1e9 --------------------
            cpu.softirq_ns cpu1 *1e9 --------------------
            cpu.irq_ns     cpu1 *1e9 --------------------",
        ),
    ];
    expect![[r#"

          present: Interrupts take 30 % of cpu1, which adds to cpu.saturated.
          headline: cpu.saturated
        a little under a fifth
          absent: cpu1 spent 11 % in interrupts
          headline: cpu.saturated
        servers wait for no CPU
          absent: cpu1 spent 30 % in interrupts, and no CPU limits the target
          headline: healthy
        CPU times were not recorded
          cannot tell: CPU times were not recorded
          headline: undetermined
    "#]]
    .assert_eq(&answers(&softirq(), "cpu.softirq", &changes));
}

#[test]
fn time_in_the_kernel_adds_to_full_cpus() {
    let report = drawn(&kernel()).diagnose();
    expect!["cpu.saturated server 0.50, load.shares_cpu loadgen 0.20, cpu.kernel server 0.08"]
        .assert_eq(&listed(&report));
    let changes = [
        ("", ""),
        (
            "a little under 65 %",
            "
            thread.user_ns   *1e9 44444444444444444444
            thread.system_ns *1e9 77777777777777777777",
        ),
        (
            "CPU is not the limit",
            "
            busy 44444444444444444444
            wait 00000000000000000000",
        ),
        (
            "it was not recorded",
            "
            thread.user_ns   *1e9 --------------------
            thread.system_ns *1e9 --------------------",
        ),
    ];
    expect![[r#"

          present: server spent 80 % of its CPU time in the kernel, which adds to cpu.saturated.
          headline: cpu.saturated
        a little under 65 %
          absent: server spent 64 % of its CPU time in the kernel
          headline: cpu.saturated
        CPU is not the limit
          absent: server spent 80 % of its CPU time in the kernel, and CPU does not limit it
          headline: healthy
        it was not recorded
          cannot tell: how server divides its CPU time was not recorded
          headline: cpu.saturated
    "#]]
    .assert_eq(&answers(&kernel(), "cpu.kernel", &changes));
}

#[test]
fn imbalance_is_judged_by_the_cpus_that_the_target_may_use() {
    let changes = [
        ("two that are alike", "cpus 4 clients 4 allowed 2 which 2,3"),
        (
            "the full one and another",
            "cpus 4 clients 4 allowed 2 which 0,3",
        ),
    ];
    expect![[r#"
        two that are alike
          absent: the fullest CPU was 10 % busy, the emptiest 10 %
          headline: undetermined
        the full one and another
          present: The CPUs are used unevenly: cpu0 was 100 % busy while cpu3 was 10 % busy, and 50 % of each request was server waiting for a CPU.
    "#]]
    .assert_eq(&answers(IMBALANCE, "cpu.imbalance", &changes));
}

#[test]
fn imbalance_is_absent_where_who_waits_is_on_another_cpu() {
    let elsewhere = format!("{IMBALANCE}    thread.cpu *10 22222222222222222222\n");
    expect!["absent: those who waited for a CPU were on others than cpu0: 0 of the wait was there"]
        .assert_eq(&said(&drawn(&elsewhere).diagnose(), "cpu.imbalance"));
    let there = format!("{IMBALANCE}    thread.cpu *10 00000000000000000000\n");
    expect!["present: The CPUs are used unevenly: cpu0 was 100 % busy while cpu2 was 10 % busy, and 50 % of each request was server waiting for a CPU."].assert_eq(&said(&drawn(&there).diagnose(), "cpu.imbalance"));
}
