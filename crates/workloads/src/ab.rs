//! ab, Apache's HTTP benchmark, closed loop. Seen run: ab 2.3.
//!
//! Its `Failed requests` count answers whose length differs from the first one's, as those of any changing page do:
//! failed are here connections, reads and exceptions, and answers that are not 2xx. Its `Time per request` is
//! clients x time / requests; the mean that it measured, in whole ms, is that of its table of connection times.

use crate::Stream;
use crate::decimal::ms;
use crate::reports::measure::{count, number, seconds};
use crate::reports::{Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static AB: Tool = Tool {
    name: "ab",
    programs: &["ab"],
    style: Style::Letters,
    options: &[
        opt(&["-c"], Means::Clients),
        opt(&["-n"], Means::Other),
        opt(&["-t"], Means::Other),
        opt(&["-s"], Means::Other),
        opt(&["-b"], Means::Other),
        opt(&["-B"], Means::Other),
        opt(&["-p"], Means::Other),
        opt(&["-u"], Means::Other),
        opt(&["-T"], Means::Other),
        opt(&["-v"], Means::Other),
        opt(&["-x"], Means::Other),
        opt(&["-y"], Means::Other),
        opt(&["-z"], Means::Other),
        opt(&["-C"], Means::Other),
        opt(&["-H"], Means::Other),
        opt(&["-A"], Means::Other),
        opt(&["-P"], Means::Other),
        opt(&["-X"], Means::Other),
        opt(&["-g"], Means::Other),
        opt(&["-e"], Means::Other),
        opt(&["-m"], Means::Other),
        opt(&["-f"], Means::Other),
        opt(&["-Z"], Means::Other),
        opt(&["-E"], Means::Other),
    ],
    load: || closed_loop(Some(1), "-c"),
    read,
    ..PLAIN
};

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if line.starts_with("Concurrency Level:") {
        report.part = 1;
    }
    if report.part == 0 {
        return;
    }
    if line.starts_with("   (Connect: ") {
        failures(report, line);
        return;
    }
    if let Some((rank, time)) = line.split_once("%  ") {
        // `  99%    207`, and `(longest request)` behind the last; below 0.5 ms it is printed as 0.
        let time = time.split_whitespace().next().and_then(ms);
        let rank = number(rank).map_or(-1.0, |it| it / 100.0);
        report.quantile(rank, time.filter(|time| *time > 0));
        return;
    }
    let Some((name, value)) = line.split_once(':') else {
        return;
    };
    let value = value.trim();
    match name {
        "Concurrency Level" => report.summary.clients = value.parse().ok(),
        "Time taken for tests" => report.summary.duration_s = seconds(value),
        "Complete requests" => {
            report.summary.completed = count(value);
            report.summary.failed = Some(0);
        }
        "Non-2xx responses" => {
            report.part_failed(count(value));
        }
        "Requests per second" => {
            let rate = value.strip_suffix(" [#/sec] (mean)");
            report.summary.throughput = rate.and_then(number);
        }
        "Total" => total(report, value),
        _ => {}
    }
}

/// `(Connect: 0, Receive: 0, Length: 67, Exceptions: 0)`
fn failures(report: &mut Report, line: &str) {
    let inner = line.trim().trim_matches(['(', ')']);
    for (name, value) in inner.split(", ").filter_map(|part| part.split_once(": ")) {
        if name != "Length" {
            report.add_failed(count(value));
        }
    }
}

/// `1   32  74.5     19    1315`: least, mean, deviation, median, most, ms. A mean below 0.5 ms is printed as 0.
fn total(report: &mut Report, value: &str) {
    let words: Vec<_> = value.split_whitespace().collect();
    if let [_, mean, deviation, _, _] = words[..] {
        report.summary.latency_mean_ns = ms(mean).filter(|mean| *mean > 0);
        report.summary.latency_stddev_ns = ms(deviation);
        report.is_whole = report.summary.throughput.is_some();
    }
}
