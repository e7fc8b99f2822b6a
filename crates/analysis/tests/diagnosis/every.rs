//! One drawing for every cause, in which it is present: what holds for all of them is tested on these.

use std::collections::BTreeSet;

use model::Answer;

use crate::drawing::{drawn, with};
use crate::{
    cache, clients, code, connection_pools, cores, disk, events, healthy, load, locks, memory,
    neighbour, network, pools, quota, remote, runtimes, saturated, thread_times,
};

/// Causes with a drawing of each, some with several.
pub fn drawings() -> Vec<(&'static str, String)> {
    let own = |text: &str| text.to_owned();
    let mut all = vec![
        ("limit.connections", clients::refused()),
        ("limit.connections", clients::full()),
        ("limit.connections", clients::no_files_left()),
        ("memory.oom", memory::oom()),
        ("io.full_disk", own(disk::FULL)),
        ("cpu.quota", own(quota::LIMITED)),
        (
            "cpu.quota",
            with(
                quota::LIMITED,
                "cpus 2 clients 4 quota 4 group /limited/inner",
            ),
        ),
        ("cpu.quota", thread_times::limited()),
        ("io.throttled", disk::throttled()),
        ("cpu.steal", own(cores::STEAL)),
        ("memory.limit", memory::limit()),
        ("memory.swap", memory::swap()),
        ("memory.refault", memory::refault()),
        ("memory.reclaim", memory::reclaim()),
        ("cache.cold", cache::cold()),
        ("io.neighbour", disk::neighbour()),
        ("io.sync", own(locks::SYNC)),
        ("io.cap", disk::cap()),
        ("io.latency", own(disk::LATENCY)),
        ("lock.database", own(locks::DATABASE)),
        ("lock.runtime", own(runtimes::RUNTIME)),
        ("lock.futex", own(locks::FUTEX)),
        ("lock.futex", thread_times::locked()),
        ("cpu.neighbour", own(neighbour::NEIGHBOUR)),
        (
            "cpu.neighbour",
            neighbour::NEIGHBOUR.replace("  /batch", ""),
        ),
        ("cpu.neighbour", neighbour::booked()),
        ("cpu.saturated", own(saturated::SATURATED)),
        ("cpu.saturated", thread_times::saturated()),
        ("cpu.imbalance", own(cores::IMBALANCE)),
        ("cpu.single_thread", own(cores::SINGLE)),
        ("net.remote", own(remote::REMOTE)),
        ("net.remote", remote::far()),
        ("net.loss", network::loss()),
        ("net.backlog", network::backlog()),
        ("net.rtt", own(network::RTT)),
        ("load.client", own(load::CLIENT)),
        ("cpu.softirq", cores::softirq()),
        ("cpu.kernel", cores::kernel()),
        ("load.shares_cpu", own(saturated::SATURATED)),
        ("load.rate", own(load::RATE)),
        ("load.late", clients::late()),
        ("load.concurrency", own(clients::CONCURRENCY)),
        ("healthy", own(healthy::HEALTHY)),
        ("undetermined", locks::tie()),
    ];
    all.extend(of_events());
    all.extend(of_pools_and_code());
    all
}

fn of_events() -> [(&'static str, String); 8] {
    [
        ("event.exec", events::exec()),
        ("event.connections", events::connections()),
        (
            "event.checkpoint",
            events::logged("log:_checkpoint_starting:_time"),
        ),
        (
            "event.vacuum",
            events::logged("log:_automatic_vacuum_of_table_<*>"),
        ),
        (
            "event.ddl",
            events::logged("log:_statement:_grant_select_on_<*>"),
        ),
        ("event.gc", events::logged("gc(<*>)_pause_full_<*>")),
        ("event.application", events::application()),
        ("event.unknown", events::unknown()),
    ]
}

fn of_pools_and_code() -> [(&'static str, String); 7] {
    [
        ("limit.pool", pools::POOL.to_owned()),
        ("limit.pool", connection_pools::of_connections()),
        ("limit.pool", connection_pools::behind_connections()),
        ("limit.pool", pools::of_loops()),
        ("limit.pool", pools::POOLER.to_owned()),
        ("lock.spin", code::spinning()),
        ("cpu.hot_code", code::hot()),
    ]
}

#[test]
fn every_cause_is_present_in_its_drawing() {
    let mut present = BTreeSet::new();
    for (cause, text) in drawings() {
        let report = drawn(&text).answer();
        let judged = report.verdict.judged.iter();
        let found: Vec<&str> = judged
            .filter(|judged| judged.answer == Answer::Present)
            .map(|judged| judged.cause.as_str())
            .collect();
        assert!(found.contains(&cause), "{cause}: {found:?}");
        present.extend(found.into_iter().map(str::to_owned));
    }
    let all = analysis::causes().iter().map(|cause| cause.name.to_owned());
    assert_eq!(present, all.collect());
}

/// Columns of numbers that are no function of columns over the window: the page names the source.
const SOURCES: [&str; 10] = [
    // By the functions of each row's stack.
    "cpu_sample.spins",
    "cpu_sample.stack",
    "wait_sample.stack",
    // The first third of the window against the last.
    "disk.read_bytes",
    // The spread between seconds.
    "disk.reads + writes",
    // Counted by who named whom, look by look.
    "mysql_session.blocked_by",
    "session.blocked_by",
    // Interval by interval, against those around it.
    "requests.timed_ns",
    // What the workload said, without times.
    "workload.outcome.complaints",
    // Over the waits that one thread ended, pool by pool.
    "wakeup.wait_ns",
];

#[test]
fn every_number_has_its_formula() {
    for (cause, text) in drawings() {
        let report = drawn(&text).answer();
        let all = report.verdict.findings.iter().flat_map(|it| &it.evidence);
        for number in all.filter(|it| it.formula.is_none()) {
            let column = number.column.as_str();
            assert!(
                SOURCES.contains(&column),
                "{cause}: {} ({column})",
                number.what
            );
        }
    }
}
