//! Versions that were not seen run, from their manuals, sources and published reports; and
//! ysql_bench, by its own name.

use expect_test::expect;
use model::Sentence;

use super::*;

#[test]
fn layout_of_version_14() {
    let case = Case::text(
        "pgbench -c 10 -t 1000",
        String::new(),
        fixture("from-manual-v14", "stdout"),
    );
    expect![[r#"
        clients: 10
        complete: true
        completed: 10000
        connect_ns: 45758000
        latency_derived: false
        latency_mean_ns: 11013000
        latency_stddev_ns: 7351000
        threads: 1
        throughput: 896.967014
        transaction_type: "<builtin: TPC-B (sort of)>"
        version: "pgbench (14.9)"
    "#]]
    .assert_eq(&case.heard().drawn());
}

#[test]
fn layout_of_versions_9_6_to_13() {
    let [stderr, stdout] = ["stderr", "stdout"].map(|file| fixture("from-manual-v9.6-v13", file));
    let case = Case::text("pgbench -c 10 -t 1000 -P 5", stderr, stdout);
    expect![[r#"
        10.000 5.0 s: 85000 milli/s 117100000 ns 60001000 stddev
        10.000 5.0 s: 85400 milli/s 117000000 ns 60210000 stddev
        clients: 10
        complete: true
        completed: 10000
        latency_derived: false
        latency_mean_ns: 117384000
        latency_stddev_ns: 60105000
        threads: 1
        throughput: 85.296346
        transaction_type: "<builtin: TPC-B (sort of)>"
    "#]]
    .assert_eq(&case.heard().drawn());
}

/// The layouts of the sources: REL9_6 prints `latency average: ` where it timed nothing, and a space
/// before the per cent sign.
#[test]
fn a_closing_report_of_9_6_without_times() {
    let stdout = "transaction type: <builtin: select only>\nscaling factor: 1\nquery mode: simple\n\
        number of clients: 4\nnumber of threads: 2\nduration: 10 s\n\
        number of transactions actually processed: 40000\nlatency average: 1.000 ms\n\
        tps = 3999.000000 (including connections establishing)\n\
        tps = 4000.500000 (excluding connections establishing)\n";
    let case = Case::text("pgbench -c 4 -T 10 -P 1", String::new(), stdout.to_owned());
    expect![[r#"
        clients: 4
        complete: true
        completed: 40000
        duration_s: 10.0
        latency_derived: true
        latency_mean_ns: 1000000
        threads: 2
        throughput: 4000.5
        transaction_type: "<builtin: select only>"
    "#]]
    .assert_eq(&case.heard().drawn());
}

/// pgbench takes what stands before the first letter for the number; the rest was said as it was typed.
#[test]
fn a_limit_that_commands_a_terminal_is_said_without_it() {
    let stdout = "number of transactions actually processed: 900\n\
        number of transactions skipped: 100 (10.000 %)\n\
        latency average = 4.000 ms\ntps = 90.000000 (without initial connection time)\n";
    let command = "pgbench -T 10 -P 1 -R 100 -L 5\u{1b}[2J";
    let heard = Case::text(command, String::new(), stdout.to_owned()).heard();
    let remarks = Sentence::join(&heard.ending.remarks, "");
    assert!(remarks.contains("limit of 5 [2J ms"), "{remarks}");
}

#[test]
fn a_closing_report_of_9_6_with_a_rate_and_scripts() {
    let stderr = "progress: 1482000000.123 s, 99.0 tps, lat 4.000 ms stddev 2.000, lag 1.500 ms, 7 skipped\n\
        progress: 1482000001.123 s, 0.0 tps, lat -nan ms stddev -nan, lag -nan ms, 0 skipped\n";
    let stdout = "transaction type: multiple scripts\nscaling factor: 1\nquery mode: simple\n\
        number of clients: 4\nnumber of threads: 2\nduration: 10 s\n\
        number of transactions actually processed: 900\nnumber of transactions skipped: 100 (10.000 %)\n\
        number of transactions above the 5.0 ms latency limit: 45 (4.500 %)\n\
        latency average = 4.000 ms\nlatency stddev = 2.000 ms\n\
        rate limit schedule lag: avg 1.500 (max 20.250) ms\n\
        tps = 89.000000 (including connections establishing)\n\
        tps = 90.000000 (excluding connections establishing)\n\
        SQL script 1: <builtin: select only>\n - 450 transactions (50.0% of total, tps = 45.000000)\n\
        \x20- number of transactions skipped: 50 (10.000%)\n - latency average = 3.000 ms\n - latency stddev = 1.000 ms\n";
    let command = "pgbench -c 4 -T 10 -P 1 --progress-timestamp -R 100 -L 5";
    let case = Case::text(command, stderr.to_owned(), stdout.to_owned());
    expect![[r#"
        10.000 1.0 s: 99000 milli/s 4000000 ns 2000000 stddev 1500000 lag 7 skipped
        10.000 1.0 s: 0 milli/s 0 skipped
        clients: 4
        complete: true
        completed: 900
        duration_s: 10.0
        lag_max_ns: 20250000
        lag_mean_ns: 1500000
        late: 45
        latency_derived: false
        latency_mean_ns: 4000000
        latency_stddev_ns: 2000000
        script: {"completed":450,"failed":null,"latency_mean_ns":3000000,"latency_stddev_ns":1000000,"name":"<builtin: select only>","throughput":45.0,"weight":null}
        skipped: 100
        threads: 2
        throughput: 90.0
        transaction_type: "multiple scripts"
        remark: 10.0 % of the transactions were skipped (100 of 1,000): they were later than the latency limit of 5 ms before they could start.
    "#]].assert_eq(&case.heard().drawn());
}

/// Since 15: what a connection per transaction prints, and how retries are counted.
#[test]
fn a_closing_report_of_17_with_reconnections_and_retries() {
    let stdout = "pgbench (17.2)\ntransaction type: conflict.sql\nscaling factor: 1\nquery mode: simple\n\
        number of clients: 8\nnumber of threads: 1\nmaximum number of tries: 3\nduration: 2 s\n\
        number of transactions actually processed: 1183\nnumber of failed transactions: 95 (7.433%)\n\
        number of serialization failures: 90 (7.042%)\nnumber of deadlock failures: 5 (0.391%)\n\
        number of transactions retried: 353 (27.621%)\ntotal number of retries: 400\n\
        latency average = 12.000 ms\nlatency stddev = 9.000 ms\naverage connection time = 1.500 ms\n\
        tps = 590.000000 (including reconnection times)\n";
    let case = Case::text(
        "pgbench -C -c 8 -T 2 --max-tries=3 --failures-detailed",
        String::new(),
        stdout.to_owned(),
    );
    expect![[r#"
        clients: 8
        complete: true
        completed: 1183
        connect_ns: 1500000
        duration_s: 2.0
        failed: 95
        latency_derived: false
        latency_mean_ns: 12000000
        latency_stddev_ns: 9000000
        retried: 353
        retries: 400
        threads: 1
        throughput: 590.0
        transaction_type: "conflict.sql"
        version: "pgbench (17.2)"
        remark: 7.4 % of the transactions failed (95 of 1,278).
    "#]]
    .assert_eq(&case.heard().drawn());
}

#[test]
fn ysql_bench_as_it_was_published() {
    for (name, expected) in [
        (
            "S-6x4vcpu",
            expect![[r#"
            clients: 10
            complete: true
            completed: 46462327
            duration_s: 3600.0
            latency_derived: true
            latency_mean_ns: 775000
            threads: 1
            throughput: 12906.264876
            transaction_type: "<builtin: select only>"
        "#]],
        ),
        // The line with the transaction type was cut, and with it what began the report.
        (
            "S-3x2vcpu",
            expect![[r#"
            clients: 10
            complete: true
            completed: 1098436
            duration_s: 300.0
            latency_derived: true
            latency_mean_ns: 2731000
            threads: 1
            throughput: 3661.579417
        "#]],
        ),
    ] {
        let stdout = fixture(&format!("ysql_bench/{name}"), "stdout");
        let case = Case::text("ysql_bench -c 10 -n -S -T 3600", String::new(), stdout);
        expected.assert_eq(&case.heard().drawn());
    }
}

#[test]
fn ysql_bench_is_prepared_under_its_own_name() {
    let words = "/home/yugabyte/postgres/bin/ysql_bench --batch-size 100 --max-tries=10 -c 10 -S";
    let prepared = crate::prepare(&argv(words), Adjust::Allowed).unwrap();
    assert_eq!(prepared.adapter, "ysql_bench");
    assert_eq!(
        prepared.notices,
        ["ysql_bench: added -P 1 (--no-adjust leaves it alone)"]
    );
    assert_eq!(
        (&prepared.argv[1], &prepared.argv[2]),
        (&"-P".into(), &"1".into())
    );
    assert_eq!(prepared.load.clients, Some(10));
    let filled = crate::prepare(&argv("ysql_bench -i -s 2000"), Adjust::Allowed);
    assert_eq!(filled.map(|it| it.adapter), Some("ysql_bench -i"));
}

/// Of the patch that it has from 11 on; no run of it was seen.
#[test]
fn ysql_bench_with_retries_and_an_early_end() {
    let stderr = "progress: 1.0 s, 43.1 tps, lat 228.500 ms stddev 90.000, 5 failed, 4 retried, 9 retries\n\
        ysql_bench: error: client 3 script 0 aborted in command 4 query 0: ERROR:  Restart read required\n\
        ysql_bench: error: Run was aborted; the above results are incomplete.\n";
    let stdout = "ysql_bench (15.2-YB-2.25.0.0-b0)\ntransaction type: <builtin: simple update>\n\
        number of clients: 10\nnumber of transactions actually processed: 260\nnumber of errors: 1 (0.383 %)\n\
        number of retried: 126 (48.276 %)\nnumber of retries: 1206\nlatency average = 1151.400 ms\n\
        latency stddev = 10.000 ms\ntps = 8.600000 (excluding connections establishing)\n";
    let case = Case::text(
        "ysql_bench -c 10 -T 30 --max-tries 10",
        stderr.to_owned(),
        stdout.to_owned(),
    );
    expect![[r#"
        10.000 1.0 s: 43100 milli/s 228500000 ns 90000000 stddev 5 failed 4 retried 9 retries
        clients: 10
        complete: false
        completed: 260
        failed: 1
        latency_derived: false
        latency_mean_ns: 1151400000
        latency_stddev_ns: 10000000
        retried: 126
        retries: 1206
        throughput: 8.6
        transaction_type: "<builtin: simple update>"
        version: "ysql_bench (15.2-YB-2.25.0.0-b0)"
        remark: ysql_bench aborted 1 of 10 clients; its results are incomplete. It said: `ysql_bench: error: client 3 script 0 aborted in command 4 query 0: ERROR:  Restart read required`.
        remark: 0.4 % of the transactions failed (1 of 261).
    "#]].assert_eq(&case.heard().drawn());
}
