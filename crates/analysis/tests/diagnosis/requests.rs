//! Where the workload says nothing of itself: request times as the kernel saw them are the signal.

use expect_test::expect;
use model::{
    Confidence, Entity, EntityEvent, EntityId, EntityKind, EntityRecord, LedgerClass, Provenance,
    Quality, ReadEvery, Report, Role, Signal, Table, Timestamp,
};
use sensors::request::{CALLS, PEER_CALLS, REQUESTS, bound_ns};

use crate::drawing::{Drawn, drawn, headline, said, told};
use crate::healthy::HEALTHY;
use crate::load::CLIENT;
use crate::neighbour::NEIGHBOUR;
use crate::quota::LIMITED;

/// The same without a signal, and with requests in each tenth of a second: how many, and how long each
/// took, us.
fn asked(each_tenth: impl Fn(i64) -> (i64, i64)) -> Drawn {
    let alone = HEALTHY.replace("clients 1", "clients 1  adapter none");
    let mut drawn = drawn(&alone.replace("tps       22222222222222222222", ""));
    add_requests(&mut drawn, &REQUESTS, Role::Target, each_tenth);
    no_calls(&mut drawn);
    drawn
}

/// Calls to peers were counted, and there were none.
fn no_calls(drawn: &mut Drawn) {
    let every = ReadEvery {
        near_ns: 100_000_000,
        rest_ns: 100_000_000,
    };
    let periods = &mut drawn.meta.plan.periods;
    periods.insert(PEER_CALLS.name.to_string(), every);
}

pub fn add_requests(
    drawn: &mut Drawn,
    table: &'static Table,
    role: Role,
    each_tenth: impl Fn(i64) -> (i64, i64),
) {
    add_requests_from(drawn, table, role, 0, each_tenth);
}

/// The same of an end that is counted from this tenth of a second on.
fn add_requests_from(
    drawn: &mut Drawn,
    table: &'static Table,
    role: Role,
    first: i64,
    each_tenth: impl Fn(i64) -> (i64, i64),
) {
    let connection = EntityId(9_999 - role as u32);
    let window = drawn.timeline.window;
    let record = EntityRecord {
        role,
        ..EntityRecord::new(
            connection,
            Entity::new(EntityKind::Connection, "server", "server/requests"),
            window.start,
        )
    };
    drawn.timeline.entities.apply(EntityEvent {
        time: window.start,
        record,
    });
    let place = |column: &str| table.position(column).expect("it is a column");
    let data = drawn.timeline.table_mut(table);
    let mut row = vec![0; table.columns.len()];
    data.push(window.start + first * 100_000_000, connection, &row);
    for tenth in first..window.len_ns() / 100_000_000 {
        let (count, us) = each_tenth(tenth);
        row[place("requests")] += count;
        row[place("timed")] += count;
        row[place("timed_ns")] += count * us * 1_000;
        let mut columns = table.columns.iter();
        let bucket =
            columns.position(|it| bound_ns(&it.name).is_some_and(|it| (us * 1_000) as f64 <= it));
        row[bucket.expect("there is one")] += count;
        let at = window.start.as_ns() + (tenth + 1) * 100_000_000;
        data.push(Timestamp::from_ns(at), connection, &row);
    }
}

fn signal<'a>(report: &'a Report, name: &str) -> Option<&'a Signal> {
    report.signals.iter().find(|it| it.name == name)
}

fn caveats(report: &Report) -> Vec<&str> {
    let caveats = report.verdict.caveats.iter();
    caveats.map(|it| it.gate.as_str()).collect()
}

#[test]
fn requests_that_the_kernel_saw_are_throughput_latency_and_quantiles() {
    let report = asked(|tenth| {
        if tenth % 10 == 9 {
            (20, 50_000)
        } else {
            (20, 5_000)
        }
    })
    .diagnose();
    let throughput = signal(&report, "throughput").expect("it is known");
    assert_eq!(
        (throughput.mean, throughput.provenance),
        (Some(200.0), Provenance::Kernel)
    );
    let latency = signal(&report, "latency").expect("it is known");
    assert_eq!(
        (latency.mean, latency.provenance),
        (Some(9.5e6), Provenance::Kernel)
    );
    let quantile = |q| {
        latency
            .quantiles
            .iter()
            .find(|it| it.q == q)
            .map(|it| it.value / 1e6)
    };
    let [p50, p99] = [quantile(0.5), quantile(0.99)].map(|it| it.expect("there are enough"));
    assert!(
        (4.1..5.3).contains(&p50) && (41.0..51.0).contains(&p99),
        "{p50} {p99}"
    );
    assert_eq!(latency.quantiles.iter().find_map(|it| it.sampled), None);
    assert!(
        report.verdict.findings[0].sentence.contains("200"),
        "{:?}",
        report.verdict.findings
    );
}

