//! `io.sync`, `lock.futex`, `lock.database`: who waits in line, and behind what.

use expect_test::expect;
use model::{Answer, EntityKind, LedgerClass};

use crate::drawing::{answers, drawn, headline, judged, listed, part, told, with};

/// Group commit: one server of eight is in fdatasync all the time, the others are in line in futex.
pub const SYNC: &str = "
    cpus 4  clients 8
    busy      11111111111111111111
    run x7    00000000000000000000
    wait      00000000000000000000
    blocked   S202
    hot x1    00000000000000000000
    hotwait   00000000000000000000
    hotblocked D75
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    memory    00000000000000000000
    tps       44444444444444444444
    disk.writes   vda *1000 44444444444444444444
    disk.reads    vda *1000 00000000000000000000
    disk.busy_ns  vda *1e9  99999999999999999999
    disk.queue_ns vda *1e9  99999999999999999999
";

/// Eight servers hold a lock each in turn, and wait in futex for the rest of each request.
pub const FUTEX: &str = "
    cpus 4  clients 8
    busy      33333333333333333333
    run x8    11111111111111111111
    wait      00000000000000000000
    blocked   S202
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
";

/// Seven sessions wait for a row that the eighth holds while it thinks.
pub const DATABASE: &str = "
    cpus 4  clients 8
    busy      11111111111111111111
    run x8    00000000000000000000
    wait      00000000000000000000
    blocked   S232!0x03000005
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
    session.blocked_by worker2 =worker1 ####################
    session.blocked_by worker3 =worker1 ####################
    session.blocked_by worker4 =worker3 ###00000000000000000
";

/// The same of a server whose sessions are threads: they sleep in futex, and the server says for what.
pub const THREADS: &str = "
    cpus 4  clients 8
    busy      11111111111111111111
    run x8    00000000000000000000
    wait      00000000000000000000
    blocked   S202
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       44444444444444444444
    mysql_session.wait_class *3 ####################
    mysql_session.blocked_by worker2 =worker1 ####################
    mysql_session.blocked_by worker3 =worker1 ####################
";

/// Half of the servers wait for a lock of the database, the other half for the disk.
pub fn tie() -> String {
    with(
        SYNC,
        "
        run x4     11111111111111111111
        blocked    S232!0x03000005
        hot x4     11111111111111111111
        hotblocked D17
        ",
    )
}

