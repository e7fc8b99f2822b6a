//! What tools say while they run: bins with the numbers and at the times of the captures.

use model::{MISSING, Provenance, Timestamp};

use super::captured::{Case, STARTED, words};
use crate::{Adjust, Bin, Listener, Quantity, Stream, prepare, prepare_as};

/// End and length of a bin in ms, operations per second in thousandths, latency in ns, and failures.
type Drawn = (i64, i64, i64, i64, i64);

fn drawn(bin: &Bin) -> Drawn {
    let started = Timestamp::from_seconds(STARTED).as_ns();
    (
        (bin.end.as_ns() - started) / 1_000_000,
        bin.interval_ns / 1_000_000,
        bin.throughput_milli,
        bin.latency_mean_ns,
        bin.failed,
    )
}

fn bins(case: &str) -> Vec<Drawn> {
    let bins = Case::read(case).heard().bins;
    let of_all = bins.iter().filter(|bin| bin.label.is_none());
    of_all.map(drawn).collect()
}

#[test]
fn jmeter_says_what_was_done_since_the_line_before() {
    // Of 471 samples 7 failed; the line before came 5.935 s earlier.
    let expected = [
        (18_767, 3333, 300, MISSING, 0),
        (24_702, 5935, 78_179, MISSING, 7),
        (30_713, 6011, 101_641, MISSING, 23),
        (36_699, 5985, 119_283, MISSING, 16),
        (42_748, 6048, 109_441, MISSING, 24),
        (46_444, 3695, 100_388, MISSING, 16),
    ];
    assert_eq!(bins("jmeter/http-csv"), expected);
    let refused = bins("jmeter/http-refused");
    let done: Vec<_> = refused.iter().map(|it| (it.2, it.4)).collect();
    assert_eq!(done, [(0, 1), (0, 499), (0, 33)]);
    assert_eq!(bins("jmeter/sigterm-mid-run").len(), 1);
}

#[test]
fn lines_that_were_buffered_are_no_bins() {
    let text = Case::read("jmeter/http-csv").stdout();
    let heard = Case::text("jmeter -n -t a.jmx", &text).heard();
    assert_eq!(heard.bins.len(), 1, "nothing came before the first");
    let two = text.replace("summary +", "mine +") + &text;
    let heard = Case::text("jmeter -n -t a.jmx", &two).heard();
    assert_eq!(heard.bins.len(), 1, "the first summariser is read");
}

#[test]
fn sysbench_says_rate_and_errors() {
    let found = bins("sysbench/oltp-rw-interval1");
    assert_eq!(found.len(), 15);
    assert_eq!(found[0], (1223, 1000, 244_200, MISSING, 0));
    assert_eq!(found[2], (3223, 1000, 318_040, MISSING, 1));
    assert_eq!(found[11], (12_223, 1000, 325_050, MISSING, 2));
    let two = bins("sysbench/oltp-rw-histogram-p99");
    // 0.5 errors a second are 1 in 2 s.
    assert_eq!((two[3].1, two[3].2, two[3].4), (2000, 343_770, 1));
    let cpu = bins("sysbench/cpu");
    assert_eq!((cpu.len(), cpu[9].2, cpu[9].4), (10, 1_708_820, MISSING));
    assert!(bins("sysbench/memory").is_empty() && bins("sysbench/fileio-rndrw").is_empty());
}

#[test]
fn vegeta_says_what_was_done_so_far_where_it_is_asked_to() {
    // 102 in 1.011 s, 201 in 2.003 s, 302 in 3.014 s, and 400 in 3.991 s.
    let expected = [
        (1011, 100_890, 0),
        (992, 99_798, 0),
        (1011, 99_901, 0),
        (977, 100_307, 0),
    ];
    let found: Vec<_> = bins("vegeta/every")
        .iter()
        .map(|it| (it.1, it.2, it.4))
        .collect();
    assert_eq!(found, expected);
    assert!(bins("vegeta/errors").is_empty());
}

