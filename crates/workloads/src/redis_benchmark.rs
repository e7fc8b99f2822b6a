//! redis-benchmark and valkey-benchmark, closed loop, in their three forms: text, `-q` and `--csv`. Seen run:
//! redis-benchmark 7.0; valkey-benchmark is read as it, no run was captured.
//!
//! Each test (SET, GET) runs by itself, after the one before. What stands for all of them is only said in the long form,
//! from the counts and times of each. While it runs it draws rate and mean over and over in one line, which ends with the
//! test: four times a second, which are put together. It waits for a server for ever, and its output has no end of its own: only with success is it whole. It counts no errors.

use crate::decimal::ms;
use crate::reports::measure::{count, number, seconds};
use crate::reports::{
    Holds, Means, PLAIN, Report, Speaks, Style, Tool, add_quantile, closed_loop, opt,
};
use crate::{Quantity, Stream};

/// Redis's.
pub(crate) static REDIS_BENCHMARK: Tool = Tool {
    name: "redis-benchmark",
    programs: &["redis-benchmark"],
    ..BENCHMARK
};

/// Valkey's.
pub(crate) static VALKEY_BENCHMARK: Tool = Tool {
    name: "valkey-benchmark",
    programs: &["valkey-benchmark"],
    ..BENCHMARK
};

const BENCHMARK: Tool = Tool {
    style: Style::Words,
    options: &[
        opt(&["-c"], Means::Clients),
        opt(&["--threads"], Means::Threads),
        opt(&["--rps"], Means::Rate),
        opt(&["-n"], Means::Other),
        opt(&["-h"], Means::Other),
        opt(&["-p"], Means::Other),
        opt(&["-s"], Means::Other),
        opt(&["-a"], Means::Other),
        opt(&["-u"], Means::Other),
        opt(&["-d"], Means::Other),
        opt(&["-k"], Means::Other),
        opt(&["-r"], Means::Other),
        opt(&["-P"], Means::Other),
        opt(&["-t"], Means::Other),
        opt(&["--user"], Means::Other),
        opt(&["--dbnum"], Means::Other),
        opt(&["--precision"], Means::Other),
    ],
    runs_bare: true,
    load: || closed_loop(Some(50), "-c"),
    // With --csv it draws nothing.
    speaks: Speaks::Unless(|word| word == "--csv"),
    gives: &[Quantity::Throughput, Quantity::Latency],
    holds: Holds::WithSuccess,
    read,
    drawn,
    ..PLAIN
};

/// The ranks of the times that it prints of a test, the highest last.
const RANKS: [f64; 4] = [0.5, 0.95, 0.99, 1.0];

/// Between tests.
const BETWEEN: u8 = 0;
/// In a test of the long form: its name came, and then its count.
const NAMED: u8 = 1;
const COUNTED: u8 = 2;
/// The names of the columns of its latencies came.
const COLUMNS: u8 = 3;
/// A table with commas.
const CSV: u8 = 4;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if let Some(name) = heading(line) {
        report.reporter = Some(name.to_owned());
        (report.part, report.is_whole) = (NAMED, false);
        return;
    }
    if line.starts_with("\"test\",\"rps\",\"avg_latency_ms\",") {
        report.part = CSV;
    } else if report.part == CSV {
        row(report, line);
    } else if report.part == BETWEEN {
        short(report, line);
    } else {
        long(report, line);
    }
}

/// Intervals are drawn every 250 ms; so long is one of ours, ns.
const LEAST_NS: i64 = 950_000_000;

/// `SET: rps=46838.4 (overall: 45120.1) avg_msec=0.870 (overall: 0.911)`: of the time since it was drawn before, and of
/// the whole test. The first of a test is drawn as it begins.
fn drawn(report: &mut Report, text: &str) {
    let Some((name, said)) = text.trim_end().split_once(": rps=") else {
        return;
    };
    let Some((rate, said)) = said.split_once(" (overall: ") else {
        return;
    };
    let mean = said
        .split_once(") avg_msec=")
        .and_then(|(_, it)| it.split_once(" (overall: "));
    let Some(((mean, _), rate)) = mean.filter(|(_, it)| it.ends_with(')')).zip(number(rate)) else {
        return;
    };
    let mean_ns = ms(mean).filter(|mean| *mean > 0);
    report.live.drawn_rate(name, rate, mean_ns, LEAST_NS);
}

/// `====== SET ======`
fn heading(line: &str) -> Option<&str> {
    let name = line.strip_prefix("====== ")?.strip_suffix(" ======")?;
    Some(name.trim())
}

