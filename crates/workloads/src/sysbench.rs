//! sysbench, closed loop without `--rate`. Seen run: sysbench 1.0.20.
//!
//! What it prints while it runs is a rate and a quantile of latency, no mean: latency of a window is the kernel's. An
//! operation is a transaction (`oltp_*`), or an event. `fileio` and `memory` print amounts of data, which are not read.
//! Behind a checkpoint report the closing report is of the time since it alone, and is not read either.

use model::MISSING;

use crate::decimal::{ms, scaled};
use crate::reports::measure::{count, number, seconds};
use crate::reports::{Added, Means, PLAIN, Report, Speaks, Style, Tool, closed_loop, opt};
use crate::{Bin, Quantity, Stream};

/// The adapter.
pub(crate) static SYSBENCH: Tool = Tool {
    name: "sysbench",
    programs: &["sysbench"],
    style: Style::Words,
    options: &[
        opt(&["--threads", "--num-threads"], Means::Clients),
        opt(&["--rate", "--tx-rate"], Means::Rate),
    ],
    needs: &["run"],
    speaks: Speaks::IfAsked(|word| word.starts_with("--report-interval")),
    adds: Some(Added {
        option: "--report-interval=1",
        unless: |word| word.starts_with("--report-"),
        hides: Some("[ "),
    }),
    gives: &[Quantity::Throughput, Quantity::Failed],
    load: || {
        let mut load = closed_loop(Some(1), "--threads");
        load.rate_option = Some("--rate".to_owned());
        load
    },
    read,
    ..PLAIN
};

const REPORT: u8 = 1;
const LATENCY: u8 = 2;
/// A checkpoint report came.
const PARTIAL: u8 = 3;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if let Some((at, said)) = line.strip_prefix("[ ").and_then(|it| it.split_once("s ] ")) {
        if said.starts_with("Checkpoint report") {
            report.part = PARTIAL;
        } else if let Some(at_ns) = scaled(at, 9) {
            report.live.mark();
            interval(report, at_ns, said);
        }
        return;
    }
    if let Some(threads) = line.strip_prefix("Number of threads: ") {
        report.summary.clients = threads.parse().ok();
    }
    if report.part != PARTIAL {
        closing(report, line);
    }
}

/// `[ 3s ] thds: 4 tps: 318.04 qps: 6396.80 (...) lat (ms,95%): 21.89 err/s: 1.00 reconn/s: 0.00`
fn interval(report: &mut Report, at_ns: i64, said: &str) {
    let after = |name: &str| {
        let mut words = said.split(' ').skip_while(|it| *it != name);
        words.nth(1)
    };
    let rate = after("tps:").or_else(|| after("eps:"));
    let rate = rate.and_then(|it| scaled(it, 3)).filter(|it| *it >= 0);
    let Some(rate) = rate else {
        return;
    };
    if let Some(bin) = report.live.until(at_ns) {
        let failed = after("err/s:").and_then(|it| scaled(it, 3));
        let failed = failed.filter(|it| *it >= 0);
        let failed = failed.map_or(MISSING, |milli| in_interval(milli, bin.interval_ns));
        report.live.rate(Bin { failed, ..bin }, rate);
    }
}

/// How many there were in an interval at a rate in thousandths.
fn in_interval(milli_per_second: i64, interval_ns: i64) -> i64 {
    let count = milli_per_second as f64 * interval_ns as f64 / 1e12;
    count.round() as i64
}

fn closing(report: &mut Report, line: &str) {
    match line {
        "SQL statistics:" | "CPU speed:" | "File operations:" | "General statistics:" => {
            report.part = REPORT;
        }
        "Latency (ms):" => report.part = LATENCY,
        _ => {}
    }
    if let Some(total) = line.strip_prefix("Total operations: ") {
        let rate = total
            .split_once(" (")
            .and_then(|(_, it)| it.strip_suffix(" per second)"));
        report.summary.throughput = rate.and_then(number);
    }
    let Some((name, value)) = line.strip_prefix("    ").and_then(|it| it.split_once(':')) else {
        return;
    };
    match (report.part, name.trim_start()) {
        (REPORT, "transactions") => {
            let (completed, rate) = counted(value);
            (report.summary.completed, report.summary.throughput) = (completed, rate);
        }
        (REPORT, "ignored errors") => report.summary.failed = counted(value).0,
        (REPORT, "events per second") => report.summary.throughput = number(value),
        (REPORT, "reads/s" | "writes/s") => report.sum += number(value).unwrap_or(f64::NAN),
        (REPORT, "fsyncs/s") => {
            let all = report.sum + number(value).unwrap_or(f64::NAN);
            report.summary.throughput = Some(all).filter(|it| it.is_finite());
        }
        (REPORT, "total time") => report.summary.duration_s = seconds(value),
        (REPORT, "total number of events") => {
            let events = count(value);
            report.summary.completed = report.summary.completed.or(events);
        }
        (LATENCY, "avg") => {
            // Less than half of the last digit is printed as 0.00.
            report.summary.latency_mean_ns = ms(value.trim()).filter(|mean| *mean > 0);
        }
        (LATENCY, "max") => report.quantile(1.0, ms(value.trim()).filter(|it| *it > 0)),
        (LATENCY, name) if name.ends_with("th percentile") => {
            // With --percentile=0 it prints 0.00.
            let rank = name.strip_suffix("th percentile").and_then(number);
            let time = ms(value.trim()).filter(|it| *it > 0);
            report.quantile(rank.map_or(-1.0, |it| it / 100.0), time);
        }
        (LATENCY, "execution time (avg/stddev)") => {
            report.is_whole = report.summary.duration_s.is_some();
        }
        _ => {}
    }
}

/// `4824   (321.35 per sec.)`
fn counted(value: &str) -> (Option<u64>, Option<f64>) {
    let Some((number_of, rate)) = value.split_once('(') else {
        return (None, None);
    };
    (
        count(number_of),
        rate.strip_suffix(" per sec.)").and_then(number),
    )
}
