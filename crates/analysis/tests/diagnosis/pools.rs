//! `limit.pool`, and what threads sleep in inside and outside of requests.

use expect_test::expect;
use model::{Answer, Confidence, LedgerClass};

use crate::drawing::{answers, drawn, headline, judged, part, said, told, with};
use crate::locks::{FUTEX, ended_by};
use crate::thread_times;

/// Four threads answer requests and wait for somebody else's answer nearly all the time; of the twenty requests that
/// are in progress at a time sixteen are in line for one of them.
pub const POOL: &str = "
    cpus 4  adapter none
    busy      11111111111111111111
    run x4    00000000000000000000
    wait      00000000000000000000
    blocked   S232
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    requests.requests c1 *1000 11111111111111111111
    requests.timed    c1 *1000 11111111111111111111
    requests.timed_ns c1 *1e11 22222222222222222222
    thread_time.futex_ns     *1e9 00000000000000000000
    serving.inside_input_ns  *1e9 ####################
    serving.outside_input_ns *1e9 00000000000000000000
    serving.answered         *250 11111111111111111111
";

/// Eight threads, each with a client of its own, in futex for eight tenths of their time: inside of requests, or
/// mostly outside.
pub fn locked(inside: &str, outside: &str) -> String {
    format!(
        "{}
    serving.inside_futex_ns  *1e9 {inside}
    serving.outside_futex_ns *1e9 {outside}
    serving.outside_input_ns *1e9 11111111111111111111
    serving.answered         *1000 44444444444444444444
",
        thread_times::locked()
    )
}

