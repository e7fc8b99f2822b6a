//! Spikes, and what comes before them.

use expect_test::expect;
use model::Provenance;

use crate::drawing::{drawn, said, told};

/// Seconds in which each spike begins, as irregular as chance.
const ONSETS: [usize; 10] = [13, 31, 62, 80, 97, 133, 150, 171, 188, 214];
const SECONDS: usize = 240;

/// A lane with one cell, and another in the seconds that lie `before` each onset.
fn lane(name: &str, usual: char, other: char, before: usize) -> String {
    let is_one = |second: usize| ONSETS.contains(&(second + before));
    let cell = |second| if is_one(second) { other } else { usual };
    let cells: String = (0..SECONDS).map(cell).collect();
    format!("{name} {cells}\n")
}

/// A server that is fast, but for a second now and then.
fn spikes() -> String {
    [
        "cpus 4  clients 1\n".to_owned(),
        lane("busy", '4', '4', 0),
        lane("run", '8', '8', 0),
        lane("wait", '0', '0', 0),
        lane("gen", '2', '2', 0),
        lane("throttled", '0', '0', 0).replace('\n', "  /server\n"),
        lane("io", '0', '0', 0),
        lane("memory", '0', '0', 0),
        lane("tps", '2', '1', 0),
        lane("ms", '1', '#', 0),
    ]
    .concat()
}

/// A process that works in the second before each.
pub fn exec() -> String {
    spikes() + &lane("rest", '0', '9', 1).replace('\n', "  /batch\n")
}

/// A burst of messages.
pub fn connections() -> String {
    spikes() + &lane("flow.sends calls:7100 *1000", '0', '9', 1)
}

/// A rare count of the database's own.
pub fn application() -> String {
    spikes() + &lane("database.deadlocks server *10", '0', '9', 1)
}

/// A line of a log.
pub fn logged(template: &str) -> String {
    spikes() + &lane(&format!("log_template.lines {template}"), '0', '9', 1)
}

/// Nothing comes before, and requests are as many as before.
pub fn unknown() -> String {
    spikes().replace(&lane("tps", '2', '1', 0), &lane("tps", '2', '2', 0))
}

