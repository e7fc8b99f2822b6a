//! Real runs of tools that report in lines, read as they came, cut off anywhere, and between other lines. The numbers
//! expected were read from the captures by hand.

mod captured;
mod live;

use model::{ExitKind, Summary};
use proptest::prelude::*;

use super::*;
use crate::{prepare, prepare_as};
use captured::{Case, numbers, words};

/// A capture with a report: throughput, completed, failed, mean latency in ns, and length in s.
type Numbers = (
    Option<f64>,
    Option<u64>,
    Option<u64>,
    Option<i64>,
    Option<f64>,
);

#[rustfmt::skip]
const REPORTS: [(&str, Numbers); 49] = [
    ("wrk/basic", (Some(247.99), Some(2485), Some(0), Some(64_630_000), Some(10.02))),
    ("wrk/non2xx", (Some(346.48), Some(2665), Some(134), Some(45_950_000), Some(8.08))),
    ("hey/basic", (Some(119.6844), Some(1206), Some(0), Some(66_500_000), Some(10.077))),
    ("hey/rate-limited-errors", (Some(86.6950), Some(662), Some(35), Some(45_800_000), Some(8.04))),
    ("ab/basic", (Some(247.02), Some(3000), Some(0), Some(32_000_000), Some(12.145))),
    ("ab/gnuplot-csv", (Some(372.54), Some(1433), Some(67), Some(21_000_000), Some(4.026))),
    ("oha/text", (Some(49531.5994), Some(198_398), Some(0), Some(78_800), Some(4.006))),
    ("oha/json", (Some(7016.3595), Some(2000), Some(0), Some(559_686), Some(0.285))),
    ("oha/errors", (Some(150.3354), Some(0), Some(300), Some(220_100), Some(1.996))),
    ("oha/refused", (Some(39079.2003), Some(0), Some(50), None, Some(0.001))),
    ("oha/refused-json", (Some(27751.2291), Some(0), Some(50), None, Some(0.002))),
    ("oha/breakdown", (Some(100.4474), Some(200), Some(0), Some(314_000), Some(2.001))),
    ("oha/interrupted", (Some(100.1567), Some(200), Some(0), Some(337_500), Some(1.997))),
    ("redis-benchmark/drawn", (None, None, None, None, None)),
    ("redis-benchmark/drawn-long", (Some(86206.9), Some(150_000), None, Some(150_000), Some(1.74))),
    ("vegeta/text", (Some(200.16), Some(1000), Some(0), Some(237_500), Some(4.996))),
    ("vegeta/json", (Some(100.3114), Some(300), Some(0), Some(769_638), Some(2.991))),
    ("vegeta/errors", (Some(33.44), Some(100), Some(200), Some(26_607_000), Some(2.991))),
    ("vegeta/refused", (Some(0.0), Some(0), Some(100), Some(261_653), Some(1.981))),
    ("vegeta/refused-json", (Some(0.0), Some(0), Some(100), Some(260_880), Some(1.98))),
    ("vegeta/every", (Some(100.24), Some(400), Some(0), Some(303_805), Some(3.991))),
    ("vegeta/interrupted", (Some(100.46), Some(195), Some(0), Some(1_125_000), Some(1.941))),
    ("locust/headless", (Some(415.02), Some(2762), Some(722), Some(6_000_000), None)),
    ("locust/refused", (Some(290.23), Some(0), Some(1297), Some(2_000_000), None)),
    ("locust/sigterm", (Some(181.83), Some(590), Some(0), Some(8_000_000), None)),
    ("locust/only-summary", (Some(343.6), Some(1527), Some(0), Some(3_000_000), None)),
    ("jmeter/http-csv", (Some(94.7), Some(2823), Some(86), Some(43_000_000), Some(30.718))),
    ("jmeter/http-refused", (Some(71.7), Some(0), Some(533), Some(14_000_000), Some(7.434))),
    ("k6/text-summary", (Some(104.7624), Some(1036), Some(22), Some(56_760_000), Some(10.1))),
    ("k6/refused", (Some(1274.4849), Some(0), Some(3827), None, Some(3.0))),
    ("k6/json-csv-export", (Some(102.3794), Some(610), Some(14), Some(57_780_000), None)),
    ("sysbench/cpu", (Some(1495.28), Some(14_974), None, Some(2_660_000), Some(10.014))),
    ("sysbench/fileio-rndrw", (Some(6402.02), Some(64_167), None, Some(160_000), Some(10.023))),
    ("sysbench/memory", (Some(2_150_976.63), Some(10_773_692), None, None, Some(5.008))),
    ("sysbench/oltp-rw-histogram-p99", (Some(287.0), Some(2303), Some(1), Some(13_910_000), Some(8.024))),
    ("sysbench/oltp-rw-interval1", (Some(321.35), Some(4824), Some(5), Some(12_430_000), Some(15.011))),
    // Two tests of which neither count nor time is said, and two with both.
    ("redis-benchmark/csv", (None, None, None, None, None)),
    ("redis-benchmark/default-text", (Some(11080.3324), Some(120_000), None, Some(1_451_500), Some(10.83))),
    ("siege/basic", (Some(320.08), Some(3028), Some(0), None, Some(9.46))),
    // Two numbers of clients.
    ("mysqlslap/basic", (None, None, None, None, None)),
    ("ycsb/status-summary", (Some(2165.6076), Some(21_812), Some(0), Some(1_770_455), Some(10.072))),
    ("ycsb/load", (Some(756.4297), Some(2000), Some(0), Some(2_301_670), Some(2.644))),
    ("fio/normal-logs", (Some(7843.0), Some(78_441), Some(0), Some(238_338), Some(10.001))),
    ("fio/json-duplicate-keys", (Some(8936.8589), Some(89_400), Some(0), Some(208_584), Some(10.004))),
    ("fio/error-enospc", (None, Some(1), Some(1), None, None)),
    ("pgbench/init-scale10", (Some(213219.6162), Some(1_000_000), None, None, Some(8.04))),
    ("pgbench/init-quiet-scale40", (Some(239952.0096), Some(4_000_000), None, None, Some(25.46))),
    ("pgbench/init-server-side", (None, None, None, None, Some(11.09))),
    ("ysql_bench/init-s2000", (Some(30396.5226), Some(200_000_000), None, None, Some(6579.7))),
];

