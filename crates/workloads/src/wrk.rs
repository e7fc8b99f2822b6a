//! wrk 4 and wrk2, closed loop (wrk2 with `-R`: at a rate). Seen run: wrk 4.1.0.
//!
//! Requests whose answer is not 2xx or 3xx are among its requests and in its rate; it exits with 0 all the same.
//! Socket errors are no requests.

use crate::Stream;
use crate::reports::measure::{count, duration, number, seconds};
use crate::reports::{Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static WRK: Tool = Tool {
    name: "wrk",
    programs: &["wrk", "wrk2"],
    style: Style::Letters,
    options: &[
        opt(&["-c", "--connections"], Means::Clients),
        opt(&["-t", "--threads"], Means::Threads),
        opt(&["-R", "--rate"], Means::Rate),
        opt(&["-d", "--duration"], Means::Other),
        opt(&["-s", "--script"], Means::Other),
        opt(&["-H", "--header"], Means::Other),
        opt(&["--timeout"], Means::Other),
    ],
    load: || {
        let mut load = closed_loop(Some(10), "-c");
        load.threads = Some(2);
        load
    },
    read,
    ..PLAIN
};

const REPORT: u8 = 1;
/// In the quantiles that `--latency` prints.
const DISTRIBUTION: u8 = 2;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if line.starts_with("Running ") && line.contains(" test @ ") {
        report.part = REPORT;
    }
    if report.part == 0 {
        return;
    }
    if line.starts_with("  Latency Distribution") {
        report.part = DISTRIBUTION;
        return;
    }
    if report.part == DISTRIBUTION {
        // `     99%    2.87ms`, of wrk2 ` 99.000%    2.87ms`
        let said = line.split_once('%').and_then(|(rank, time)| {
            let rank = number(rank).map(|it| it / 100.0)?;
            Some((rank, duration(time)))
        });
        if let Some((rank, time)) = said {
            report.quantile(rank, time);
            return;
        }
    }
    if let Some(rest) = line.strip_prefix("    Latency ") {
        let words: Vec<_> = rest.split_whitespace().collect();
        if let [mean, deviation, _, _] = words[..] {
            report.summary.latency_mean_ns = duration(mean);
            report.summary.latency_stddev_ns = duration(deviation);
        }
    } else if let Some((requests, rest)) = line.split_once(" requests in ") {
        let took = rest
            .split_once(", ")
            .filter(|(_, it)| it.ends_with(" read"));
        if let Some((took, _)) = took {
            report.summary.completed = count(requests);
            report.summary.duration_s = seconds(took);
            report.summary.failed = Some(0);
        }
    } else if let Some(rest) = line.strip_prefix("  Socket errors: ") {
        for part in rest.split(", ") {
            report.add_failed(part.split_once(' ').and_then(|(_, it)| count(it)));
        }
    } else if let Some(rest) = line.strip_prefix("  Non-2xx or 3xx responses: ") {
        report.part_failed(count(rest));
    } else if let Some(rest) = line.strip_prefix("Requests/sec:") {
        report.summary.throughput = number(rest);
        report.is_whole = report.summary.throughput.is_some();
    }
}
