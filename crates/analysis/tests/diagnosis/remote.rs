//! `net.remote`: the target waits for a peer that it asks itself.

use expect_test::expect;
use model::{
    Confidence, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, LedgerClass, Report, Role,
};
use sensors::request::{PEER_CALLS, REQUESTS};

use crate::drawing::{Drawn, answers, drawn, headline, judged, listed, said, told, with};
use crate::locks::SYNC;
use crate::requests::add_requests;

/// An event loop, each of whose requests takes 20 ms, of which a call to a peer on this machine takes 16.
pub const REMOTE: &str = "
    cpus 4  clients 4
    busy      22222222222222222222
    run       11111111111111111111
    wait      00000000000000000000
    rest      11111111111111111111
    gen       11111111111111111111
    throttled 00000000000000000000  /server
    io        00000000000000000000
    memory    00000000000000000000
    tps       22222222222222222222
    peer_calls.requests c1 *1e3 22222222222222222222
    peer_calls.timed    c1 *1e3 22222222222222222222
    peer_calls.timed_ns c1 *4e9 88888888888888888888
    peer_calls.long     c1 *1e3 00000000000000000000
    peer_calls.long_ns  c1 *1e9 00000000000000000000
    peer_calls.process  c1 =other1 11111111111111111111
";

/// The same where one call in ten was timed, of 15 to 17 ms, and who answers is elsewhere.
pub fn far() -> String {
    let sampled = with(
        REMOTE,
        "
    peer_calls.timed    c1 *1e2 22222222222222222222
    peer_calls.timed_ns c1 *4e8 88888888888888888888
    peer_calls.under_16777216_ns c1 *1e2 22222222222222222222",
    );
    let here = |line: &&str| !line.contains("process");
    let lines = sampled.lines().filter(here);
    lines.map(|line| format!("{line}\n")).collect()
}

/// Items of the account that a peer is waited for in, and those outside.
fn elsewhere(report: &Report) -> String {
    let account = report.verdict.account.as_ref().expect("a target");
    let items = account.items.iter();
    let beyond = items.filter(|it| it.class.state() == LedgerClass::Remote.state());
    let line =
        |it: &model::AccountItem| format!("{:.0} % {} ({})\n", 100.0 * it.share, it.label, it.note);
    beyond.map(line).collect()
}