#[test]
fn what_the_workload_says_of_itself_goes_before() {
    let mut both = asked(|_| (20, 5_000));
    let own = drawn(HEALTHY);
    let table = own.timeline.table("signal").expect("it is drawn").clone();
    both.timeline.insert(table);
    both.meta = own.meta.clone();
    let report = both.diagnose();
    let throughput = signal(&report, "throughput").expect("it is known");
    assert_eq!(throughput.provenance, Provenance::ToolCount);
}

#[test]
fn seconds_in_which_nobody_asked_are_no_stall_and_those_that_a_request_waited_through_are() {
    let idle = asked(|tenth| {
        if (80..120).contains(&tenth) {
            (0, 0)
        } else {
            (20, 5_000)
        }
    });
    let report = idle.diagnose();
    assert!(
        !caveats(&report).contains(&"gate.stalled"),
        "{:?}",
        report.verdict.caveats
    );
    let stalled = asked(|tenth| match tenth {
        80..120 => (0, 0),
        120 => (1, 6_000_000),
        _ => (20, 5_000),
    });
    let report = stalled.diagnose();
    assert!(
        caveats(&report).contains(&"gate.stalled"),
        "{:?}",
        report.verdict.caveats
    );
}

/// The workload says its throughput and derives its latency; requests were seen at both ends, and those of the
/// generator's end took so long, us.
fn derived(called_us: i64) -> Drawn {
    let mut drawn = drawn(HEALTHY);
    let workload = drawn.meta.workload.as_mut().expect("a workload");
    workload.latency = Provenance::Derived;
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (40, 2_000));
    add_requests(&mut drawn, &CALLS, Role::Generator, |_| (40, called_us));
    drawn
}

#[test]
fn where_the_workload_derives_its_latency_the_kernels_at_the_generators_end_is_it() {
    // Two requests an operation: 200 operations a second, each twice 2.25 ms.
    let report = derived(2_250).diagnose();
    let throughput = signal(&report, "throughput").expect("it is known");
    assert_eq!(
        (throughput.mean, throughput.provenance),
        (Some(200.0), Provenance::ToolCount)
    );
    let latency = signal(&report, "latency").expect("it is known");
    assert_eq!(
        (latency.mean, latency.provenance),
        (Some(4.5e6), Provenance::Kernel)
    );
    assert_eq!(report.verdict.findings[0].cause, "healthy");
    assert!(!caveats(&report).contains(&"gate.latency_derived"));
    // At the server all is as before; at the generator's end each operation takes 40 ms.
    let far = derived(20_000).diagnose();
    assert_eq!(far.verdict.findings[0].cause, "undetermined");
}

#[test]
fn of_pipelined_requests_no_rate_is_told() {
    let mut pipelined = asked(|_| (20, 5_000));
    let mut data = model::TableData::new((*REQUESTS).clone());
    let old = pipelined.timeline.table("requests").expect("it is drawn");
    let [requests, several] =
        ["requests", "pipelined"].map(|it| REQUESTS.position(it).expect("a column"));
    for row in 0..old.len() {
        let mut values: Vec<i64> = old.row(row).collect();
        values[several] = values[requests] / 2;
        let (time, entity) = old.key(row);
        data.push(time, entity, &values);
    }
    pipelined.timeline.insert(data);
    let report = pipelined.diagnose();
    assert_eq!(signal(&report, "throughput"), None);
    let caveats = report.verdict.caveats.iter();
    let sentence = caveats
        .filter(|it| it.gate == "gate.pipelined")
        .map(|it| &it.sentence);
    let sentence: Vec<_> = sentence.collect();
    assert!(
        sentence[0].starts_with("50 % of what server was asked holds several requests"),
        "{sentence:?}"
    );
}