#[test]
fn locust_says_what_was_done_since_the_table_before() {
    let found: Vec<_> = bins("locust/headless")
        .iter()
        .map(|it| (it.1 / 100, it.4))
        .collect();
    // Failed are 211, 397, 558 and 702 of all by then; the last table comes too soon after the one before.
    assert_eq!(found, [(20, 211), (20, 186), (20, 161), (20, 144)]);
    let found = bins("locust/headless");
    // 674 of 885 requests, and then 676 of 862.
    let done = |it: &Drawn| (it.2 as f64 * it.1 as f64 / 1e6).round();
    assert_eq!((done(&found[0]), done(&found[1])), (674.0, 676.0));
    assert!(bins("locust/only-summary").is_empty());
    let text = Case::read("locust/headless").stderr();
    let buffered = Case::read("locust/headless").with(true, text.into_bytes());
    assert!(buffered.heard().bins.is_empty());
}

#[test]
fn redis_benchmark_says_rate_and_mean_as_it_draws() {
    let told = |it: &Drawn| (it.1, it.2 / 1000, it.3 / 1000);
    let found: Vec<_> = bins("redis-benchmark/drawn").iter().map(told).collect();
    // Each of four readings, by their time; what was left of a test when it ended is none.
    let expected = [
        (1002, 40_460, 390),
        (1004, 39_747, 386),
        (1001, 87_328, 147),
    ];
    assert_eq!(found, expected);
    let labels = Case::read("redis-benchmark/drawn").heard().bins;
    let labels: Vec<_> = labels.into_iter().filter_map(|it| it.label).collect();
    assert_eq!(labels, ["SET", "SET", "GET"]);
    assert_eq!(bins("redis-benchmark/drawn-long").len(), 1);
}

#[test]
fn intervals_are_told_by_label() {
    let of = |case: &str, label: &str| {
        let bins = Case::read(case).heard().bins;
        let own = bins
            .iter()
            .filter(|bin| bin.label.as_deref() == Some(label));
        own.map(drawn).collect::<Vec<_>>()
    };
    let bad = of("locust/headless", "GET /bad");
    // All of them failed: 211, 397, 558 and 702 by then.
    let failed: Vec<_> = bad.iter().map(|it| (it.2, it.4)).collect();
    assert_eq!(failed, [(0, 211), (0, 186), (0, 161), (0, 144)]);
    let done = |it: &Drawn| (it.2 as f64 * it.1 as f64 / 1e6).round();
    let big = of("locust/headless", "GET GET a big file, 200 kB");
    assert_eq!(
        big.iter().map(done).collect::<Vec<_>>(),
        [146.0, 191.0, 142.0, 174.0]
    );
    let reads = of("ycsb/status-summary", "READ");
    // 1018 in 0.535 s.
    assert_eq!(
        (reads.len(), done(&reads[0]), reads[0].3),
        (11, 1018.0, 1_896_250)
    );
    assert_eq!(done(&of("ycsb/status-summary", "UPDATE")[0]), 48.0);
    assert!(of("ycsb/status-summary", "CLEANUP").is_empty());
}

#[test]
fn ycsb_says_rate_and_latency_of_all_kinds() {
    let found = bins("ycsb/status-summary");
    // 1088 operations in 0.535 s: 1018 x 1896.25 us and 48 x 1987.33 us.
    assert_eq!(
        (found[0].1, found[0].2, found[0].3),
        (535, 2_033_644, 1_900_351)
    );
    assert_eq!(
        (found[1].1, found[1].2, found[1].3),
        (1000, 2_075_000, 1_893_043)
    );
    // The last line also has the ends of clients, which are no operations.
    assert_eq!(
        (found[10].1, found[10].2, found[10].3),
        (60, 1_733_333, 2_648_957)
    );
    assert_eq!(found.len(), 11);
}

/// What the bins hold: rates and failures, or rates and latencies, or nothing.
const FAILURES: &[Quantity] = &[Quantity::Throughput, Quantity::Failed];
const LATENCIES: &[Quantity] = &[Quantity::Throughput, Quantity::Latency];
const NOTHING: &[Quantity] = &[];