#[test]
fn a_peer_that_is_waited_for_leads() {
    let report = drawn(REMOTE).diagnose();
    expect![[r#"
        net.remote | process other1 | measured | 0.800 (0.800 to 0.800)
        A peer is the bottleneck: 80 % of each request was server waiting for other1 (c1), in 1 call of 16.0 ms. other1 runs on this machine: look there.
        helps: a peer that answers at once, or fewer calls to it: +399 % to +456 % by waits removed, closed loop
        wrong if: record the peer (stallscope record --target pid:31): if its requests take much less than 16.0 ms, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["net.remote other1 0.80"].assert_eq(&listed(&report));
    expect![[r#"
        80 % server: waiting for other1 (c1) (1 call of 16.0 ms)
        18 % client and network (loadgen's 1 thread: on CPU for 10 % of its time)
    "#]]
    .assert_eq(&elsewhere(&report));
}

#[test]
fn an_answer_that_lies_unread_is_no_wait_for_the_peer() {
    let half = "peer_calls.unread_ns c1 *4e9 44444444444444444444";
    let report = drawn(&with(REMOTE, half)).diagnose();
    expect![[r#"
        net.remote | process other1 | measured | 0.400 (0.400 to 0.400)
        A peer is the bottleneck: 40 % of each request was server waiting for other1 (c1), in 1 call of 8.00 ms. other1 runs on this machine: look there.
        helps: a peer that answers at once, or fewer calls to it: +61 % to +72 % by waits removed, closed loop
        wrong if: record the peer (stallscope record --target pid:31): if its requests take much less than 8.00 ms, this is wrong
    "#]].assert_eq(&told(&report));
    expect![[r#"
        40 % server: waiting for other1 (c1) (1 call of 8.00 ms, each answer unread for 8.00 ms after it came)
        30 % queued at server's sockets ()
        18 % client and network (loadgen's 1 thread: on CPU for 10 % of its time)
    "#]].assert_eq(&elsewhere(&report));
}

#[test]
fn calls_and_the_targets_own_work_that_hold_as_much_both_stand() {
    let as_much = "
        run       99999999999999999999
        peer_calls.timed_ns  c1 *4e9 88888888888888888888
        peer_calls.unread_ns c1 *4e9 33333333333333333333";
    expect!["cpu.single_thread thread 0.50, net.remote other1 0.50"]
        .assert_eq(&listed(&drawn(&with(REMOTE, as_much)).diagnose()));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table: changes and their answers")]
fn calls_that_no_request_waits_for_are_no_cause_or_doubted() {
    let changes = [
        (
            "a little under 20 %",
            "peer_calls.timed_ns c1 *77e8 11111111111111111111",
        ),
        (
            "one call in thirty requests, of 0.48 s",
            "
            peer_calls.requests c1 *33 22222222222222222222
            peer_calls.timed    c1 *33 22222222222222222222",
        ),
        (
            "more than requests took",
            "peer_calls.timed_ns c1 *6e9 99999999999999999999",
        ),
        (
            "the target's own threads work meanwhile",
            "run x4 99999999999999999999",
        ),
        (
            "so they do, and each call is as short as a wake-up",
            "
            run x4 99999999999999999999
            peer_calls.requests c1 *4e5 22222222222222222222
            peer_calls.timed    c1 *4e5 22222222222222222222",
        ),
        (
            "its threads wait for a CPU longer than requests take",
            "
            run x8 11111111111111111111
            wait   66666666666666666666
            peer_calls.timed_ns c1 *3e9 44444444444444444444",
        ),
        (
            "the peer is the target itself",
            "peer_calls.process c1 =server 11111111111111111111",
        ),
        (
            "the peer makes the load",
            "peer_calls.process c1 =loadgen 11111111111111111111",
        ),
        ("no response time", "tps --------------------"),
        (
            "no call was made in this time",
            "peer_calls.requests c1 *1e3 00000000000000000000",
        ),
    ];
    expect![[r#"
        a little under 20 %
          absent: calls of server to its peers took 19 % of each request
          headline: undetermined
        one call in thirty requests, of 0.48 s
          present: A peer is the bottleneck: 80 % of each request was server waiting for other1 (c1), in 1 call of 486 ms per 30.4 requests. other1 runs on this machine: look there.
        more than requests took
          present: A peer is the bottleneck: 98 % of each request was server waiting for other1 (c1), in 1 call of 27.0 ms. other1 runs on this machine: look there.
        the target's own threads work meanwhile
          cannot tell: calls of server to its peers took 80 % of each request, and what its threads did leaves room for 10 %
          headline: undetermined
        so they do, and each call is as short as a wake-up
          absent: calls of server to its peers took 40.0 us at a time, about as long as a wake-up takes
          headline: healthy
        its threads wait for a CPU longer than requests take
          cannot tell: calls of server to its peers took 30 % of each request, and what its threads did leaves no room for them
          headline: undetermined
        the peer is the target itself
          absent: server asked no peer
          headline: undetermined
        the peer makes the load
          absent: server asked no peer
          headline: undetermined
        no response time
          cannot tell: no response time is known to hold calls to peers against
          headline: healthy
        no call was made in this time
          absent: server asked no peer
          headline: undetermined
    "#]].assert_eq(&answers(REMOTE, "net.remote", &changes));
}

#[test]
fn a_peer_is_told_as_a_person_finds_it() {
    let changes = [
        (
            "a long way",
            "peer_calls.rtt_min_ns c1 *2e7 77777777777777777777",
        ),
        (
            "a short way",
            "peer_calls.rtt_min_ns c1 *1e7 77777777777777777777",
        ),
        (
            "two peers",
            "
            peer_calls.timed_ns c1 *2e9 88888888888888888888
            peer_calls.requests c2 *1e3 44444444444444444444
            peer_calls.timed    c2 *1e3 44444444444444444444
            peer_calls.timed_ns c2 *1e9 88888888888888888888",
        ),
    ];
    expect![[r#"
        a long way
          present: A peer is the bottleneck: 80 % of each request was server waiting for other1 (c1), in 1 call of 16.0 ms, 14.0 ms of it the round trip. The way there takes long, not the peer.
        a short way
          present: A peer is the bottleneck: 80 % of each request was server waiting for other1 (c1), in 1 call of 16.0 ms. other1 runs on this machine: look there.
        two peers
          present: A peer is the bottleneck: 60 % of each request was server waiting for 2 peers, 67 % of that for other1 (c1), in 1 call of 8.00 ms. other1 runs on this machine: look there.
    "#]].assert_eq(&answers(REMOTE, "net.remote", &changes));
    let mut names = drawn(REMOTE);
    let calls = names.timeline.entities.iter_mut();
    calls
        .filter(|it| it.entity.name == "c1")
        .for_each(|it| it.entity.name = "10.0.0.2:53".to_owned());
    expect!["present: A peer is the bottleneck: 80 % of each request was server waiting for other1 (10.0.0.2:53, DNS), in 1 call of 16.0 ms. other1 runs on this machine: look there."].assert_eq(&said(&names.diagnose(), "net.remote"));
}

/// Four threads that each wait for the peer, and sixteen clients: nobody but the kernel says how long requests take.
#[test]
fn requests_in_line_behind_threads_that_wait_for_the_peer_wait_for_it() {
    let pool = REMOTE
        .replace("clients 4", "adapter none  clients 16")
        .replace(
            "run       11111111111111111111",
            "run x4    00000000000000000000",
        )
        .replace("tps       22222222222222222222", "");
    let mut drawn = drawn(&pool);
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (20, 78_000));
    let report = drawn.diagnose();
    expect![[r#"
        net.remote | process other1 | measured | 0.841 (0.841 to 0.841)
        A peer is the bottleneck: 84 % of each request was server waiting for other1 (c1), in 1 call of 16.0 ms (21 % in calls, 64 % in line behind threads in calls). other1 runs on this machine: look there.
        helps: a peer that answers at once, or fewer calls to it: +429 % to +523 % by waits removed, closed loop
        helps: more threads of server: requests are in line for them: +11 % to +21 % by waits removed, closed loop
        wrong if: record the peer (stallscope record --target pid:31): if its requests take much less than 16.0 ms, this is wrong
    "#]].assert_eq(&told(&report));
    expect![[r#"
        84 % server: waiting for other1 (c1) (1 call of 16.0 ms; 64 % in line at server's sockets behind such calls)
        16 % queued at server's sockets (loadgen's 1 thread: on CPU for 10 % of its time)
    "#]].assert_eq(&elsewhere(&report));
}

#[test]
fn a_recording_without_calls_cannot_tell() {
    let before: String = REMOTE
        .lines()
        .filter(|line| !line.contains("peer_calls"))
        .map(|line| format!("{line}\n"))
        .collect();
    let report = drawn(&before).diagnose();
    expect!["cannot tell: what server asked others was not counted"]
        .assert_eq(&said(&report, "net.remote"));
    assert_ne!(headline(&report).cause, "net.remote");
}

#[test]
fn calls_that_were_sampled_are_measured_as_well_as_the_sample_says() {
    let report = drawn(&far()).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.confidence, Confidence::Measured);
    expect![[r#"
        net.remote | connection c1 | measured | 0.800 (0.796 to 0.804)
        A peer is the bottleneck: 80 % of each request was server waiting for c1, in 1 call of 16.0 ms.
        helps: a peer that answers at once, or fewer calls to it: +394 % to +468 % by waits removed, closed loop
        not: more clients, more or faster CPUs, faster disk, more memory
        wrong if: time such a request to c1: if it takes much less than 16.0 ms, this is wrong
    "#]].assert_eq(&told(&report));
    // Four in twenty seconds.
    let few = with(
        &far(),
        "
        peer_calls.timed    c1 *1   22222222222222222222
        peer_calls.timed_ns c1 *4e6 88888888888888888888
        peer_calls.under_16777216_ns c1 *1 22222222222222222222",
    );
    let report = drawn(&few).diagnose();
    let finding = headline(&report);
    assert_eq!(
        (
            finding.cause.as_str(),
            finding.confidence,
            finding.share_interval
        ),
        ("net.remote", Confidence::Consistent, None)
    );
}

#[test]
fn calls_that_outlast_the_requests_are_in_none_of_them() {
    // One call of 15 to 17 ms for two requests of 2 ms, whose threads leave no room for it.
    let busy = with(
        &far(),
        "
    run x4 99999999999999999999
    peer_calls.requests c1 *5e2 22222222222222222222",
    );
    let answer = |request_us| {
        let mut drawn = drawn(&busy);
        add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (20, request_us));
        let report = drawn.diagnose();
        judged(&report, "net.remote").sentence.clone()
    };
    expect!["calls of server to its peers took 16.0 ms at a time, longer than 99 % of the requests did (2.10 ms): hardly any waits for one"].assert_eq(&answer(2_000));
    expect!["calls of server to its peers took 40 % of each request, and what its threads did leaves room for 10 %"].assert_eq(&answer(40_000));
}

#[test]
fn answers_that_lie_while_a_quota_holds_the_target_back_are_no_time_of_the_peers() {
    let held_back = REMOTE.to_owned() + "    thread_time.throttled_ns *1e9 88888888888888888888\n";
    let report = drawn(&held_back).diagnose();
    expect![[r#"
        16 % server: waiting for other1 (c1) (1 call of 16.0 ms)
        62 % client and network (loadgen's 1 thread: on CPU for 10 % of its time)
    "#]]
    .assert_eq(&elsewhere(&report));
}

const FRONT: EntityId = EntityId(9_000);
const THREAD: EntityId = EntityId(9_001);
const CALLED: EntityId = EntityId(9_002);

/// A server in front of the one that syncs, which was recorded as a dependency where `followed`: all of its requests,
/// 400 a second of 20 ms, wait for one call of 19 ms.
fn before_one_that_syncs(followed: bool) -> Drawn {
    let mut drawn = drawn(SYNC);
    let role = match followed {
        true => Role::Dependency,
        false => Role::Background,
    };
    let server = process(&drawn, Role::Target);
    for record in drawn.timeline.entities.iter_mut() {
        if record.role == Role::Target {
            record.role = role;
        }
    }
    let mut front = drawn.meta.targets[0].clone();
    for target in &mut drawn.meta.targets {
        if target.role == Role::Target {
            target.role = role;
            target.root = Some(server);
        }
    }
    front.root = Some(FRONT);
    front.name = "front".to_owned();
    drawn.meta.targets.push(front);
    add_front(&mut drawn);
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (40, 19_500));
    add_requests(&mut drawn, &REQUESTS, Role::Dependency, |_| (40, 20_000));
    for record in drawn.timeline.entities.iter_mut() {
        if record.entity.kind == EntityKind::Connection && record.role == Role::Dependency {
            record.parent = Some(server);
        }
    }
    add_calls(&mut drawn, server);
    drawn
}

/// The first process in a role.
fn process(drawn: &Drawn, role: Role) -> EntityId {
    let mut processes = drawn.timeline.entities.of_kind(EntityKind::Process);
    processes.find(|it| it.role == role).expect("it runs").id
}

/// The server in front: its thread does as much as that of the generator.
fn add_front(drawn: &mut Drawn) {
    let start = drawn.timeline.window.start;
    let mut add = |id, kind, name, parent| {
        let record = EntityRecord {
            role: Role::Target,
            parent,
            ..EntityRecord::new(id, Entity::new(kind, name, format!("front/{name}")), start)
        };
        drawn.timeline.entities.apply(EntityEvent {
            time: start,
            record,
        });
    };
    add(FRONT, EntityKind::Process, "front", None);
    add(THREAD, EntityKind::Thread, "front", Some(FRONT));
    add(CALLED, EntityKind::Connection, "c1", Some(FRONT));
    let generator = process(drawn, Role::Generator);
    let mut threads = drawn.timeline.entities.of_kind(EntityKind::Thread);
    let busy = threads
        .find(|it| it.parent == Some(generator))
        .expect("it runs")
        .id;
    drop(threads);
    let recorded = drawn.timeline.table("thread").expect("threads were read");
    let rows = (0..recorded.len()).map(|row| (recorded.key(row), recorded.row(row).collect()));
    let rows: Vec<(_, Vec<i64>)> = rows.filter(|((_, id), _)| *id == busy).collect();
    let table = recorded.table.clone();
    for ((time, _), row) in rows {
        drawn.timeline.table_mut(&table).push(time, THREAD, &row);
    }
}

/// Its calls to the server behind.
fn add_calls(drawn: &mut Drawn, server: EntityId) {
    let place = |column: &str| PEER_CALLS.position(column).expect("it is a column");
    let window = drawn.timeline.window;
    let calls = drawn.timeline.table_mut(&PEER_CALLS);
    for second in 0..=window.len_ns() / 1_000_000_000 {
        let mut row = vec![0; PEER_CALLS.columns.len()];
        row[place("requests")] = 400 * second;
        row[place("timed")] = 400 * second;
        row[place("timed_ns")] = 400 * second * 19_000_000;
        row[place("process")] = i64::from(server.0);
        calls.push(window.start + second * 1_000_000_000, CALLED, &row);
    }
}

#[test]
fn a_peer_that_was_recorded_too_is_judged_itself() {
    let report = before_one_that_syncs(true).diagnose();
    expect![[r#"
        net.remote | process server | measured | 0.950 (0.950 to 0.950)
        A peer is the bottleneck: 95 % of each request was front waiting for server (c1), in 1 call of 19.0 ms. There: Syncing to disk is the bottleneck: 100 % of each request was server waiting for fsync (88 % behind another's).
        helps: fewer syncs: more work per commit, or commits that need not be safe at once: +1045 % to +2401 % by CPU law, one thread
        helps: a disk that syncs faster than vda (now 2.25 ms per operation): +1045 % to +2401 % by CPU law, one thread
        helps: a peer that answers at once, or fewer calls to it: +1045 % to +2401 % by CPU law, one thread
        not: more or faster CPUs
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity disk
    "#]].assert_eq(&told(&report));
    let found = headline(&report).at_peer.as_ref().expect("it was recorded");
    assert_eq!((&*found.cause, &*found.entity.name), ("io.sync", "server"));
    // Who waits for it waits for its disk.
    expect![""].assert_eq(&ruled_out(&report, "disk"));
    let alone = before_one_that_syncs(false).diagnose();
    expect![[r#"
        net.remote | process server | measured | 0.950 (0.950 to 0.950)
        A peer is the bottleneck: 95 % of each request was front waiting for server (c1), in 1 call of 19.0 ms. server runs on this machine: look there.
        helps: a peer that answers at once, or fewer calls to it: +1045 % to +2401 % by CPU law, one thread
        wrong if: record the peer (stallscope record --target pid:10): if its requests take much less than 19.0 ms, this is wrong
    "#]].assert_eq(&told(&alone));
    assert_eq!(headline(&alone).at_peer, None);
    expect!["disk 0"].assert_eq(&ruled_out(&alone, "disk"));
}

/// What is ruled out under that name, or nothing.
fn ruled_out(report: &Report, what: &str) -> String {
    let mut all = report.verdict.ruled_out.iter();
    let found = all.find(|it| it.what == what);
    found.map_or_else(String::new, |it| it.sentence.clone())
}