#[test]
fn of_a_workload_without_intervals_the_kernel_knows_the_throughput_too() {
    // pgbench without --progress: clients and throughput at its end are all that it says. wrk says its latency then too,
    // of the whole run.
    for said in [Provenance::Derived, Provenance::None] {
        let mut quiet = drawn(HEALTHY);
        quiet.timeline.remove("signal");
        let workload = quiet.meta.workload.as_mut().expect("one is drawn");
        workload.adapter = Some("loadgen".to_owned());
        workload.latency = said;
        workload.load.rate_unit = "tps".to_owned();
        add_requests(&mut quiet, &REQUESTS, Role::Target, |_| (20, 45_000));
        let report = quiet.diagnose();
        let mean = |name| signal(&report, name).and_then(|it| it.mean);
        assert_eq!(mean("throughput"), Some(200.0), "{said:?}");
        assert_eq!(mean("latency"), Some(45e6), "{said:?}");
        let counted = signal(&report, "throughput").map(|it| it.provenance);
        assert_eq!(counted, Some(Provenance::Kernel), "{said:?}");
    }
}

#[test]
fn what_requests_take_at_either_end_is_said_where_they_are_the_same() {
    let said = |called: i64| {
        let mut drawn = drawn(&format!("{HEALTHY}    genwait   11111111111111111111\n"));
        add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (200, 180));
        add_requests(&mut drawn, &CALLS, Role::Generator, |_| (called, 250));
        let account = drawn.diagnose().verdict.account.expect("there is one");
        let outside = account.items.last().map(|it| it.note.clone());
        outside.expect("something is outside")
    };
    let words = said(200);
    let (_, words) = words.split_once("; ").expect("of its threads before");
    expect!["a request takes 0.180 ms at server's sockets, 0.250 ms at loadgen's; loadgen waits 50.0 us for a CPU per request"].assert_eq(words);
    let others = said(190);
    assert!(!others.contains("sockets"), "{others}");
}

#[test]
fn an_answer_that_waits_until_its_client_has_a_cpu_is_accounted_for() {
    // Of 200 us 140 are outside: with 50 us of it told, what is left is little more than a wake-up.
    let verdict = |lane: &str| {
        let light = without_signal(HEALTHY).replace("88888888888888888888", "11111111111111111111");
        let text = format!("{light}    {lane}\n");
        let mut drawn = drawn(&text);
        add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (200, 60));
        add_requests(&mut drawn, &CALLS, Role::Generator, |_| (200, 200));
        drawn.diagnose().verdict.findings[0].sentence.clone()
    };
    expect!["No bottleneck: with this load server did 2,000 per second, 0.200 ms each, and waited for nothing worth naming; 26 % of each request it was on a CPU."].assert_eq(&verdict("genwait   11111111111111111111"));
    expect!["Undetermined: 70 % of each request was outside server, and the load generator explains little of it (44 % is explained in all): think time, the network, or locks that wait in epoll."].assert_eq(&verdict("genwait   00000000000000000000"));
}

#[test]
fn times_are_those_of_a_generator_that_was_found_late() {
    let mean = |first: i64| {
        let mut drawn = drawn(&without_signal(HEALTHY));
        add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (200, 180));
        add_requests_from(&mut drawn, &CALLS, Role::Generator, first, |_| (200, 250));
        let report = drawn.diagnose();
        signal(&report, "latency").and_then(|it| it.mean)
    };
    assert_eq!(mean(0), Some(250e3));
    assert_eq!(mean(3), Some(250e3));
}

/// What `load.client` is judged by where nobody but the kernel reports requests: at the target's sockets
/// each takes 0.2 ms, at the generator's so long, us.
fn by_sockets(called: Option<i64>) -> Report {
    let alone = CLIENT.replace("clients 8", "clients 8  adapter none");
    let mut drawn = drawn(&without_signal(&alone));
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (200, 200));
    if let Some(called) = called {
        add_requests(&mut drawn, &CALLS, Role::Generator, |_| (200, called));
    }
    drawn.diagnose()
}