#[test]
fn a_crowd_in_futex_behind_one_sync_is_disk_and_no_lock() {
    let report = drawn(SYNC).diagnose();
    expect![[r#"
        io.sync | process server | consistent | 1.000 (1.000 to 1.000)
        Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync (88 % behind another's).
        helps: fewer syncs: more work per commit, or commits that need not be safe at once: +1047 % to +2439 % by CPU law, one thread
        helps: a disk that syncs faster than vda (now 2.25 ms per operation): +1047 % to +2439 % by CPU law, one thread
        not: more or faster CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&report));
    expect!["io.sync server 1.00"].assert_eq(&listed(&report));
    assert!((part(&report, LedgerClass::SyncQueue) - 0.875).abs() < 0.01);
    expect![[r#"
        the lock
          absent: io.sync explains it: server
          headline: io.sync
    "#]]
    .assert_eq(&answers(SYNC, "lock.futex", &[("the lock", "")]));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn sync_and_what_speaks_against_it() {
    let changes = [
        (
            "a sync for less than half of the time",
            "hotblocked D75 S232 S232",
        ),
        (
            "everybody syncs for a little less than a fifth",
            "
            run x7  88888888888888888888
            hot x1  88888888888888888888
            blocked D75 D75 D75 D75 D75 D75 D75 D75 S232",
        ),
        (
            "PostgreSQL's own word for the line",
            "blocked S232!0x01000008",
        ),
        (
            "PostgreSQL's own word for another lock",
            "
            blocked    S232!0x01000004
            hotblocked S232",
        ),
        (
            "nobody saw what the servers were blocked in",
            "
            blocked    S
            hotblocked S",
        ),
        (
            "in three of ten seconds only",
            "
            blocked    S202 S232 S232 S202 S232 S232 S232 S202 S232 S232
            hotblocked D75 S232 S232 D75 S232 S232 S232 D75 S232 S232",
        ),
        (
            "an I/O limit",
            "
            cgroup_io.writes       /server:254:0 *1000 44444444444444444444
            cgroup_io.limit_writes /server:254:0 *1000 44444444444444444444",
        ),
    ];
    expect![[r#"
        a sync for less than half of the time
          absent: server was waiting for a sync for only 3.9 % of each request
          headline: lock.futex
        everybody syncs for a little less than a fifth
          absent: server was waiting for a sync for only 18 % of each request
          headline: undetermined
        PostgreSQL's own word for the line
          present: Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync (88 % behind another's).
        PostgreSQL's own word for another lock
          absent: server was not seen waiting for a sync
          headline: lock.futex
        nobody saw what the servers were blocked in
          cannot tell: what server was blocked in was not seen: run as root, or as the user who owns it
          headline: undetermined
        in three of ten seconds only
          absent: server was waiting for a sync for only 3.3 % of each request
          headline: undetermined
        an I/O limit
          absent: io.throttled explains it: server
          headline: io.throttled
    "#]].assert_eq(&answers(SYNC, "io.sync", &changes));
}

#[test]
fn futex_leads_when_servers_wait_for_each_other() {
    let report = drawn(FUTEX).diagnose();
    expect![[r#"
        lock.futex | process server | consistent | 0.900 (0.900 to 0.900)
        A lock is the bottleneck: 90 % of each request was threads of server waiting for each other.
        helps: less time under the lock, or several locks instead of one: +305 % to +685 % by CPU law
        not: more clients, more threads, more CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
    "#]]
    .assert_eq(&told(&report));
    assert!((part(&report, LedgerClass::Futex) - 0.9).abs() < 0.01);
}

/// What the servers' waits in futex were for, as who ended them tells it.
pub fn ended_by(waker: &str, did: &str) -> String {
    let members: String = (1..=8)
        .map(|it| format!("thread_pool.pool worker{it} =run ####################\n"))
        .collect();
    format!(
        "
        {members}
        wakeup.class   run<{waker} *10 ####################
        wakeup.by      run<{waker}     ####################
        wakeup.waker   run<{waker} ={waker} ####################
        wakeup.waits   run<{waker} *1000 44444444444444444444
        wakeup.wait_ns run<{waker} *1e9 ####################
        wakeup.{did}   run<{waker} *1e9 88888888888888888888
        "
    )
}

#[test]
fn who_ends_the_waits_for_a_lock_and_what_that_one_does_is_named() {
    let report = drawn(&with(FUTEX, &ended_by("run", "sleep_ns"))).diagnose();
    expect![[r#"
        lock.futex | process server | consistent | 0.900 (0.900 to 0.900)
        A lock is the bottleneck: 90 % of each request was threads of server waiting for each other; run ended 100 % of these waits, 100 % of which were for somebody sleeping on a timer.
        helps: less time under the lock, or several locks instead of one: +305 % to +685 % by CPU law
        not: more clients, more threads, more CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong
    "#]].assert_eq(&told(&report));
}

#[test]
fn waits_in_futex_that_a_timer_ended_are_for_no_lock() {
    let by_a_timer = ended_by("run", "sleep_ns").replace(
        "wakeup.by      run<run     ####################",
        "wakeup.by      run<run *10 33333333333333333333",
    );
    let report = drawn(&with(FUTEX, &by_a_timer)).diagnose();
    assert!((part(&report, LedgerClass::Futex) - 0.0).abs() < 0.01);
    assert!((part(&report, LedgerClass::Sleep) - 0.9).abs() < 0.01);
    assert_eq!(judged(&report, "lock.futex").answer, Answer::Absent);
    // Tried ten times for each request: that is for a lock.
    let tried = by_a_timer.replace("run<run *1000 4444", "run<run *10000 4444");
    let report = drawn(&with(FUTEX, &tried)).diagnose();
    assert!((part(&report, LedgerClass::Futex) - 0.9).abs() < 0.01);
}

#[test]
fn waits_in_futex_are_what_those_do_who_end_them() {
    let changes = [
        ("a thread that syncs", ended_by("writer", "sync_ns")),
        (
            "a thread that waits for work",
            ended_by("giver", "input_ns"),
        ),
        ("threads that compute", ended_by("run", "on_cpu_ns")),
    ];
    let changes: Vec<_> = changes
        .iter()
        .map(|(what, lanes)| (*what, &**lanes))
        .collect();
    expect![[r#"
        a thread that syncs
          absent: io.sync explains it: server
          headline: io.sync
        a thread that waits for work
          absent: server was not seen waiting for a lock
          headline: undetermined
        threads that compute
          present: A lock is the bottleneck: 90 % of each request was threads of server waiting for each other; run ended 100 % of these waits, 100 % of which were for somebody on CPU.
    "#]].assert_eq(&answers(FUTEX, "lock.futex", &changes));
    expect![[r#"
        a thread that syncs
          present: Syncing to disk is the bottleneck: 90 % of each request was server waiting for fsync (90 % behind another's).
        a thread that waits for work
          absent: server was not seen waiting for a sync
          headline: undetermined
        threads that compute
          absent: server was not seen waiting for a sync
          headline: lock.futex
    "#]].assert_eq(&answers(FUTEX, "io.sync", &changes));
}

#[test]
fn futex_and_what_speaks_against_it() {
    let changes = [
        (
            "for a little less than a fifth",
            "
            run x8 88888888888888888888
            tps    44444444444444444444
            blocked S202 S202 S202 S232",
        ),
        ("PostgreSQL's own word", "blocked S232!0x01000004"),
        (
            "idle workers of a pool wait there too",
            "run x16 11111111111111111111",
        ),
        ("no response time", "tps --------------------"),
        ("nobody saw what the servers were blocked in", "blocked S"),
        (
            "in three of ten seconds only",
            "blocked S202 S232 S232 S202 S232 S232 S232 S202 S232 S232",
        ),
    ];
    expect![[r#"
        for a little less than a fifth
          absent: server was waiting for a lock for only 15 % of each request
          headline: healthy
        PostgreSQL's own word
          present: A lock is the bottleneck: 90 % of each request was threads of server waiting for each other.
        idle workers of a pool wait there too
          cannot tell: the threads of server were in futex for longer than requests took: some of them were idle there
          headline: undetermined
        no response time
          cannot tell: threads of server were in futex for 90 % of their time, where idle workers wait too, and no response time tells them apart
          headline: undetermined
        nobody saw what the servers were blocked in
          cannot tell: what server was blocked in was not seen: run as root, or as the user who owns it
          headline: undetermined
        in three of ten seconds only
          absent: it took 24 % of each request on the whole, but over 20 % in only 26 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(FUTEX, "lock.futex", &changes));
}

#[test]
fn database_leads_and_names_who_holds_the_lock() {
    let report = drawn(DATABASE).diagnose();
    expect![[r#"
        lock.database | process worker | consistent | 1.000 (1.000 to 1.000)
        Locks of the database are the bottleneck: 100 % of each request was server waiting for a lock that worker (pid 100) held for 93 % of that time.
        helps: shorter transactions around what is locked, or fewer sessions that want it: +987 % to +2361 % by CPU law, one thread
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: end the transaction of pid 100: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    assert_eq!(headline(&report).entity.path, "pid:100@2");
    let idle = "session.state worker1 *3 ####################";
    let report = drawn(&with(DATABASE, idle)).diagnose();
    expect![[r#"
        lock.database | process worker | consistent | 1.000 (1.000 to 1.000)
        Locks of the database are the bottleneck: 100 % of each request was server waiting for a lock that worker (pid 100) held for 93 % of that time. Meanwhile the session was idle in transaction.
        helps: a commit before the session goes idle in transaction: +987 % to +2361 % by CPU law, one thread
        helps: shorter transactions around what is locked, or fewer sessions that want it: +987 % to +2361 % by CPU law, one thread
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: end the transaction of pid 100: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
}

#[test]
fn a_row_lock_of_threads_is_no_futex_where_the_server_says_so() {
    let report = drawn(THREADS).diagnose();
    expect![[r#"
        lock.database | thread thread | consistent | 1.000 (1.000 to 1.000)
        Locks of the database are the bottleneck: 100 % of each request was server waiting for a lock that thread (pid 100) held for 100 % of that time.
        helps: shorter transactions around what is locked, or fewer sessions that want it: +1047 % to +2439 % by CPU law, one thread
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: end the transaction of pid 100: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&report));
    assert_eq!(headline(&report).entity.kind, EntityKind::Thread);
    let of_another_kind = "
        mysql_session.blocked_by worker2 =worker1 --------------------
        mysql_session.blocked_by worker3 =worker1 --------------------";
    let report = drawn(&with(THREADS, of_another_kind)).diagnose();
    expect![[r#"
        lock.database | process server | consistent | 1.000 (1.000 to 1.000)
        Locks of the database are the bottleneck: 100 % of each request was server waiting for a lock.
        helps: shorter transactions around what is locked, or fewer sessions that want it: +1047 % to +2439 % by CPU law, one thread
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: run with half of the clients: if throughput falls as much, this is wrong. The column State of SHOW PROCESSLIST names the lock
    "#]].assert_eq(&told(&report));
    let silent = "
        mysql_session.wait_class --------------------
        mysql_session.blocked_by worker2 =worker1 --------------------
        mysql_session.blocked_by worker3 =worker1 --------------------";
    let report = drawn(&with(THREADS, silent)).diagnose();
    assert_eq!(headline(&report).cause, "lock.futex");
}

#[test]
fn database_and_what_speaks_against_it() {
    let changes = [
        (
            "nobody asked the server who holds it",
            "
            session.blocked_by worker2 =worker1 --------------------
            session.blocked_by worker3 =worker1 --------------------
            session.blocked_by worker4 =worker3 --------------------",
        ),
        (
            "no session holds half of the others up",
            "
            session.blocked_by worker3 =worker4 ####################
            session.blocked_by worker4 =worker3 ####################",
        ),
        (
            "for a little less than a fifth",
            "run x8 88888888888888888888
            blocked S232!0x03000005 S232!0x03000005 S232!0x03000005 S232!0x06000000",
        ),
        ("its word was not read", "blocked S232"),
        (
            "its word was not read, and servers were at work for most of each request",
            "
            blocked S232
            run x8 99999999999999999999",
        ),
        (
            "its word was not read, and no response time is known",
            "
            blocked S232
            tps --------------------
            run x8 11111111111111111111",
        ),
        (
            "in one of four seconds only",
            "blocked S232!0x03000005 S232!0x06000000 S232!0x06000000 S232!0x06000000",
        ),
    ];
    expect![[r#"
        nobody asked the server who holds it
          present: Locks of the database are the bottleneck: 100 % of each request was server waiting for a lock.
        no session holds half of the others up
          present: Locks of the database are the bottleneck: 100 % of each request was server waiting for a lock, which many sessions held in turn.
        for a little less than a fifth
          absent: server was waiting for a lock (row, table) for only 15 % of each request
          headline: healthy
        its word was not read
          cannot tell: what server itself says that it waits for was not read (PostgreSQL 13 to 18, by root): who waits for a lock looks as if it waited for its client
          headline: undetermined
        its word was not read, and servers were at work for most of each request
          absent: server was not seen waiting for a lock (row, table)
          headline: healthy
        its word was not read, and no response time is known
          cannot tell: what server itself says that it waits for was not read (PostgreSQL 13 to 18, by root): who waits for a lock looks as if it waited for its client
          headline: healthy
        in one of four seconds only
          absent: it took 21 % of each request on the whole, but over 20 % in only 21 % of the seconds: spikes, not a state
          headline: undetermined
    "#]].assert_eq(&answers(DATABASE, "lock.database", &changes));
}

#[test]
fn two_causes_that_hold_as_much_are_undetermined_and_both_listed() {
    let report = drawn(&tie()).diagnose();
    expect![[r#"
        undetermined | process server | suspected | none
        Undetermined: io.latency and lock.database hold as much of each request, within the noise of this run.
        wrong if: run longer and alone on the machine
    "#]].assert_eq(&told(&report));
    expect!["undetermined server none, io.latency vda 0.45, lock.database server 0.45"]
        .assert_eq(&listed(&report));
    let apart = with(&tie(), "hot x3 11111111111111111111");
    expect!["lock.database server 0.45, io.latency vda 0.34"]
        .assert_eq(&listed(&drawn(&apart).diagnose()));
}

/// Where more threads are in futex than there are requests, some of them have no work: only those in a sync count.
#[test]
fn beside_idle_threads_only_those_in_the_sync_itself_count() {
    let of = |clients: usize| {
        let report = drawn(&with(SYNC, &format!("clients {clients}"))).diagnose();
        headline(&report).sentence.clone()
    };
    expect![
        "Syncing to disk is the bottleneck: 50 % of each request was server waiting for fsync."
    ]
    .assert_eq(&of(2));
    expect!["Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync (88 % behind another's)."].assert_eq(&of(8));
}
