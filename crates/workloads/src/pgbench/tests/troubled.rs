//! Golden replays of runs in which something went wrong.

use expect_test::expect;

use super::*;

#[test]
fn serialization_failures_plain() {
    check(
        "serialization-failures-plain",
        expect![[r#"
        1.114 1.0 s: 777900 milli/s 6905000 ns 5091000 stddev 329 failed
        2.109 1.0 s: 876100 milli/s 6810000 ns 4080000 stddev 313 failed
        3.109 1.0 s: 926500 milli/s 6298000 ns 5384000 stddev 331 failed
        4.109 1.0 s: 50800 milli/s 8245000 ns 5035000 stddev 15 failed
        5.109 1.0 s: 65700 milli/s 21937000 ns 122451000 stddev 32 failed
        6.109 1.0 s: 756000 milli/s 9261000 ns 52950000 stddev 304 failed
        7.109 1.0 s: 1030900 milli/s 5674000 ns 4582000 stddev 354 failed
        8.109 1.0 s: 701400 milli/s 8180000 ns 5653000 stddev 259 failed
        9.109 1.0 s: 850000 milli/s 6556000 ns 5377000 stddev 317 failed
        10.109 1.0 s: 654500 milli/s 9176000 ns 7557000 stddev 217 failed
        clients: 8
        complete: true
        completed: 6691
        connect_ns: 65158000
        duration_s: 10.0
        failed: 2471
        latency_derived: false
        latency_mean_ns: 7362000
        latency_stddev_ns: 22164000
        threads: 2
        throughput: 670.435104
        transaction_type: "/srv/bench/scripts/conflict.sql"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
        remark: 27.0 % of the transactions failed (2,471 of 9,162).
    "#]],
    );
}

#[test]
fn server_killed_mid_run() {
    check(
        "server-killed-mid-run",
        expect![[r#"
            1.119 1.0 s: 7483200 milli/s 1094000 ns 1414000 stddev 0 failed
            2.119 1.0 s: 9177700 milli/s 1005000 ns 1256000 stddev 0 failed
            3.119 1.0 s: 9152100 milli/s 993000 ns 1400000 stddev 0 failed
            4.119 1.0 s: 8488600 milli/s 1079000 ns 1317000 stddev 0 failed
            5.119 1.0 s: 9505400 milli/s 989000 ns 1246000 stddev 0 failed
            6.119 1.0 s: 9010500 milli/s 997000 ns 1148000 stddev 0 failed
            clients: 10
            complete: false
            completed: 53000
            connect_ns: 95434000
            duration_s: 20.0
            failed: 0
            latency_derived: false
            latency_mean_ns: 1023000
            latency_stddev_ns: 1296000
            threads: 1
            throughput: 8882.094552
            transaction_type: "<builtin: select only>"
            version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
            remark: pgbench aborted 10 of 10 clients; its results are incomplete. It said: `pgbench: error: client 0 aborted in command 1 (SQL) of script 0; perhaps the backend died while processing`.
            complaint: "server_gone" 10: WARNING:  terminating connection due to immediate shutdown command
        "#]],
    );
}

#[test]
fn sigterm_mid_run() {
    check(
        "sigterm-mid-run",
        expect![[r#"
        1.227 1.0 s: 7389400 milli/s 508000 ns 964000 stddev 0 failed
        2.226 1.0 s: 7884000 milli/s 496000 ns 984000 stddev 0 failed
        3.222 1.0 s: 8037200 milli/s 487000 ns 937000 stddev 0 failed
        remark: pgbench was killed by signal 15 (SIGTERM) before the end of its 20 s and printed no summary.
    "#]],
    );
}

#[test]
fn sql_error_client_aborts() {
    check(
        "sql-error-client-aborts",
        expect![[r#"
        clients: 4
        complete: false
        completed: 16
        connect_ns: 42045000
        duration_s: 10.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 4022000
        latency_stddev_ns: 5436000
        threads: 1
        throughput: 558.074642
        transaction_type: "/srv/bench/scripts/div.sql"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
        remark: pgbench aborted 4 of 4 clients; its results are incomplete. It said: `pgbench: error: client 2 script 0 aborted in command 0 query 0: ERROR:  division by zero`.
    "#]],
    );
}

#[test]
fn too_many_clients() {
    check(
        "too-many-clients",
        expect![[r#"
            remark: pgbench did not start its run (exit code 1). It said: `pgbench: error: connection to server at "127.0.0.1", port 55432 failed: FATAL:  sorry, too many clients already`.
            complaint: "too_many_connections" 1: pgbench: error: connection to server at "127.0.0.1", port 55432 failed: FATAL:  sorry, too many clients already
        "#]],
    );
}

#[test]
fn connection_refused() {
    check(
        "connection-refused",
        expect![[r#"
            remark: pgbench did not start its run (exit code 1). It said: `pgbench: error: connection to server at "127.0.0.1", port 55499 failed: Connection refused`.
            complaint: "connection_refused" 1: pgbench: error: connection to server at "127.0.0.1", port 55499 failed: Connection refused
        "#]],
    );
}

#[test]
fn missing_tables() {
    check(
        "missing-tables",
        expect![[r#"
        remark: pgbench did not start its run (exit code 1). It said: `pgbench: error: could not count number of branches: ERROR:  relation "pgbench_branches" does not exist`. Its hint: `Perhaps you need to do initialization ("pgbench -i") in database "postgres".`.
    "#]],
    );
}

#[test]
fn verbose_errors_with_retries() {
    let case = Case::text(
        "pgbench -c 8 -T 2 -P 1 --max-tries=2 --verbose-errors",
        fixture("verbose-errors", "stderr"),
        fixture("verbose-errors", "stdout"),
    );
    expect![[r#"
        10.000 1.0 s: 567000 milli/s 10147000 ns 7415000 stddev 49 failed 161 retried 161 retries
        10.000 1.0 s: 609900 milli/s 11534000 ns 8370000 stddev 46 failed 191 retried 191 retries
        clients: 8
        complete: true
        completed: 1183
        connect_ns: 153059000
        duration_s: 2.0
        failed: 95
        latency_derived: false
        latency_mean_ns: 10886000
        latency_stddev_ns: 7954000
        retried: 353
        retries: 353
        threads: 1
        throughput: 632.3089
        transaction_type: "/srv/bench/scripts/conflict.sql"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
        remark: 7.4 % of the transactions failed (95 of 1,278).
    "#]]
    .assert_eq(&case.heard().drawn());
}
