//! `load.late`, `load.concurrency`, `load.shares_cpu`, `limit.connections`: what clients ask for, and
//! what they are refused.

use expect_test::expect;

use crate::drawing::{answers, drawn, listed, told, with};
use crate::healthy::HEALTHY;
use crate::load::RATE;
use crate::pools::POOL;
use crate::saturated::SATURATED;

/// Two thousand per second were asked for and 1,000 come, 70 of 90 ms late, from an idle machine.
pub fn late() -> String {
    with(
        RATE,
        "
        cpus 2  clients 10  rate 2000
        run x10   55555555555555555555
        ms        99999999999999999999
        lag       77777777777777777777
        ",
    )
}

/// One client waits for each answer, and nothing is full.
pub const CONCURRENCY: &str = HEALTHY;

/// The server said so to three clients.
pub fn refused() -> String {
    HEALTHY.to_owned() + "complains too_many_connections 3 FATAL: sorry, too many clients already\n"
}

/// It is nearly full.
pub fn full() -> String {
    HEALTHY.to_owned()
        + "
        database.sessions       server *100 ####################
        database.sessions_limit server *100 ####################
        "
}

/// A process that serves has as many files open as it may; requests take 200 ms, and its threads are idle.
pub fn no_files_left() -> String {
    let idle = with(
        POOL,
        "
        serving.inside_input_ns  *1e9 00000000000000000000
        serving.outside_input_ns *1e9 ####################",
    );
    idle + "
        open_files.open    worker1 *100 99999999999999999999
        open_files.allowed worker1 *90  ####################
        "
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn a_late_generator_leads_and_what_speaks_against_it() {
    let report = drawn(&late()).diagnose();
    expect![[r#"
        load.late | process loadgen | consistent | 0.778
        The load generator is late: requests began 70.0 ms after their time on average, 78 % of each.
        not: a faster server
        wrong if: run with twice the clients and threads: if the lag stays, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["load.late loadgen 0.78"].assert_eq(&listed(&report));
    let changes = [
        (
            "lag is a little less than half",
            "
            ms  99999999999999999999
            lag 44444444444444444444",
        ),
        ("no rate was asked for", "cpus 2 clients 10 rate 0"),
        (
            "the generator does not tell its lag",
            "lag --------------------",
        ),
        (
            "lag is a symptom of full CPUs",
            "
            busy ####################
            wait 44444444444444444444",
        ),
        (
            "the CPUs are full, and the target waits for none",
            "
            busy ####################
            rest ##################0#",
        ),
        (
            "lag is a symptom of a lock",
            "
            blocked S202
            run x10 11111111111111111111",
        ),
        ("CPU times were not recorded", "busy --------------------"),
        (
            "how long the target waited for a CPU was not recorded",
            "wait --------------------",
        ),
    ];
    expect![[r#"
        lag is a little less than half
          absent: lag was 44 % of each request
          headline: undetermined
        no rate was asked for
          absent: no rate was asked for
          headline: healthy
        the generator does not tell its lag
          cannot tell: loadgen does not tell its lag
          headline: undetermined
        lag is a symptom of full CPUs
          absent: lag was 78 % of each request, by cpu.saturated
          headline: cpu.saturated
        the CPUs are full, and the target waits for none
          absent: lag was 78 % of each request, on full CPUs
          headline: undetermined
        lag is a symptom of a lock
          absent: lag was 78 % of each request, by lock.futex
          headline: lock.futex
        CPU times were not recorded
          cannot tell: CPU times were not recorded: on full CPUs lag would be a symptom
          headline: undetermined
        how long the target waited for a CPU was not recorded
          cannot tell: how long server waited for a CPU was not recorded
          headline: undetermined
    "#]]
    .assert_eq(&answers(&late(), "load.late", &changes));
}

#[test]
fn too_few_clients_are_the_limit_of_a_closed_loop() {
    let report = drawn(CONCURRENCY).diagnose();
    expect!["healthy server 1.00, load.concurrency loadgen none"].assert_eq(&listed(&report));
    let changes = [
        ("", ""),
        (
            "clients think for a quarter of the time",
            "ms 11111111111111111111
            run x2 88888888888888888888
            cpus 4 clients 3",
        ),
        ("the CPUs are full", "busy ####################"),
        ("the server waits", "wait 22222222222222222222"),
        ("the wait was not recorded", "wait --------------------"),
        ("CPU times were not recorded", "busy --------------------"),
        (
            "little is explained",
            "
            run 11111111111111111111
            gen 00000000000000000000",
        ),
        ("no response time", "tps --------------------"),
    ];
    expect![[r#"

          present: The number of clients is the limit: 1 client (-c 1), each waiting 5.00 ms for its answer, make 200 tps.
          headline: healthy
        clients think for a quarter of the time
          absent: only 67 % of the clients waited for an answer at a time
          headline: healthy
        the CPUs are full
          absent: the CPUs were 100 % busy
          headline: healthy
        the server waits
          absent: server waited for 20 % of each request
          headline: undetermined
        the wait was not recorded
          cannot tell: how long server waited for a CPU was not recorded
          headline: undetermined
        CPU times were not recorded
          cannot tell: CPU times were not recorded
          headline: healthy
        little is explained
          cannot tell: only 10 % of each request is explained
          headline: undetermined
        no response time
          cannot tell: the workload gave no response times
          headline: healthy
    "#]].assert_eq(&answers(CONCURRENCY, "load.concurrency", &changes));
}

#[test]
fn the_generators_part_adds_to_full_cpus() {
    expect!["cpu.saturated server 0.50, load.shares_cpu loadgen 0.20"]
        .assert_eq(&listed(&drawn(SATURATED).diagnose()));
    let changes = [
        ("", ""),
        (
            "a little less than 15 %",
            "gen 22222222222222222222
            run x10 22222222222222222222",
        ),
        ("the target waits for no CPU", "wait 00000000000000000000"),
        (
            "it does the waiting",
            "wait 00000000000000000000
            genwait 55555555555555555555",
        ),
        ("no generator was measured", "gen --------------------"),
    ];
    expect![[r#"

          present: loadgen takes 40 % of the CPU that the target waits for.
          headline: cpu.saturated
        a little less than 15 %
          absent: loadgen took only 8.7 % of the CPU time
          headline: cpu.saturated
        the target waits for no CPU
          absent: loadgen took 40 % of the CPU time, and CPU is not the limit
          headline: healthy
        it does the waiting
          present: loadgen takes 40 % of the CPU time and waits for more; server itself hardly waits for a CPU (0 of each request).
          headline: load.client
        no generator was measured
          cannot tell: the threads of loadgen were not seen in this window
          headline: cpu.saturated
    "#]]
    .assert_eq(&answers(SATURATED, "load.shares_cpu", &changes));
}

#[test]
fn refused_connections_lead_whatever_they_cost() {
    expect![[r#"
        limit.connections | process server | measured | none
        server takes no more connections: clients were turned away 3 times (`FATAL: sorry, too many clients already`).
        not: more clients
        wrong if: run with half of the clients: if they are turned away too, this is wrong
    "#]].assert_eq(&told(&drawn(&refused()).diagnose()));
    expect![[r#"
        limit.connections | process server | consistent | none
        server takes hardly any more connections: 100 of 100 are in use.
        wrong if: raise max_connections, or put a pool in front: if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&drawn(&full()).diagnose()));
    let changes = [
        (
            "a little under 95 %",
            "database.sessions server *100 99999999999999999999",
        ),
        (
            "nobody asked the server, somebody listened to the workload",
            "
            database.sessions       server *100 --------------------
            database.sessions_limit server *100 --------------------",
        ),
        (
            "nobody asked and nobody listened",
            "adapter none
            database.sessions       server *100 --------------------
            database.sessions_limit server *100 --------------------",
        ),
        (
            "no workload at all",
            "tps --------------------
            adapter none
            database.sessions       server *100 --------------------
            database.sessions_limit server *100 --------------------",
        ),
        (
            "other complaints",
            "complains no_space 2 No space left on device
            database.sessions       server *100 --------------------
            database.sessions_limit server *100 --------------------",
        ),
    ];
    expect![[r#"
        a little under 95 %
          absent: 90 % of the connections of server were in use
          headline: healthy
        nobody asked the server, somebody listened to the workload
          absent: nobody was turned away
          headline: healthy
        nobody asked and nobody listened
          cannot tell: no workload was listened to, and server was not asked (--postgres, --mysql)
          headline: healthy
        no workload at all
          cannot tell: no workload was listened to, and server was not asked (--postgres, --mysql)
          headline: healthy
        other complaints
          absent: nobody was turned away
          headline: healthy
    "#]]
    .assert_eq(&answers(&full(), "limit.connections", &changes));
}

#[test]
fn a_process_with_no_files_left_takes_no_connections() {
    expect![[r#"
        limit.connections | process server | consistent | 1.000
        worker can take hardly any more connections: it has 90 of at most 90 files open, and 100 % of each request was in line at its sockets.
        helps: a higher limit of open files (LimitNOFILE=, ulimit -n): not known (how long connections waited to be accepted is not recorded)
        wrong if: let it open more (sudo prlimit --pid 100 --nofile=180): if throughput stays the same, this is wrong
    "#]].assert_eq(&told(&drawn(&no_files_left()).diagnose()));
    let changes = [
        (
            "one of ten left",
            "open_files.allowed worker1 *100 ####################",
        ),
        (
            "its threads work meanwhile",
            "
            serving.outside_input_ns *1e9 00000000000000000000
            run x4 ####################",
        ),
        (
            "there is no limit",
            "open_files.allowed worker1 *90 --------------------",
        ),
    ];
    expect![[r#"
        one of ten left
          absent: worker had 90 % of the files open that it may
          headline: undetermined
        its threads work meanwhile
          present: worker can take hardly any more connections: it has 90 of at most 90 files open.
        there is no limit
          cannot tell: no workload was listened to, and server was not asked (--postgres, --mysql)
          headline: undetermined
    "#]]
    .assert_eq(&answers(&no_files_left(), "limit.connections", &changes));
}