/// Lines of the drawing that report the workload are left out.
fn without_signal(text: &str) -> String {
    let tells = |line: &&str| matches!(line.split_whitespace().next(), Some("tps" | "ms" | "lag"));
    let lines = text.lines().filter(|line| !tells(line));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_has_come_and_is_not_worked_on_is_in_line_and_not_outside() {
    let report = by_sockets(None);
    let account = report.verdict.account.as_ref().expect("there is one");
    let in_line = account.items.last().expect("it has items");
    assert_eq!(in_line.class, LedgerClass::Outside);
    expect!["queued at server's sockets"].assert_eq(&in_line.label);
    assert_eq!(in_line.parts, []);
    expect!["cannot tell: response times were taken at server's own sockets, and not at those of loadgen"].assert_eq(&said(&report, "load.client"));
    // Beside the generator's own sockets it is known what is outside.
    expect!["present: The load generator is the bottleneck: loadgen's one thread was on a CPU 100 % of the time, and 75 % of each request was outside server."].assert_eq(&said(&by_sockets(Some(800)), "load.client"));
    expect!["absent: only 4.8 % of each request was outside server"]
        .assert_eq(&said(&by_sockets(Some(210)), "load.client"));
}

#[test]
fn what_is_in_line_waits_for_what_its_server_waits_for() {
    // One thread, which a quota holds back for most of the time, serves more clients than it can.
    let one = without_signal(LIMITED)
        .replace("clients 4", "adapter none")
        .replace(
            "run x4    11111111111111111111",
            "run x1    33333333333333333333",
        );
    let mut drawn = drawn(&one);
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (100, 13_000));
    let report = drawn.diagnose();
    let mut text = told(&report);
    for item in &report.verdict.account.as_ref().expect("a target").items {
        let (share, label) = (100.0 * item.share, &item.label);
        text += &format!("{share:.0} % {label} {:?} ({})\n", item.quality, item.note);
    }
    expect![[r#"
        cpu.quota | cgroup limited | measured | 0.605 (0.605 to 0.605)
        A CPU quota is the bottleneck: /limited ran out of its limit of 0.4 CPUs in 60 % of the periods, and 60 % of each request was server held back by it, while the machine was 70 % idle.
        helps: a quota of 2 CPUs: +126 % to +405 % by CPU law, one thread
        not: more clients, a larger machine with the same quota, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
        60 % server: throttled by a CPU quota Estimated (56 % in line at server's sockets, 4.6 % in its threads)
        30 % server: on CPU Estimated (28 % in line at server's sockets, 2.3 % in its threads)
        9 % queued at server's sockets Estimated (loadgen's 1 thread: on CPU for 10 % of its time)
    "#]].assert_eq(&text);
}

#[test]
fn a_wait_that_is_mostly_in_line_is_estimated_and_not_measured() {
    // One thread waits for a CPU most of the time, and twelve requests behind it.
    let one = without_signal(NEIGHBOUR)
        .replace("clients 4", "adapter none")
        .replace("run x4 ", "run x1 ");
    let counted = "    thread_time.queued_rest_ns *1e9 66666666666666666666\n";
    let mut drawn = drawn(&(one + counted));
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (100, 13_000));
    let report = drawn.diagnose();
    let finding = headline(&report);
    expect!["cpu.neighbour"].assert_eq(&finding.cause);
    assert_eq!(finding.confidence, Confidence::Consistent);
    let mut items = report.verdict.account.iter().flat_map(|it| &it.items);
    let wait = items.find(|it| it.class == LedgerClass::CpuWait);
    let wait = wait.expect("it waited");
    assert_eq!(wait.quality, Quality::Estimated);
    let parts: i64 = wait.parts.iter().map(|part| part.ns).sum();
    assert!((parts - wait.ns).abs() < 100, "{wait:?}");
    let estimated = |part: &model::AccountPart| part.quality == Quality::Estimated;
    assert!(wait.parts.iter().all(estimated), "{wait:?}");
}

/// The part of the response time outside of the target: 200 transactions per second of 5 ms by the tool, in which the
/// server works for 1 ms, each of three requests of 1.6 ms at the generator's sockets.
fn outside(served_us: i64) -> f64 {
    let text = HEALTHY.replace("run       8888", "run       2222");
    let mut drawn = drawn(&text.replace("88888888", "22222222"));
    add_requests(&mut drawn, &REQUESTS, Role::Target, |_| (60, served_us));
    add_requests(&mut drawn, &CALLS, Role::Generator, |_| (60, 1_600));
    let account = drawn.diagnose().verdict.account;
    let account = account.expect("a target and its times");
    let items = account.items.iter();
    let outside = items.filter(|it| it.label == "client and network");
    outside.map(|it| it.share).sum()
}

#[test]
fn what_requests_of_a_transaction_took_at_the_sockets_is_not_outside() {
    // 3 times 1.5 ms of the 5 are the server's, and 0.3 are not.
    assert!((outside(1_500) - 0.1).abs() < 0.01, "{}", outside(1_500));
    assert!((outside(300) - 0.8).abs() < 0.01, "{}", outside(300));
}
