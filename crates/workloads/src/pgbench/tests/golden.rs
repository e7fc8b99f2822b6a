//! Golden replays of runs that went to their end, and of the layouts of older versions.

use expect_test::expect;

use super::*;

#[test]
fn select_only_c10_t20_p1() {
    check(
        "select-only-c10-T20-P1",
        expect![[r#"
        1.219 1.0 s: 7813300 milli/s 1114000 ns 1449000 stddev 0 failed
        2.217 1.0 s: 8907300 milli/s 1053000 ns 1568000 stddev 0 failed
        3.217 1.0 s: 7127800 milli/s 1312000 ns 1583000 stddev 0 failed
        4.217 1.0 s: 7779000 milli/s 1176000 ns 1354000 stddev 0 failed
        5.217 1.0 s: 8484100 milli/s 1085000 ns 1567000 stddev 0 failed
        6.217 1.0 s: 8326000 milli/s 1118000 ns 1383000 stddev 0 failed
        7.217 1.0 s: 8288900 milli/s 1122000 ns 1891000 stddev 0 failed
        8.217 1.0 s: 8586400 milli/s 1101000 ns 1707000 stddev 0 failed
        9.217 1.0 s: 8308100 milli/s 1119000 ns 1434000 stddev 0 failed
        10.217 1.0 s: 7641200 milli/s 1226000 ns 1592000 stddev 0 failed
        11.217 1.0 s: 9253500 milli/s 1000000 ns 1286000 stddev 0 failed
        12.216 1.0 s: 8584200 milli/s 1087000 ns 1495000 stddev 0 failed
        13.216 1.0 s: 11287700 milli/s 799000 ns 1074000 stddev 0 failed
        14.216 1.0 s: 9192500 milli/s 1015000 ns 1505000 stddev 0 failed
        15.216 1.0 s: 8692900 milli/s 1058000 ns 1901000 stddev 0 failed
        16.216 1.0 s: 8403000 milli/s 1105000 ns 1447000 stddev 0 failed
        17.216 1.0 s: 9005900 milli/s 1058000 ns 1507000 stddev 0 failed
        18.216 1.0 s: 7219800 milli/s 1322000 ns 1825000 stddev 0 failed
        19.216 1.0 s: 6946600 milli/s 1394000 ns 2112000 stddev 0 failed
        20.216 1.0 s: 7657000 milli/s 1251000 ns 1797000 stddev 0 failed
        clients: 10
        complete: true
        completed: 167520
        connect_ns: 84947000
        duration_s: 20.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 1113000
        latency_stddev_ns: 1584000
        threads: 1
        throughput: 8402.007996
        transaction_type: "<builtin: select only>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn rate_latency_limit() {
    check(
        "rate-latency-limit",
        expect![[r#"
        1.188 1.0 s: 2422700 milli/s 3352000 ns 2945000 stddev 1453000 lag 0 failed 132 skipped
        2.188 1.0 s: 2901300 milli/s 2778000 ns 2669000 stddev 1191000 lag 0 failed 76 skipped
        3.188 1.0 s: 2855000 milli/s 2412000 ns 2619000 stddev 1141000 lag 0 failed 65 skipped
        4.188 1.0 s: 2918900 milli/s 2455000 ns 2588000 stddev 1153000 lag 0 failed 52 skipped
        5.188 1.0 s: 2935100 milli/s 2372000 ns 2978000 stddev 1200000 lag 0 failed 163 skipped
        6.188 1.0 s: 2989000 milli/s 2462000 ns 2722000 stddev 1114000 lag 0 failed 61 skipped
        7.188 1.0 s: 2945400 milli/s 2747000 ns 2998000 stddev 1371000 lag 0 failed 106 skipped
        8.188 1.0 s: 2598500 milli/s 3560000 ns 6016000 stddev 1585000 lag 0 failed 405 skipped
        9.188 1.0 s: 2829300 milli/s 2751000 ns 3172000 stddev 1305000 lag 0 failed 120 skipped
        10.188 1.0 s: 2837300 milli/s 2351000 ns 2423000 stddev 1066000 lag 0 failed 42 skipped
        11.188 1.0 s: 2914900 milli/s 2335000 ns 2348000 stddev 1038000 lag 0 failed 24 skipped
        12.188 1.0 s: 2910300 milli/s 1935000 ns 2634000 stddev 926000 lag 0 failed 99 skipped
        clients: 10
        complete: true
        completed: 34063
        connect_ns: 162528000
        duration_s: 12.0
        failed: 0
        lag_max_ns: 41229000
        lag_mean_ns: 1205000
        late: 5357
        latency_derived: false
        latency_mean_ns: 2609000
        latency_stddev_ns: 3149000
        skipped: 1345
        threads: 1
        throughput: 2873.857055
        transaction_type: "<builtin: select only>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
        remark: 3.8 % of the transactions were skipped (1,345 of 35,408): they were later than the latency limit of 5 ms before they could start.
    "#]],
    );
}

#[test]
fn progress_timestamp() {
    check(
        "progress-timestamp",
        expect![[r#"
        1.222 1.0 s: 4442200 milli/s 851000 ns 1248000 stddev 0 failed
        2.222 1.0 s: 4446800 milli/s 886000 ns 1451000 stddev 0 failed
        3.221 1.0 s: 4179500 milli/s 944000 ns 1874000 stddev 0 failed
        4.221 1.0 s: 3931300 milli/s 1002000 ns 1709000 stddev 0 failed
        5.225 1.0 s: 4465400 milli/s 883000 ns 1518000 stddev 0 failed
        6.221 1.0 s: 4061100 milli/s 960000 ns 1789000 stddev 0 failed
        7.221 1.0 s: 3884900 milli/s 1011000 ns 1874000 stddev 0 failed
        8.226 1.0 s: 3996300 milli/s 988000 ns 1715000 stddev 0 failed
        9.222 1.0 s: 3945600 milli/s 997000 ns 1814000 stddev 0 failed
        10.222 1.0 s: 4225900 milli/s 932000 ns 1751000 stddev 0 failed
        clients: 4
        complete: true
        completed: 41586
        connect_ns: 38194000
        duration_s: 10.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 943000
        latency_stddev_ns: 1679000
        threads: 1
        throughput: 4172.825161
        transaction_type: "<builtin: select only>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn tpcb_vacuum_t10_p5() {
    check(
        "tpcb-vacuum-T10-P5",
        expect![[r#"
        5.153 5.0 s: 351800 milli/s 11230000 ns 9422000 stddev 0 failed
        10.153 5.0 s: 431100 milli/s 9268000 ns 7769000 stddev 0 failed
        clients: 4
        complete: true
        completed: 3917
        connect_ns: 50765000
        duration_s: 10.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 10159000
        latency_stddev_ns: 8624000
        threads: 1
        throughput: 392.591575
        transaction_type: "<builtin: TPC-B (sort of)>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn stalled_server() {
    check(
        "stalled-server",
        expect![[r#"
        1.191 1.0 s: 5609400 milli/s 658000 ns 1031000 stddev 0 failed
        2.191 1.0 s: 5342600 milli/s 732000 ns 1170000 stddev 0 failed
        3.191 1.0 s: 5524500 milli/s 711000 ns 1228000 stddev 0 failed
        4.191 1.0 s: 6172700 milli/s 636000 ns 989000 stddev 0 failed
        5.191 1.0 s: 6214400 milli/s 630000 ns 932000 stddev 0 failed
        6.191 1.0 s: 1457200 milli/s 736000 ns 1028000 stddev 0 failed
        7.191 1.0 s: 0 milli/s 0 failed
        8.191 1.0 s: 0 milli/s 0 failed
        9.191 1.0 s: 0 milli/s 0 failed
        10.191 1.0 s: 3914400 milli/s 4922000 ns 124330000 stddev 0 failed
        11.191 1.0 s: 4408600 milli/s 887000 ns 1799000 stddev 0 failed
        12.191 1.0 s: 4534800 milli/s 867000 ns 1706000 stddev 0 failed
        13.191 1.0 s: 3575200 milli/s 1101000 ns 2115000 stddev 0 failed
        14.191 1.0 s: 3736300 milli/s 1061000 ns 4382000 stddev 0 failed
        clients: 4
        complete: true
        completed: 50411
        connect_ns: 61812000
        duration_s: 14.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 1092000
        latency_stddev_ns: 34336000
        threads: 1
        throughput: 3616.532873
        transaction_type: "<builtin: select only>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn prepared_connect() {
    check(
        "prepared-connect",
        expect![[r#"
        1.280 1.0 s: 44300 milli/s 42744000 ns 20275000 stddev 0 failed
        2.280 1.0 s: 48500 milli/s 44822000 ns 23820000 stddev 0 failed
        3.275 1.0 s: 49600 milli/s 44605000 ns 22215000 stddev 0 failed
        4.275 1.0 s: 50200 milli/s 45043000 ns 28623000 stddev 0 failed
        5.275 1.0 s: 48600 milli/s 42813000 ns 20415000 stddev 0 failed
        6.262 1.0 s: 45700 milli/s 48712000 ns 20606000 stddev 0 failed
        7.321 1.1 s: 45400 milli/s 47258000 ns 27970000 stddev 0 failed
        8.221 0.9 s: 46800 milli/s 47525000 ns 21909000 stddev 0 failed
        clients: 4
        complete: true
        completed: 382
        connect_ns: 15404000
        duration_s: 8.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 45292000
        latency_stddev_ns: 23646000
        threads: 1
        throughput: 47.605778
        transaction_type: "<builtin: select only>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn report_per_command() {
    check(
        "report-per-command",
        expect![[r#"
        2.285 2.0 s: 280500 milli/s 13211000 ns 11147000 stddev 0 failed
        4.284 2.0 s: 340000 milli/s 11817000 ns 10237000 stddev 0 failed
        6.284 2.0 s: 365500 milli/s 10940000 ns 8148000 stddev 0 failed
        8.284 2.0 s: 352300 milli/s 11224000 ns 25718000 stddev 0 failed
        10.284 2.0 s: 276400 milli/s 14542000 ns 16559000 stddev 0 failed
        clients: 4
        complete: true
        completed: 3236
        connect_ns: 129018000
        duration_s: 10.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 12205000
        latency_stddev_ns: 15909000
        threads: 1
        throughput: 326.868984
        transaction_type: "<builtin: TPC-B (sort of)>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn two_scripts_weighted() {
    check(
        "two-scripts-weighted",
        expect![[r#"
        1.335 1.0 s: 1521500 milli/s 2306000 ns 3939000 stddev 0 failed
        2.335 1.0 s: 2559400 milli/s 1553000 ns 2909000 stddev 0 failed
        3.335 1.0 s: 1738100 milli/s 2276000 ns 3886000 stddev 0 failed
        4.335 1.0 s: 1395000 milli/s 2838000 ns 3505000 stddev 0 failed
        5.335 1.0 s: 1484200 milli/s 2670000 ns 3408000 stddev 0 failed
        6.335 1.0 s: 1714300 milli/s 2310000 ns 3509000 stddev 0 failed
        7.335 1.0 s: 1588600 milli/s 2488000 ns 4915000 stddev 0 failed
        8.335 1.0 s: 1784300 milli/s 2226000 ns 2746000 stddev 0 failed
        9.335 1.0 s: 1627700 milli/s 2427000 ns 3084000 stddev 0 failed
        10.335 1.0 s: 1790200 milli/s 2212000 ns 3306000 stddev 0 failed
        clients: 4
        complete: true
        completed: 17209
        connect_ns: 116575000
        duration_s: 10.0
        failed: 0
        latency_derived: false
        latency_mean_ns: 2277000
        latency_stddev_ns: 3546000
        script: {"completed":1725,"failed":0,"latency_mean_ns":7789000,"latency_stddev_ns":6915000,"name":"/srv/bench/scripts/write.sql","throughput":174.204504,"weight":1}
        script: {"completed":15484,"failed":0,"latency_mean_ns":1663000,"latency_stddev_ns":2211000,"name":"/srv/bench/scripts/read.sql","throughput":1563.700023,"weight":9}
        threads: 1
        throughput: 1737.904527
        transaction_type: "multiple scripts"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn transactions_count_t() {
    check(
        "transactions-count-t",
        expect![[r#"
        1.252 1.0 s: 3988800 milli/s 908000 ns 1637000 stddev 0 failed
        2.240 1.0 s: 2621700 milli/s 1034000 ns 2012000 stddev 0 failed
        3.236 1.0 s: 1257100 milli/s 1307000 ns 2335000 stddev 0 failed
        clients: 4
        complete: true
        completed: 8000
        connect_ns: 76048000
        failed: 0
        latency_derived: false
        latency_mean_ns: 1018000
        latency_stddev_ns: 1899000
        threads: 1
        throughput: 2610.902148
        transaction_type: "<builtin: select only>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}

#[test]
fn tx_log_sampled() {
    check(
        "tx-log-sampled",
        expect![[r#"
        clients: 4
        complete: true
        completed: 2743
        connect_ns: 80437000
        duration_s: 10.0
        failed: 0
        latency_derived: true
        latency_mean_ns: 14520000
        threads: 1
        throughput: 275.479742
        transaction_type: "<builtin: TPC-B (sort of)>"
        version: "pgbench (15.18 (Debian 15.18-0+deb12u1))"
    "#]],
    );
}