#[test]
fn spikes_lead_the_verdict_where_nobody_knows_what_starts_them() {
    let report = drawn(&unknown()).answer();
    expect![[r#"
        event.unknown | process server | consistent | 0.273
        Spikes are the bottleneck: 10 of 1.00 s add 27 % of the time of requests; what starts them is not known.
        helps: find what starts them: record with --log, --postgres and the like, or the machines that it calls (run --on): not known (how much of it can be spared is not recorded)
        not: more of what requests wait for between the spikes, more CPUs, faster disk, more memory
        wrong if: record once more: if no spikes come, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["absent: event.unknown was found"].assert_eq(&said(&report, "healthy"));
    let few = drawn(&spikes()).answer();
    expect!["absent: spikes add 16 % to the time of requests"]
        .assert_eq(&said(&few, "event.unknown"));
    let known = drawn(&exec()).answer();
    expect!["absent: other1 comes before the spikes"].assert_eq(&said(&known, "event.unknown"));
}

#[test]
fn what_works_before_spikes_starts_them() {
    let report = drawn(&exec()).answer();
    expect![[r#"
        event.exec | process server | consistent | 0.161
        Spikes are the bottleneck: 10 of 1.00 s add 16 % of the time of requests; other1 begins to work just before 10 of them.
        helps: run it when nobody waits, less often, or in smaller parts: not known (how much of it can be spared is not recorded)
        helps: see what it makes others do (In spikes), and whether it has to: not known (how much of it can be spared is not recorded)
        not: more of what requests wait for between the spikes, more CPUs, faster disk, more memory
        wrong if: keep it from happening for some cycles: if the spikes stay, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["absent: what comes before the spikes first is of another kind"]
        .assert_eq(&said(&report, "event.connections"));
    expect!["absent: event.exec was found"].assert_eq(&said(&report, "healthy"));
    let spikes = report.spikes.expect("there are some");
    expect!["10 times in 240 s other1 begins to work."].assert_eq(&spikes.chain);
}

#[test]
fn a_chore_that_a_log_names_is_a_cause_of_its_own() {
    let report = drawn(&logged("log:_checkpoint_starting:_time")).answer();
    expect![[r#"
        event.checkpoint | process server | consistent | 0.161
        Spikes are the bottleneck: 10 of 1.00 s add 16 % of the time of requests; `log: checkpoint starting: time` is logged just before 9 of them.
        helps: spread each over more time (checkpoint_completion_target near 1): not known (how much of it can be spared is not recorded)
        helps: let them come less often (checkpoint_timeout, max_wal_size), as far as recovery may take longer: not known (how much of it can be spared is not recorded)
        helps: a disk of its own for the write-ahead log, so that commits do not wait behind pages: not known (how much of it can be spared is not recorded)
        not: more of what requests wait for between the spikes, more CPUs, faster disk, more memory
        wrong if: keep it from happening for some cycles: if the spikes stay, this is wrong
    "#]].assert_eq(&told(&report));
    expect!["absent: what comes before the spikes first is of another kind"]
        .assert_eq(&said(&report, "event.application"));
    let other = drawn(&logged("cache_of_<*>_rebuilt")).answer();
    expect![[r#"
        event.application | process server | consistent | 0.161
        Spikes are the bottleneck: 10 of 1.00 s add 16 % of the time of requests; `cache of <*> rebuilt` is logged just before 9 of them.
        helps: spread that work over time, or do it less often: not known (how much of it can be spared is not recorded)
        not: more of what requests wait for between the spikes, more CPUs, faster disk, more memory
        wrong if: keep it from happening for some cycles: if the spikes stay, this is wrong
    "#]].assert_eq(&told(&other));
}

#[test]
fn spikes_that_nothing_comes_before_have_no_cause() {
    let report = drawn(&spikes()).answer();
    expect!["absent: nothing is known to come before the spikes"]
        .assert_eq(&said(&report, "event.exec"));
    let apart = spikes() + &lane("rest", '0', '9', 9).replace('\n', "  /batch\n");
    let report = drawn(&apart).answer();
    expect!["absent: nothing is known to come before the spikes"]
        .assert_eq(&said(&report, "event.exec"));
    let calm = spikes().replace('#', "1");
    expect!["absent: no spikes stand out"].assert_eq(&said(&drawn(&calm).answer(), "event.exec"));
}

/// A server of which nobody reports requests: now and then all of its threads wait for a CPU.
fn unreported() -> String {
    [
        "cpus 4  adapter none\n".to_owned(),
        lane("busy", '4', '4', 0),
        lane("run x8", '1', '1', 0),
        lane("wait", '0', '7', 0),
        lane("memory", '0', '0', 0),
        lane("rest", '0', '9', 1).replace('\n', "  /batch\n"),
    ]
    .concat()
}

#[test]
fn without_requests_the_threads_of_the_target_have_spikes() {
    let report = drawn(&unreported()).answer();
    let spikes = report.spikes.as_ref().expect("there are some");
    assert_eq!(spikes.provenance, Provenance::Account);
    assert_eq!(spikes.spikes.len(), ONSETS.len());
    let peak = spikes.spikes[0].peak_threads.expect("threads are known");
    let usual = spikes.usual_threads.expect("they are");
    assert!((0.7..0.9).contains(&usual), "{usual}");
    assert!((5.0..6.6).contains(&peak), "{peak}");
    assert_eq!(spikes.added, None, "they lead no verdict");
    expect!["10 times in 240 s other1 begins to work."].assert_eq(&spikes.chain);
    assert_eq!(spikes.interval_ns, 100_000_000);
    let rarely = unreported() + &lane("recorder.period_ns *1e9", '5', '5', 0);
    let rarely = drawn(&rarely)
        .answer()
        .spikes
        .expect("they are there still");
    assert_eq!(
        rarely.interval_ns, 500_000_000,
        "the step is that of readings"
    );
    assert_eq!(rarely.spikes.len(), ONSETS.len());
    let even = unreported().replace('7', "0");
    assert_eq!(drawn(&even).answer().spikes, None);
}