#[test]
fn captures_have_the_numbers_that_they_show() {
    for (name, expected) in REPORTS {
        let case = Case::read(name);
        let ending = case.heard().ending;
        let summary = ending.summary.expect("there is a report");
        assert_eq!(numbers(&summary), expected, "{name}");
        assert!(summary.complete, "{name}");
        let failed = expected.2.filter(|it| *it > 0);
        let told = failed.map(|it| {
            let (tool, exit) = (case.tool(), case.exit);
            format!(
                "{tool} counts {it} failed operations ({})",
                super::ended(exit)
            )
        });
        let remarks: Vec<_> = ending.remarks.iter().map(ToString::to_string).collect();
        assert_eq!(remarks, Vec::from_iter(told), "{name}");
    }
}

/// Name, throughput, completed, and mean latency in ns.
type Kind = (&'static str, Option<f64>, Option<u64>, Option<i64>);

#[test]
#[rustfmt::skip]
fn kinds_of_operations_are_told_apart() {
    let expected: [(&str, &[Kind]); 5] = [
        ("redis-benchmark/csv", &[("SET", Some(46_838.41), None, Some(1_370_000)), ("GET", Some(41_350.79), None, Some(1_627_000))]),
        ("redis-benchmark/quiet", &[("SET", Some(13_077.59), None, None), ("GET", Some(12_502.61), None, None), ("INCR", Some(16_085.79), None, None)]),
        ("redis-benchmark/default-text", &[("SET", Some(10_853.83), Some(60_000), Some(1_468_000)), ("GET", Some(11_327.17), Some(60_000), Some(1_435_000))]),
        ("mysqlslap/basic", &[("1 clients", Some(250.0), None, None), ("4 clients", Some(278.5515), None, None)]),
        ("ycsb/status-summary", &[("READ", None, Some(20_724), Some(1_774_485)), ("UPDATE", None, Some(1088), Some(1_693_707))]),
    ];
    for (name, kinds) in expected {
        let summary = Case::read(name).heard().ending.summary.expect("there is a report");
        let found: Vec<_> = summary.scripts.iter().map(|it| {
            let rate = it.throughput.map(|rate| (rate * 1e4).round() / 1e4);
            (it.name.as_str(), rate, it.completed, it.latency_mean_ns)
        }).collect();
        assert_eq!(found, kinds, "{name}");
    }
}

/// Ranks in percent with times in ns.
type Ranked = &'static [(f64, i64)];

fn ranked(quantiles: &[model::LatencyQuantile]) -> Vec<(f64, i64)> {
    let percent = |q: f64| (q * 1e6).round() / 1e4;
    quantiles
        .iter()
        .map(|it| (percent(it.q), it.latency_ns))
        .collect()
}

#[test]
#[rustfmt::skip]
fn quantiles_that_are_printed_are_read() {
    let expected: [(&str, Ranked); 16] = [
        ("vegeta/text", &[(50.0, 197_272), (90.0, 269_361), (95.0, 410_660), (99.0, 1_118_000), (100.0, 4_382_000)]),
        ("vegeta/json", &[(50.0, 581_221), (90.0, 1_117_291), (95.0, 1_340_844), (99.0, 4_614_029), (100.0, 5_038_439)]),
        ("oha/text", &[(10.0, 27_500), (25.0, 34_600), (50.0, 41_900), (75.0, 54_000), (90.0, 76_100), (95.0, 95_300), (99.0, 1_248_200), (99.9, 4_744_600), (99.99, 8_709_600), (100.0, 12_225_500)]),
        ("oha/json", &[(10.0, 151_766), (25.0, 223_324), (50.0, 321_788), (75.0, 511_328), (90.0, 658_955), (95.0, 1_782_225), (99.0, 5_990_898), (99.9, 10_510_177), (99.99, 10_582_880), (100.0, 10_582_880)]),
        ("oha/refused-json", &[]),
        // Of the last of four reports.
        ("vegeta/every", &[(50.0, 257_331), (90.0, 297_808), (95.0, 322_898), (99.0, 2_081_000), (100.0, 6_370_000)]),
        ("locust/headless", &[(50.0, 6_000_000), (90.0, 11_000_000), (95.0, 13_000_000), (99.0, 19_000_000), (99.9, 53_000_000), (100.0, 85_000_000)]),
        ("hey/basic", &[(10.0, 47_800_000), (25.0, 52_000_000), (50.0, 60_100_000), (75.0, 75_600_000), (90.0, 95_600_000), (95.0, 108_000_000), (99.0, 138_800_000)]),
        ("ab/basic", &[(50.0, 19_000_000), (66.0, 28_000_000), (75.0, 35_000_000), (80.0, 41_000_000), (90.0, 60_000_000), (95.0, 82_000_000), (98.0, 138_000_000), (99.0, 207_000_000), (100.0, 1_315_000_000)]),
        ("k6/text-summary", &[(50.0, 50_070_000), (90.0, 79_920_000), (95.0, 91_930_000), (99.0, 121_960_000), (99.9, 162_940_000), (100.0, 168_130_000)]),
        ("k6/refused", &[]),
        ("sysbench/cpu", &[(95.0, 24_380_000), (100.0, 168_400_000)]),
        ("wrk/basic", &[]),
        ("wrk/non2xx", &[(50.0, 44_090_000), (75.0, 47_880_000), (90.0, 50_910_000), (99.0, 63_950_000)]),
        // Of two tests, or kinds, no quantile of both is known.
        ("redis-benchmark/csv", &[]),
        ("ycsb/status-summary", &[]),
    ];
    for (name, quantiles) in expected {
        let summary = Case::read(name).heard().ending.summary.expect("there is a report");
        assert_eq!(ranked(&summary.latency_quantiles), quantiles, "{name}");
    }
    let of_kinds: [(&str, &str, Ranked); 4] = [
        ("redis-benchmark/csv", "GET", &[(50.0, 447_000), (95.0, 7_303_000), (99.0, 12_439_000), (100.0, 23_311_000)]),
        ("redis-benchmark/default-text", "GET", &[(50.0, 415_000), (95.0, 5_503_000), (99.0, 12_127_000), (100.0, 124_351_000)]),
        ("ycsb/status-summary", "READ", &[(95.0, 3_161_000), (99.0, 8_107_000), (100.0, 52_863_000)]),
        ("locust/headless", "GET GET a big file, 200 kB", &[(50.0, 6_000_000), (90.0, 11_000_000), (95.0, 13_000_000), (99.0, 18_000_000), (99.9, 53_000_000), (100.0, 53_000_000)]),
    ];
    for (name, kind, quantiles) in of_kinds {
        let summary = Case::read(name).heard().ending.summary.expect("there is a report");
        let found = summary.scripts.iter().find(|it| it.name == kind).expect("the kind is there");
        assert_eq!(ranked(&found.latency_quantiles), quantiles, "{name}");
    }
}

#[test]
fn wrk_prints_quantiles_where_it_is_asked_to() {
    let text = Case::read("wrk/basic").stdout().replace(
        "  2485 requests",
        "  Latency Distribution\n     50%  635.91us\n     99%    2.87ms\n  2485 requests",
    );
    let of = |text: &str| {
        let case = Case::text("wrk --latency -c 8 http://x", text);
        case.heard().ending.summary.expect("there is a report")
    };
    let summary = of(&text);
    assert_eq!(
        ranked(&summary.latency_quantiles),
        [(50.0, 635_910), (99.0, 2_870_000)]
    );
    assert_eq!(summary.completed, Some(2485));
    let wrk2 = text.replace(
        "  Latency Distribution\n     50%  635.91us",
        "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%  635.91us",
    );
    assert_eq!(
        ranked(&of(&wrk2).latency_quantiles),
        ranked(&summary.latency_quantiles)
    );
}

#[test]
fn locust_says_names_exactly_as_json() {
    let summary = Case::read("locust/good-json")
        .heard()
        .ending
        .summary
        .expect("there is a report");
    assert_eq!(
        numbers(&summary),
        (Some(403.58), Some(1781), Some(0), Some(4_000_000), None)
    );
    let kinds: Vec<_> = summary
        .scripts
        .iter()
        .map(|it| {
            let p99 = it
                .latency_quantiles
                .iter()
                .find(|it| it.q == 0.99)
                .map(|it| it.latency_ns);
            (
                it.name.as_str(),
                it.completed,
                it.failed,
                it.latency_mean_ns,
                p99,
            )
        })
        .collect();
    // 6146.3280620 ms / 1336, and 2229.277139 ms / 445.
    assert_eq!(
        kinds,
        [
            (
                "GET /ok",
                Some(1336),
                Some(0),
                Some(4_600_544),
                Some(13_000_000)
            ),
            (
                "GET GET a big file, 200 kB",
                Some(445),
                Some(0),
                Some(5_009_611),
                Some(12_000_000)
            ),
        ]
    );
}

#[test]
fn one_test_of_redis_benchmark_speaks_for_all() {
    let text = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n\
        \"lpush a \"\",\"\" b\",\"46838.41\",\"1.370\",\"0.136\",\"0.575\",\"5.503\",\"12.519\",\"17.215\"\n";
    let ending = Case::text("redis-benchmark -t set --csv", text)
        .heard()
        .ending;
    let summary = ending.summary.expect("there is a report");
    assert_eq!(
        numbers(&summary),
        (Some(46_838.41), None, None, Some(1_370_000), None)
    );
}

#[test]
fn a_run_without_a_report_says_so() {
    for name in [
        "wrk/refused",
        "wrk/usage-error",
        "ab/refused",
        "ab/timeout-abort",
        "jmeter/sigterm-mid-run",
        "oha/terminated",
        "vegeta/terminated",
        "vegeta/hist",
        "locust/sigkill",
        "sysbench/oltp-warmup",
        "redis-benchmark/refused-hangs",
    ] {
        let case = Case::read(name);
        let ending = case.heard().ending;
        assert_eq!(ending.summary.and_then(|it| it.throughput), None, "{name}");
        let remark = ending.remarks[0].to_string();
        let (tool, exit) = (case.tool(), super::ended(case.exit));
        let expected = format!("{tool} printed no report that is understood ({exit})");
        assert!(remark.starts_with(&expected), "{name}: {remark}");
    }
    let refused = Case::read("sysbench/refused").heard().ending;
    assert!(
        refused.remarks[0]
            .to_string()
            .contains("cut off or of an unknown version")
    );
    assert_eq!(
        refused.summary.map(|it| numbers(&it)),
        Some((None, None, None, None, None))
    );
}

#[test]
fn errors_of_sockets_and_of_connections_are_failures() {
    let text = Case::read("wrk/non2xx").stdout();
    let text = text.replace(
        "  Non-2xx",
        "  Socket errors: connect 1, read 2, write 0, timeout 30\n  Non-2xx",
    );
    let summary = Case::text("wrk -c 8 http://x", &text)
        .heard()
        .ending
        .summary
        .unwrap();
    assert_eq!((summary.completed, summary.failed), (Some(2665), Some(167)));
    let text = Case::read("hey/basic").stdout();
    let text = format!("{text}Error distribution:\n  [12]\tGet \"http://x\": refused\n\n");
    let summary = Case::text("hey -c 8 http://x", &text)
        .heard()
        .ending
        .summary
        .unwrap();
    assert_eq!((summary.completed, summary.failed), (Some(1206), Some(12)));
    let text = Case::read("ycsb/load").stdout() + "[INSERT], Return=ERROR, 3\n";
    let summary = Case::text("ycsb load -threads 2", &text)
        .heard()
        .ending
        .summary
        .unwrap();
    assert_eq!((summary.completed, summary.failed), (Some(2000), Some(3)));
}

#[test]
fn a_decimal_comma_and_other_words_are_not_read() {
    for name in [
        "wrk/basic",
        "jmeter/http-csv",
        "redis-benchmark/default-text",
    ] {
        let case = Case::read(name);
        let text = case.stdout().replace('.', ",");
        let ending = Case::text(&case.command(), &text).heard().ending;
        assert_eq!(ending.summary, None, "{name}");
        let remark = ending.remarks[0].to_string();
        assert!(
            remark.contains("printed no report that is understood"),
            "{name}: {remark}"
        );
    }
    let text = Case::read("wrk/basic").stdout();
    let text = text.replace("Requests/sec", "Requests per s");
    let ending = Case::text("wrk -c 8 http://x", &text).heard().ending;
    let summary = ending.summary.expect("the latency is there");
    assert_eq!(
        numbers(&summary),
        (None, None, None, Some(64_630_000), Some(10.02))
    );
    assert!(!summary.complete);
    assert!(
        ending.remarks[0]
            .to_string()
            .contains("cut off or of an unknown version")
    );
}

#[test]
fn k6_before_version_1_is_read() {
    let text = "     \u{2713} http_req_duration..............: avg=1.2s     min=6.74ms  med=50.07ms\n       { expected_response:true }...: avg=56.97ms\n   \
        \u{2717} http_req_failed................: 2.07%  \u{2713} 22        \u{2717} 1036\n     http_reqs......................: 1058   104.762384/s\n     \
        iterations.....................: 529    52.381192/s\n     vus............................: 1      min=1      max=6\n     \
        vus_max........................: 6      min=6      max=6\n\n\nrunning (1m10.1s), 0/6 VUs, 529 complete and 0 interrupted iterations\n";
    let summary = Case::text("k6 run -u 6 x.js", text)
        .heard()
        .ending
        .summary
        .unwrap();
    let expected = (
        Some(104.7624),
        Some(1036),
        Some(22),
        Some(1_200_000_000),
        Some(70.1),
    );
    assert_eq!(numbers(&summary), expected);
    assert_eq!((summary.clients, summary.complete), (Some(6), true));
}

#[test]
#[rustfmt::skip]
fn options_tell_the_load() {
    for (line, clients, threads, rate) in [
        ("wrk -t4 -c100 -d30s http://x", Some(100), Some(4), None),
        ("wrk --connections 3 http://x -t 1", Some(3), Some(1), None),
        ("wrk2 -R 500 -H a:-c9 http://x", Some(10), Some(2), Some(500.0)),
        ("hey -z 8s -c=4 -q 50 http://x", Some(4), None, Some(200.0)),
        ("ab -kc 8 -n 9 http://x", Some(8), None, None),
        ("ab -c many http://x", None, None, None),
        ("jmeter -n -t a.jmx -Jthreads=5", None, None, None),
        ("k6 run -u7 a.js", Some(7), None, None),
        ("sysbench cpu --threads=4 --rate=10 run", Some(4), None, Some(10.0)),
        ("redis-benchmark", Some(50), None, None),
        ("valkey-benchmark -c 3 --threads 2", Some(3), Some(2), None),
        ("siege -c5 http://x", Some(5), None, None),
        ("mariadb-slap --concurrency=9 -a", Some(9), None, None),
        ("mysqlslap --concurrency=1,9", None, None, None),
        ("vegeta attack -rate=200 -duration 5s", None, None, Some(200.0)),
        ("vegeta attack -rate 6000/1m -max-workers 9", Some(9), None, Some(100.0)),
        ("vegeta attack -rate=300/m", None, None, Some(5.0)),
        ("vegeta attack", None, None, Some(50.0)),
        ("vegeta attack -rate=0 -max-workers=4", Some(4), None, None),
        ("oha -c8 -q 90 --output-format json http://x", Some(8), None, Some(90.0)),
        ("locust --headless -u 5 -r 5", Some(5), None, None),
        ("java -cp a:b site.ycsb.Client -t -threads 3 -target 900", Some(3), None, Some(900.0)),
    ] {
        let load = prepare(&words(line), Adjust::Allowed).expect("it is known").load;
        assert_eq!((load.clients, load.threads, load.rate), (clients, threads, rate), "{line}");
    }
    for other in [
        "wrk --version", "wrk", "sysbench oltp_read_write prepare", "sysbench", "k6 archive a.js", "jmeter", "jmeter -v",
        "java -jar other.jar -n", "java", "java site.ycsb.Client", "ycsb shell basic",
        "vegeta report a.bin", "locust -f a.py", "oha --help",
    ] {
        assert!(prepare(&words(other), Adjust::Allowed).is_none(), "{other}");
    }
}

/// Whether each number is the whole report's, or absent.
fn is_part_of(part: Option<&Summary>, whole: &Summary) -> bool {
    fn fits<T: PartialEq>(part: Option<T>, whole: Option<T>) -> bool {
        part.is_none() || part == whole
    }
    part.is_none_or(|part| {
        let (a, b) = (numbers(part), numbers(whole));
        let kinds = part.scripts.iter().all(|it| whole.scripts.contains(it));
        kinds
            && fits(a.0, b.0)
            && fits(a.1, b.1)
            && fits(a.2, b.2)
            && fits(a.3, b.3)
            && fits(a.4, b.4)
    })
}

#[test]
fn a_report_that_is_cut_off_at_any_byte_has_no_other_number() {
    for (name, _) in REPORTS {
        let case = Case::read(name);
        let whole = case.heard();
        let (is_error, text) = case.report();
        // Of a long one not every byte, for the time that it takes.
        for end in (0..text.len()).step_by(1 + text.len() / 1500) {
            let mut part = case.with(is_error, text.as_bytes()[..end].to_vec());
            part.exit = ExitKind::Code(143);
            let heard = part.heard();
            let summary = whole.ending.summary.as_ref().unwrap();
            assert!(
                is_part_of(heard.ending.summary.as_ref(), summary),
                "{name} cut at {end}: {heard:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn lines_of_others_between_change_no_number(at_case in 0..REPORTS.len(), noise in "[a-z ]{1,30}", at in any::<prop::sample::Index>()) {
        let case = Case::read(REPORTS[at_case].0);
        let (is_error, text) = case.report();
        // Some end without a line's end: what comes behind would be of their last line.
        let text = match text.ends_with('\n') {
            true => text.to_owned(),
            false => format!("{text}\n"),
        };
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let noise = noise + "\n";
        lines.insert(at.index(lines.len() + 1), &noise);
        let noisy = case.with(is_error, lines.concat().into_bytes());
        prop_assert_eq!(noisy.heard().ending.summary, case.heard().ending.summary);
    }

    #[test]
    fn any_bytes_are_survived_and_reach_the_user(bytes in prop::collection::vec(any::<u8>(), 0..300), at_case in 0..REPORTS.len(), is_error in any::<bool>()) {
        let case = Case::read(REPORTS[at_case].0);
        let known = if is_error { case.stderr() } else { case.stdout() };
        let start: Vec<u8> = known.bytes().take(400).collect();
        case.with(is_error, [start, bytes].concat()).heard();
    }

    #[test]
    fn a_chosen_adapter_survives_what_any_other_prints(at_case in 0..REPORTS.len(), chosen in 0..crate::all().len()) {
        let mut case = Case::read(REPORTS[at_case].0);
        let chosen = crate::all()[chosen].name().parse().unwrap();
        case.prepared = Some(prepare_as(chosen, &words("./load.sh"), Adjust::Allowed));
        let heard = case.into_heard();
        prop_assert!(heard.bins.iter().all(|bin| bin.interval_ns > 0));
    }
}
