//! Readings from made-up output, and real output read by patterns instead of an adapter.

use expect_test::{Expect, expect};
use model::{MISSING, Sentence};
use proptest::prelude::*;

use super::*;
use crate::Listener;

const ALL_OF_PGBENCH: &[Quantity] = &Quantity::ALL;

fn patterns(texts: &[&str]) -> Patterns {
    Patterns::new(texts.iter().map(|text| text.parse().unwrap()).collect()).unwrap()
}

/// Lines with the second at which each came: bins, then remarks.
fn heard(texts: &[&str], lines: &[(f64, &str)]) -> String {
    let mut reader = patterns(texts).attach(&[], "tool", None, &[]).reader;
    let mut bins = Vec::new();
    for (at, line) in lines {
        let arrived = Timestamp::from_seconds(*at);
        assert!(reader.line(Stream::Stdout, line.as_bytes(), arrived, &mut bins));
    }
    let ending = reader.finish(ExitKind::Code(0), Timestamp::from_seconds(99.0));
    draw(&bins) + &Sentence::join(&ending.remarks, "\n")
}

fn draw(bins: &[Bin]) -> String {
    let line = |bin: &Bin| {
        let start = bin.end.as_ns() - bin.interval_ns;
        let mut line = format!(
            "{:.2}-{:.2}:",
            start as f64 / 1e9,
            bin.end.as_ns() as f64 / 1e9
        );
        for (name, value) in [
            ("milli/s", bin.throughput_milli),
            ("ns", bin.latency_mean_ns),
            ("lag", bin.lag_mean_ns),
            ("failed", bin.failed),
        ] {
            if value != MISSING {
                line += &format!(" {value} {name}");
            }
        }
        line + "\n"
    };
    bins.iter().map(line).collect()
}

fn check(texts: &[&str], lines: &[(f64, &str)], expected: Expect) {
    expected.assert_eq(&heard(texts, lines));
}