#[test]
fn a_pool_whose_threads_wait_for_others_holds_up_who_is_in_line() {
    let report = drawn(POOL).diagnose();
    expect![[r#"
        limit.pool | process server | measured | 0.800 (0.800 to 0.800)
        A full pool is the bottleneck: 80 % of each request was in line for a thread of server; all 4 threads of server that answer requests were inside one for 100 % of the time, 100 % of it waiting for another's answer.
        helps: more threads in the pool, or less time in each request: +382 % to +456 % by waits removed, closed loop
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
}

#[test]
fn behind_a_full_pool_the_line_is_not_the_peers() {
    // Of 200 ms the call takes 40, and the rest is in line.
    let called = POOL.to_owned()
        + "    peer_calls.requests c1 *1e3 11111111111111111111
    peer_calls.timed    c1 *1e3 11111111111111111111
    peer_calls.timed_ns c1 *4e10 11111111111111111111
";
    let report = drawn(&called).diagnose();
    expect![[r#"
        limit.pool | process server | measured | 0.800 (0.800 to 0.800)
        A full pool is the bottleneck: 80 % of each request was in line for a thread of server; all 4 threads of server that answer requests were inside one for 100 % of the time, 100 % of it waiting for c1.
        helps: more threads in the pool, or less time in each request: +382 % to +456 % by waits removed, closed loop
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["calls of server to its peers took 20 % of each request"]
        .assert_eq(&judged(&report, "net.remote").sentence);
}

/// Four event loops that are at work all the time, on sixteen CPUs; of the twenty requests that are in progress at a time
/// sixteen are in line for one of them.
pub fn of_loops() -> String {
    with(
        POOL,
        "
    cpus 16  adapter none
    busy      33333333333333333333
    run x4    ####################
    serving.inside_input_ns *1e9 00000000000000000000
    serving.answered_for_others *250 11111111111111111111",
    )
}

/// Four threads of a runtime have both CPUs, each for half of the time, and are in futex for the rest; of twenty requests
/// that are in progress at a time two are worked on.
pub fn of_goroutines() -> String {
    with(
        &of_loops(),
        "
    cpus 2  adapter none
    busy      ####################
    run x4    55555555555555555555
    blocked S202
    serving.inside_futex_ns  *1e9 55555555555555555555
    thread_time.futex_ns     *1e9 55555555555555555555",
    )
}

#[test]
fn what_a_runtime_has_ready_to_run_waits_for_a_cpu() {
    expect![[r#"
        cpu.saturated | process server | consistent | 0.500
        CPU is the bottleneck: both CPUs were 100 % busy, and 50 % of each request was waiting inside server, for a CPU or for its turn.
        helps: more or faster CPUs, or less work in each request: not known
        not: more clients
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&drawn(&of_goroutines()).diagnose()));
    let changes = [
        ("half of the CPUs are idle", "busy 55555555555555555555"),
        ("others have them", "run x4 22222222222222222222"),
        (
            "each thread answers what it reads",
            "serving.answered            *250 11111111111111111111
            serving.answered_for_others *250 00000000000000000000",
        ),
    ];
    expect![[r#"
        half of the CPUs are idle
          absent: the CPUs were 50 % busy, under 90 %
          headline: undetermined
        others have them
          absent: server did not wait for a CPU
          headline: lock.futex
        each thread answers what it reads
          present: CPU is the bottleneck: both CPUs were 100 % busy, and 40 % of each request was in line for threads of server that were on them.
          headline: lock.futex
    "#]].assert_eq(&answers(&of_goroutines(), "cpu.saturated", &changes));
}

#[test]
fn one_that_has_several_requests_at_a_time_now_and_then_is_an_event_loop() {
    // One thread answers 1,000 requests a second, 10 of them after it has read further ones.
    let one = POOL.replace("run x4", "run x1");
    let answered = |later: u32| {
        let text = format!(
            "serving.answered            *1000 ####################
            serving.answered_for_others *{later} ####################"
        );
        said(&drawn(&with(&one, &text)).diagnose(), "limit.pool")
    };
    expect![[r#"
        present: A full pool is the bottleneck: 95 % of each request was in line for a thread of server; the one thread of server that answers requests was inside one for 100 % of the time, 100 % of it waiting for another's answer.
        cannot tell: the thread of server that reads a request is not the one that answers it, and how many connections server has to a peer was not counted
    "#]].assert_eq(&format!("{}\n{}\n", answered(5), answered(20)));
}

#[test]
fn an_event_loop_that_rests_a_little_is_the_limit_where_requests_are_in_line_for_it() {
    let rests = with(&of_loops(), "run x1 88888888888888888888");
    expect![[r#"
        cpu.single_thread | thread thread | consistent | 1.000
        One thread is the bottleneck: thread of server was on a CPU for 80 % of the time, while the CPUs were 30 % busy.
        helps: the work of thread spread over 16 CPUs: +259 % to +998 % by CPU law
        not: more clients, a machine with more CPUs, faster disk, more memory
        wrong if: run with twice the clients: if throughput grows, this is wrong
    "#]].assert_eq(&told(&drawn(&rests).diagnose()));
}

#[test]
fn event_loops_that_are_all_at_work_are_a_full_pool_where_cpus_are_idle() {
    let report = drawn(&of_loops()).diagnose();
    expect![[r#"
        limit.pool | process server | measured | 0.800 (0.800 to 0.800)
        A full pool is the bottleneck: 80 % of each request was in line for a thread of server; all 4 threads of server that serve worked for 100 % of the time, while 11.2 CPUs were idle.
        helps: more event loops, or less work in each request: +0 % to +8 % by CPU law, one thread
        not: more clients, more CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    let changes = [
        (
            "each thread answers what it reads",
            "serving.answered_for_others *250 00000000000000000000",
        ),
        (
            "a gap in which nobody saw who answers",
            "
            serving.answered            *250 --------------------
            serving.answered_for_others *250 --------------------",
        ),
        (
            "a moment of rest now and then",
            "run x4 88888888888888888888",
        ),
        ("one event loop", "run x1 ####################"),
        ("no CPU beside them", "cpus 4\n busy ####################"),
        (
            "hardly more requests than threads",
            "requests.timed_ns c1 *45e9 11111111111111111111",
        ),
    ];
    expect![[r#"
        each thread answers what it reads
          present: A full pool is the bottleneck: 80 % of each request was in line for a thread of server; all 4 threads of server that answer requests were inside one for 100 % of the time, 100 % of it at work on a CPU.
        a gap in which nobody saw who answers
          present: A full pool is the bottleneck: 80 % of each request was in line for a thread of server; all 4 threads of server that serve worked for 100 % of the time, while 11.2 CPUs were idle.
        a moment of rest now and then
          absent: only 17 % of each request was in line behind threads of server that waited for peers or slept
          headline: undetermined
        one event loop
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: cpu.single_thread
        no CPU beside them
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: cpu.saturated
        hardly more requests than threads
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: healthy
    "#]].assert_eq(&answers(&of_loops(), "limit.pool", &changes));
    let full = drawn(&with(&of_loops(), changes[4].1)).diagnose();
    expect![[r#"
        cpu.saturated | process server | consistent | 0.800
        CPU is the bottleneck: all 4 CPUs were 100 % busy, and 80 % of each request was in line for threads of server that were on them.
        helps: more or faster CPUs, or less work in each request: not known
        not: more clients
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&full));
    let unseen = drawn(&with(&of_loops(), changes[1].1)).diagnose();
    assert_eq!(headline(&unseen).confidence, Confidence::Consistent);
}

#[test]
fn who_had_full_cpus_for_the_little_that_they_were_waited_for_tells_nothing_of_the_line() {
    let waited = "
    cpus 4
    busy   ####################
    run x4 99999999999999999999
    wait   11111111111111111111
    thread_time.queued_rest_ns *1e9 11111111111111111111";
    let report = drawn(&with(&of_loops(), waited)).diagnose();
    assert_eq!(headline(&report).cause, "cpu.saturated");
}

/// A pooler whose clients wait for a server connection for six tenths of their time.
pub const POOLER: &str = "
    cpus 4  clients 10
    busy      22222222222222222222
    run       11111111111111111111
    wait      00000000000000000000
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       22222222222222222222
    pgbouncer.wait_time_ns    server *1e10 66666666666666666666
    pgbouncer.clients_waiting server *10   66666666666666666666
    pgbouncer.servers_active  server *10   44444444444444444444
    pgbouncer.servers_idle    server *10   00000000000000000000
";

#[test]
fn a_pooler_says_itself_that_clients_wait_for_a_server_connection() {
    let report = drawn(POOLER).diagnose();
    expect![[r#"
        limit.pool | process server | measured | 0.600 (0.600 to 0.600)
        A full pool is the bottleneck: 60 % of each request was in line for a server connection of server: 6.00 clients waited at a time, and 100 % of its connections were in use.
        helps: a larger pool (default_pool_size), or shorter transactions: +140 % to +163 % by waits removed, closed loop
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: run with twice as many in the pool: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    let changes = [
        (
            "a fifth of the time is less",
            "pgbouncer.wait_time_ns server *1e9 ####################",
        ),
        (
            "server connections are free",
            "pgbouncer.servers_idle server *10 44444444444444444444",
        ),
        ("no response time", "tps --------------------"),
        (
            "a gap in which it was not asked",
            "pgbouncer.wait_time_ns server *1e10 --------------------",
        ),
    ];
    expect![[r#"
        a fifth of the time is less
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: undetermined
        server connections are free
          present: A full pool is the bottleneck: 60 % of each request was in line for a server connection of server: 6.00 clients waited at a time, and 50 % of its connections were in use.
        no response time
          absent: only 0 of server's non-idle time was in line behind threads of server that waited for peers or slept
          headline: healthy
        a gap in which it was not asked
          absent: only 0 of each request was in line behind threads of server that waited for peers or slept
          headline: undetermined
    "#]].assert_eq(&answers(POOLER, "limit.pool", &changes));
    let free = drawn(&with(POOLER, changes[1].1)).diagnose();
    assert_eq!(headline(&free).confidence, Confidence::Consistent);
}

/// Response times at the sockets of the server behind it hold no wait in the pooler: that comes on top.
#[test]
fn what_clients_wait_in_a_pooler_before_the_server_is_beside_its_response_times() {
    let text = with(POOL, "rest 11111111111111111111");
    let text = POOLER
        .lines()
        .filter(|line| line.contains("pgbouncer."))
        .fold(text, |text, line| {
            text + &line.replace(" server ", " other1 ") + "\n"
        });
    // Twenty requests are at the server at a time, and beside them four, and 72, in line in the pooler.
    for (scale, share) in [("*66e8", None), ("*12e10", Some(0.78))] {
        let lines = format!("pgbouncer.wait_time_ns other1 {scale} 66666666666666666666");
        let report = drawn(&with(&text, &lines)).diagnose();
        let first = headline(&report);
        let own = (first.entity.name == "other1")
            .then_some(first.share)
            .flatten();
        assert_eq!(own.map(|it| (it * 100.0).round() / 100.0), share, "{scale}");
    }
}

#[test]
fn what_holds_back_who_has_a_lock_holds_back_who_waits_for_it() {
    // Beside the lock the threads run for a tenth of their time, and a quota holds them back for two.
    let held_back = with(
        &thread_times::limited(),
        "
        wait      00000000000000000000
        thread_time.throttled_ns     *1e9 22222222222222222222
        thread_time.queued_target_ns *1e9 00000000000000000000
        thread_time.futex_ns         *1e9 66666666666666666666",
    );
    let members = ended_by("run", "on_cpu_ns").replace("worker5", "worker1");
    let four = |line: &&str| {
        !["worker6", "worker7", "worker8"]
            .iter()
            .any(|it| line.contains(it))
    };
    let members: Vec<&str> = members.lines().filter(four).collect();
    let text = with(&held_back, &members.join("\n"));
    let report = drawn(&text).diagnose();
    expect![[r#"
        cpu.quota | cgroup limited | measured | 0.600 (0.600 to 0.600)
        A CPU quota is the bottleneck: /limited ran out of its limit of 0.4 CPUs in 60 % of the periods, and 60 % of each request was server held back by it, while the machine was 70 % idle.
        helps: a quota of 1.5 CPUs: +132 % to +263 % by waits removed, closed loop
        not: more clients, a larger machine with the same quota, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]]
    .assert_eq(&told(&report));
    assert_eq!(judged(&report, "lock.futex").answer, Answer::Present);
}

#[test]
fn what_is_no_full_pool_or_cannot_be_told() {
    let changes = [
        (
            "threads that are idle for a third of their time",
            "
            serving.inside_input_ns  *1e9 77777777777777777777
            serving.outside_input_ns *1e9 33333333333333333333",
        ),
        (
            "threads that sleep on a timer",
            "
            thread_time.sleep_ns     *1e9 99999999999999999999
            serving.inside_input_ns  *1e9 11111111111111111111
            serving.inside_sleep_ns  *1e9 99999999999999999999",
        ),
        (
            "threads that wait for a lock",
            "
            thread_time.futex_ns     *1e9 99999999999999999999
            serving.inside_input_ns  *1e9 11111111111111111111
            serving.inside_futex_ns  *1e9 99999999999999999999",
        ),
        (
            "hardly more requests than threads",
            "requests.timed_ns c1 *45e9 11111111111111111111",
        ),
        (
            "other threads answer",
            "serving.answered_for_others *250 11111111111111111111",
        ),
        (
            "a gap in which it was not recorded",
            "serving.answered *250 --------------------",
        ),
    ];
    expect![[r#"
        threads that are idle for a third of their time
          absent: 4 threads of server were in use for only 70 % of the time
          headline: undetermined
        threads that sleep on a timer
          present: A full pool is the bottleneck: 80 % of each request was in line for a thread of server; all 4 threads of server that answer requests were inside one for 100 % of the time, 90 % of it asleep on a timer.
        threads that wait for a lock
          absent: only 6.2 % of each request was in line behind threads of server that waited for peers or slept
          headline: lock.futex
        hardly more requests than threads
          absent: only 11 % of each request was in line behind threads of server that waited for peers or slept
          headline: undetermined
        other threads answer
          cannot tell: the thread of server that reads a request is not the one that answers it, and how many connections server has to a peer was not counted
          headline: undetermined
        a gap in which it was not recorded
          cannot tell: which threads of server were inside a request was not recorded
          headline: undetermined
    "#]].assert_eq(&answers(POOL, "limit.pool", &changes));
}

#[test]
fn futex_inside_of_requests_is_a_lock_and_outside_is_rest() {
    let inside = drawn(&locked("88888888888888888888", "00000000000000000000")).diagnose();
    expect![[r#"
        lock.futex | process server | measured | 0.800 (0.800 to 0.800)
        A lock is the bottleneck: 80 % of each request was threads of server waiting for each other.
        helps: less time under the lock, or several locks instead of one: +291 % to +456 % by CPU law
        not: more clients, more threads, more CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
    "#]]
    .assert_eq(&told(&inside));
    let outside = drawn(&locked("11111111111111111111", "77777777777777777777")).diagnose();
    assert!((part(&outside, LedgerClass::Futex) - 0.1).abs() < 0.01);
    assert_eq!(judged(&outside, "lock.futex").answer, Answer::Absent);
    // Without it the same time in futex is taken for a lock.
    let unknown = drawn(&with(FUTEX, "")).diagnose();
    assert_eq!(judged(&unknown, "lock.futex").answer, Answer::Present);
}

#[test]
fn where_others_answer_than_read_futex_may_be_rest() {
    let text = locked("88888888888888888888", "00000000000000000000")
        + "    serving.answered_for_others *1000 44444444444444444444\n";
    let report = drawn(&text).diagnose();
    expect!["the thread of server that reads a request is not the one that answers it, so its threads may as well have waited in futex for work"].assert_eq(&judged(&report, "lock.futex").sentence);
    assert_eq!(judged(&report, "lock.futex").answer, Answer::CannotTell);
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: 80 % of each request was server: waiting in futex (a lock), and that may be rest: the thread that reads a request is not the one that answers it, so a lock cannot be told from waiting for work.
        wrong if: run longer and alone on the machine, and name what serves: --target
    "#]].assert_eq(&told(&report));
}

/// The threads of `run` answer requests at once; two others of the process compute, and end waits of these inside of
/// requests (`1`) or outside (`2`).
fn beside_compilers(serving: u8) -> String {
    let marks = serving.to_string().repeat(20);
    POOL.replace(
        "run x4    00000000000000000000",
        "run x4    11111111111111111111",
    )
    .replace("*1e9 ####################", "*1e9 00000000000000000000")
    .replace(
        "outside_input_ns *1e9 00000000000000000000",
        "outside_input_ns *1e9 99999999999999999999",
    ) + &format!(
        "    hot x2    99999999999999999999
    hotblocked S202
    thread_pool.pool hot1 =hot ####################
    thread_pool.pool hot2 =hot ####################
    thread_pool.pool worker1 =run ####################
    wakeup.class   run<hot *10 ####################
    wakeup.by      run<hot     ####################
    wakeup.waker   run<hot =hot ####################
    wakeup.serving run<hot *10 {marks}
    wakeup.wait_ns run<hot *1e9 11111111111111111111
    wakeup.on_cpu_ns run<hot *1e9 11111111111111111111
"
    )
}

/// The part of the response time in which the target was on a CPU, and its note.
fn on_cpu(drawing: &str) -> (f64, String) {
    let report = drawn(drawing).diagnose();
    let account = report.verdict.account.expect("they ran");
    let mut items = account.items.into_iter();
    let on_cpu = items.find(|item| item.class == LedgerClass::OnCpu);
    on_cpu.map_or((0.0, String::new()), |it| (it.share, it.note))
}

#[test]
fn a_thread_that_answers_nothing_and_is_not_waited_for_has_no_part_in_requests() {
    let computing = |serving| {
        let (share, note) = on_cpu(&beside_compilers(serving));
        format!("{share:.3} {note}")
    };
    expect!["0.020 "].assert_eq(&computing(2));
    expect!["0.902 79 % in line at server's sockets, 11 % in its threads"].assert_eq(&computing(1));
}

#[test]
fn processes_of_a_pool_that_answers_have_a_part_in_requests_where_nothing_was_counted_of_them() {
    let computing = |pool: &str| {
        let drawing = beside_compilers(2).replace("hot1 =hot", &format!("hot1 ={pool}"));
        on_cpu(&drawing).0
    };
    let (own, all) = (computing("hot"), computing("run"));
    assert!(all > 5.0 * own, "{own} {all}");
}