/// A command, whether it may be changed, what becomes of it, and what the bins hold.
#[rustfmt::skip]
const ASKED: [(&str, Adjust, &str, &[Quantity]); 16] = [
    ("sysbench cpu run", Adjust::Allowed, "sysbench --report-interval=1 cpu run", FAILURES),
    ("sysbench cpu run", Adjust::Forbidden, "sysbench cpu run", NOTHING),
    ("sysbench cpu --report-interval=5 run", Adjust::Allowed, "sysbench cpu --report-interval=5 run", FAILURES),
    ("sysbench cpu --report-checkpoints=5 run", Adjust::Allowed, "sysbench cpu --report-checkpoints=5 run", NOTHING),
    ("jmeter -n -t a", Adjust::Allowed, "jmeter -Jsummariser.interval=6 -n -t a", FAILURES),
    ("jmeter -n -t a", Adjust::Forbidden, "jmeter -n -t a", FAILURES),
    ("java -jar x/ApacheJMeter.jar -n", Adjust::Allowed, "java -jar x/ApacheJMeter.jar -Jsummariser.interval=6 -n", FAILURES),
    ("jmeter -n -Jsummariser.interval=9", Adjust::Allowed, "jmeter -n -Jsummariser.interval=9", FAILURES),
    ("ycsb run basic -s", Adjust::Allowed, "ycsb run basic -s", LATENCIES),
    ("ycsb run basic", Adjust::Allowed, "ycsb run basic", NOTHING),
    ("locust --headless", Adjust::Allowed, "locust --headless", FAILURES),
    ("redis-benchmark -q", Adjust::Allowed, "redis-benchmark -q", LATENCIES),
    ("redis-benchmark --csv", Adjust::Allowed, "redis-benchmark --csv", NOTHING),
    ("vegeta attack report -every=1s", Adjust::Allowed, "vegeta attack report -every=1s", FAILURES),
    ("vegeta attack report", Adjust::Allowed, "vegeta attack report", NOTHING),
    ("k6 run a.js", Adjust::Allowed, "k6 run a.js", NOTHING),
];

#[test]
fn reports_are_asked_for_where_the_user_did_not() {
    for (line, adjust, argv, gives) in ASKED {
        let found = prepare(&words(line), adjust).expect("it is known");
        assert_eq!((&found.argv, found.gives), (&words(argv), gives), "{line}");
        assert_eq!(found.notices.len(), usize::from(argv != line), "{line}");
        let says_latency = found.latency == Provenance::ToolMean;
        assert_eq!(says_latency, gives == LATENCIES, "{line}");
    }
}

#[test]
fn files_of_results_are_those_that_the_command_names() {
    for (line, path) in [
        ("jmeter -n -t a.jmx -l b.jtl", Some("b.jtl")),
        ("timeout 9 jmeter -n -lb.jtl", Some("b.jtl")),
        ("jmeter -n -t a.jmx", None),
        ("k6 run -o csv=a.csv --out=json=b.json a.js", Some("b.json")),
        ("k6 run -o influxdb=x a.js", None),
    ] {
        let found = prepare(&words(line), Adjust::Allowed).expect("it is known");
        let found = found.results.map(|it| it.path);
        assert_eq!(found.as_deref(), path.map(std::path::Path::new), "{line}");
    }
}

#[test]
fn lines_that_were_not_asked_for_are_kept_from_the_user() {
    let hear = |prepared: crate::Prepared| {
        let mut listener = Listener::new(prepared.reader);
        let mut out = Vec::new();
        for piece in [
            "a\n[ 1",
            "s ] thds: 4 tps: 5.00 err/s: 0.00\n",
            "[ x\n",
            "[ 2s ] tps: 5.00",
        ] {
            let now = Timestamp::from_seconds(STARTED);
            listener.hear(Stream::Stdout, piece.as_bytes(), now, &mut out);
        }
        let bins = listener.take_bins().len();
        (bins, String::from_utf8(out).unwrap())
    };
    let asked = prepare(&words("sysbench cpu run"), Adjust::Allowed).unwrap();
    assert_eq!(hear(asked), (1, "a\n[ x\n".to_owned()));
    let script = prepare_as(
        "sysbench".parse().unwrap(),
        &words("./load.sh"),
        Adjust::Allowed,
    );
    let all = "a\n[ 1s ] thds: 4 tps: 5.00 err/s: 0.00\n[ x\n[ 2s ] tps: 5.00".to_owned();
    assert_eq!(hear(script), (1, all));
}