#[test]
fn a_bin_lies_between_two_readings_of_throughput() {
    check(
        &[
            "throughput=([0-9.]+) req/s",
            "latency:us=lat ([0-9]+)us",
            "failed=([0-9]+) errors",
        ],
        &[
            (0.5, "starting"),
            (1.0, "100.5 req/s lat 900us 1 errors"),
            (2.0, "200 req/s lat 1000us 2 errors"),
            (2.2, "lat 500us"),
            (2.9, "4 errors"),
            (3.5, "300 req/s lat 700us"),
            (4.0, "0 req/s"),
        ],
        expect![[r#"
            1.00-2.00: 200000 milli/s 1000000 ns 2 failed
            2.00-3.50: 300000 milli/s 600000 ns 4 failed
            3.50-4.00: 0 milli/s
        "#]],
    );
}

#[test]
fn a_running_total_becomes_a_rate_and_may_begin_anew() {
    check(
        &[
            "throughput:total=done ([0-9,]+)",
            "failed:total=bad ([0-9]+)",
        ],
        &[
            (1.0, "done 1,000 bad 1"),
            (2.0, "done 1,500 bad 3"),
            (4.0, "done 3,500 bad 3"),
            (5.0, "done 10 bad 0"),
            (6.0, "done 20 bad 1"),
        ],
        expect![[r#"
            1.00-2.00: 500000 milli/s 2 failed
            2.00-4.00: 1000000 milli/s 0 failed
            4.00-5.00:
            5.00-6.00: 10000 milli/s 1 failed
        "#]],
    );
}

#[test]
fn without_throughput_latency_ends_bins() {
    check(
        &["latency=([0-9.]+) ms", "lag=lag ([0-9.]+)"],
        &[
            (1.0, "1.0 ms"),
            (2.0, "lag 0.5"),
            (3.0, "3.0 ms"),
            (4.0, "5.0 ms"),
        ],
        expect![[r#"
            1.00-3.00: 3000000 ns 500000 lag
            3.00-4.00: 5000000 ns
        "#]],
    );
}

#[test]
fn lines_that_come_at_once_are_one_reading_and_said_to_be() {
    check(
        &["throughput=([0-9]+)"],
        &[
            (1.0, "10"),
            (5.0, "20"),
            (5.001, "40"),
            (5.002, "60"),
            (9.0, "80"),
            (9.001, "30"),
        ],
        expect![[r#"
            1.00-5.00: 20000 milli/s
            5.00-9.00: 60000 milli/s
            most readings of throughput came many at a time, and each burst counts as one: tool buffers its output where it is no terminal (often mended by: stdbuf -oL tool)"#]],
    );
}

#[test]
fn what_gave_nothing_is_said() {
    check(
        &[
            "throughput=tps (.+)",
            "latency=([0-9]+) ms",
            "lag=lag ([0-9]+)",
        ],
        &[(1.0, "tps n/a"), (2.0, "lag 3"), (3.0, "tps 7")],
        expect![[r#"
            --metric 'throughput=tps (.+)' captured `n/a`, which is no number
            no line matched --metric 'latency=([0-9]+) ms'
            only one line said throughput: a signal needs at least two, as it is measured between them"#]],
    );
    check(
        &["throughput=tps (.+)"],
        &[(1.0, "tps 5")],
        expect![
            "only one line said throughput: a signal needs at least two, as it is measured between them"
        ],
    );
}

#[test]
fn the_adapters_numbers_stand_and_patterns_add_the_rest() {
    let adapter = crate::prepare(
        &["pgbench".into(), "-P".into(), "1".into()],
        crate::Adjust::Allowed,
    )
    .unwrap();
    let given = &[Quantity::Throughput, Quantity::Latency];
    let texts = ["throughput=([0-9]+) x", "failed=([0-9]+) lost"];
    let mut attached = patterns(&texts).attach(&[], "pgbench", Some(adapter.reader), given);
    assert_eq!(
        attached.notices,
        ["--metric throughput is not used: pgbench's own throughput is understood"]
    );
    assert!(!attached.latency);
    let mut bins = Vec::new();
    for (at, line) in [
        (1.0, "progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.500"),
        (1.5, "77 x, 3 lost"),
        (2.0, "progress: 2.0 s, 20.0 tps, lat 1.000 ms stddev 0.500"),
        (2.5, "1 lost"),
        (
            3.0,
            "progress: 3.0 s, 20.0 tps, lat 1.000 ms stddev 0.500, 9 failed",
        ),
    ] {
        attached.reader.line(
            Stream::Stderr,
            line.as_bytes(),
            Timestamp::from_seconds(at),
            &mut bins,
        );
    }
    expect![[r#"
        0.00-1.00: 10000 milli/s 1000000 ns
        1.00-2.00: 20000 milli/s 1000000 ns 3 failed
        2.00-3.00: 20000 milli/s 1000000 ns 9 failed
    "#]]
    .assert_eq(&draw(&bins));
}

/// A real run of pgbench, read by patterns: the same numbers as the adapter's.
#[test]
fn patterns_read_what_the_adapter_reads() {
    let stderr = include_str!("../../fixtures/pgbench/rate-latency-limit/stderr");
    let lines: Vec<&str> = stderr.lines().collect();
    let read = |mut reader: Box<dyn Reader>| {
        let mut bins = Vec::new();
        for (second, line) in lines.iter().enumerate() {
            let arrived = Timestamp::from_seconds(100.0 + second as f64);
            reader.line(Stream::Stderr, line.as_bytes(), arrived, &mut bins);
        }
        let values = |bin: &Bin| {
            (
                bin.throughput_milli,
                bin.latency_mean_ns,
                bin.lag_mean_ns,
                bin.failed,
            )
        };
        bins.iter().map(values).collect::<Vec<_>>()
    };
    let texts = [
        "throughput=^progress: .* s, ([0-9.]+) tps",
        "latency=lat ([0-9.]+) ms",
        "lag=lag ([0-9.]+) ms",
        "failed=([0-9]+) failed",
    ];
    let by_patterns = read(patterns(&texts).attach(&[], "x", None, &[]).reader);
    let command = ["pgbench", "-P", "1", "-R", "3000", "-L", "5"].map(Into::into);
    let adapter = crate::prepare(&command, crate::Adjust::Allowed).unwrap();
    assert_eq!(by_patterns, read(adapter.reader)[1..]);
}

#[test]
fn one_pattern_for_each_quantity() {
    let rules = ["lag=(a)", "lag=(b)"].map(|text| text.parse().unwrap());
    assert_eq!(
        Patterns::new(rules.to_vec()).unwrap_err(),
        "--metric lag is given twice: write one pattern that matches both, as in '(?:first|second): ([0-9.]+)'"
    );
    let attached = patterns(&["lag=(a)"]).attach(&[], "pgbench", None, ALL_OF_PGBENCH);
    assert_eq!(attached.notices.len(), 1);
}

proptest! {
    #[test]
    fn no_option_makes_it_panic(text in "(throughput|latency|lag|failed|\\PC{0,4})(:(us|ms|s|total))?=?[-\\\\()\\[\\]0-9a-c+*?|{}^$.]{0,20}") {
        let _ = text.parse::<Rule>();
    }

    #[test]
    fn no_bytes_make_it_panic(
        reads in prop::collection::vec((any::<i64>(), prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            "[0-9,.]{1,25} (tps|ms|done|bad|lag)\n".prop_map(String::into_bytes),
        ]), 0..20),
        total in any::<bool>(),
    ) {
        let texts = if total {
            ["throughput:total=([0-9,.]+) tps", "latency:s=([0-9,.]+) ms", "lag=(.*) lag", "failed:total=(.*) bad"]
        } else {
            ["throughput=([0-9,.]+) tps", "latency=([0-9,.]+) ms", "lag:us=(.*) lag", "failed=(.*) bad"]
        };
        let mut listener = Listener::new(patterns(&texts).attach(&[], "tool", None, &[]).reader);
        let mut forward = Vec::new();
        for (at, bytes) in &reads {
            listener.hear(Stream::Stdout, bytes, Timestamp::from_ns(*at), &mut forward);
        }
        let all: Vec<u8> = reads.into_iter().flat_map(|(_, bytes)| bytes).collect();
        prop_assert_eq!(forward, all);
        prop_assert!(listener.take_bins().iter().all(|bin| bin.interval_ns > 0));
    }
}