/// A line of the long form, which says one thing a line.
fn long(report: &mut Report, line: &str) {
    let text = line.trim();
    if let Some((done, took)) = text.split_once(" requests completed in ") {
        if let (Some(done), Some(took)) = (count(done), seconds(took)) {
            let name = report.reporter.clone().unwrap_or_default();
            report.kind(&name).completed = Some(done);
            report.add_completed(Some(done));
            let before = report.summary.duration_s.unwrap_or(0.0);
            report.summary.duration_s = Some(before + took);
            report.part = COUNTED;
        }
    } else if let Some(clients) = text.strip_suffix(" parallel clients") {
        report.summary.clients = clients.parse().ok();
    } else if let Some(rate) = text.strip_prefix("throughput summary: ") {
        let rate = rate.strip_suffix(" requests per second").and_then(number);
        let name = report.reporter.clone().unwrap_or_default();
        report.kind(&name).throughput = rate;
    } else if text.starts_with("avg ") && text.ends_with(" max") && report.part == COUNTED {
        report.part = COLUMNS;
    } else if report.part == COLUMNS {
        let values: Option<Vec<i64>> = text.split_whitespace().map(ms).collect();
        let Some([mean, _, quantiles @ ..]) = values.as_deref() else {
            return;
        };
        let Ok(quantiles): Result<[i64; 4], _> = quantiles.try_into() else {
            return;
        };
        let name = report.reporter.clone().unwrap_or_default();
        let kind = report.kind(&name);
        kind.latency_mean_ns = Some(*mean);
        kind.latency_quantiles.clear();
        for (q, time) in RANKS.into_iter().zip(quantiles) {
            add_quantile(&mut kind.latency_quantiles, q, Some(time));
        }
        (report.part, report.is_whole) = (BETWEEN, true);
        all(report);
    }
}

/// `SET: 10849.91 requests per second, p50=0.487 msec`
fn short(report: &mut Report, line: &str) {
    let Some((name, rest)) = line.split_once(": ") else {
        return;
    };
    let Some((rate, rest)) = rest.split_once(" requests per second") else {
        return;
    };
    if rest.is_empty() || (rest.starts_with(", p50=") && rest.ends_with(" msec")) {
        let rate = number(rate);
        let median = rest
            .strip_prefix(", p50=")
            .and_then(|it| it.strip_suffix(" msec"));
        let kind = report.kind(name.trim());
        kind.throughput = rate;
        add_quantile(&mut kind.latency_quantiles, 0.5, median.and_then(ms));
        report.is_whole = rate.is_some();
        all(report);
    }
}

/// `"SET","46838.41","1.370","0.136","0.575","5.503","12.519","17.215"`
fn row(report: &mut Report, line: &str) {
    let cells = line.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let cells: Vec<&str> = cells.map_or_else(Vec::new, |it| it.split("\",\"").collect());
    // A name may hold the separator: the numbers are counted from the end.
    let [name @ .., rate, mean, _, p50, p95, p99, most] = &cells[..] else {
        return;
    };
    let (rate, mean) = (number(rate), ms(mean));
    if rate.is_none() || name.is_empty() {
        return;
    }
    let kind = report.kind(&name.join("\",\""));
    (kind.throughput, kind.latency_mean_ns) = (rate, mean);
    for (q, time) in RANKS.into_iter().zip([p50, p95, p99, most]) {
        add_quantile(&mut kind.latency_quantiles, q, ms(time));
    }
    report.is_whole = true;
    all(report);
}

/// What stands for all tests: of a single one what it says, of several what follows from their counts.
fn all(report: &mut Report) {
    let summary = &mut report.summary;
    let kinds = &summary.scripts;
    if let [only] = &kinds[..] {
        summary.throughput = only.throughput;
        summary.latency_mean_ns = only.latency_mean_ns;
        summary.latency_quantiles = only.latency_quantiles.clone();
        return;
    }
    // What several tests took together does not follow from what each took.
    summary.latency_quantiles.clear();
    let took = summary.duration_s.filter(|took| *took > 0.0);
    summary.throughput = summary
        .completed
        .zip(took)
        .map(|(done, took)| done as f64 / took);
    let weights: Option<Vec<(f64, f64)>> = kinds
        .iter()
        .map(|it| Some((it.completed? as f64, it.latency_mean_ns? as f64)))
        .collect();
    summary.latency_mean_ns = weights.map(|weights| {
        let done: f64 = weights.iter().map(|(done, _)| done).sum();
        let time: f64 = weights.iter().map(|(done, mean)| done * mean).sum();
        (time / done.max(1.0)) as i64
    });
}
