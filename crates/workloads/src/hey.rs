//! hey, closed loop; `-q` is a limit for each worker. Seen run: hey 0.1.4.
//!
//! Answers of 4xx and 5xx are in its rate and in its latency.

use crate::Stream;
use crate::reports::measure::{count, duration, number, seconds};
use crate::reports::{Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static HEY: Tool = Tool {
    name: "hey",
    programs: &["hey"],
    style: Style::Words,
    options: &[
        opt(&["-c"], Means::Clients),
        opt(&["-q"], Means::RatePerClient),
        opt(&["-n"], Means::Other),
        opt(&["-z"], Means::Other),
        opt(&["-o"], Means::Other),
        opt(&["-m"], Means::Other),
        opt(&["-H"], Means::Other),
        opt(&["-t"], Means::Other),
        opt(&["-A"], Means::Other),
        opt(&["-d"], Means::Other),
        opt(&["-D"], Means::Other),
        opt(&["-T"], Means::Other),
        opt(&["-a"], Means::Other),
        opt(&["-x"], Means::Other),
        opt(&["-U"], Means::Other),
        opt(&["-host"], Means::Other),
        opt(&["-cpus"], Means::Other),
    ],
    load: || closed_loop(Some(50), "-c"),
    read,
    ..PLAIN
};

const SUMMARY: u8 = 1;
const STATUS: u8 = 2;
const DISTRIBUTION: u8 = 5;
const AFTER_STATUS: u8 = 3;
const ERRORS: u8 = 4;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    match line {
        "Summary:" => report.part = SUMMARY,
        "Latency distribution:" if report.part == SUMMARY => report.part = DISTRIBUTION,
        "Status code distribution:" if report.part > 0 => report.part = STATUS,
        "Error distribution:" if report.part > 0 => report.part = ERRORS,
        // After the codes comes an empty line, and then the errors or another empty line.
        "" if report.part == STATUS => report.part = AFTER_STATUS,
        "" if matches!(report.part, AFTER_STATUS | ERRORS) => {
            report.is_whole = true;
            report.summary.failed.get_or_insert(0);
        }
        _ => {}
    }
    match report.part {
        SUMMARY => summary(report, line),
        DISTRIBUTION => {
            if let Some((rank, time)) = line.split_once("% in ") {
                let rank = number(rank).map_or(-1.0, |it| it / 100.0);
                report.quantile(rank, duration(time).filter(|time| *time > 0));
            }
        }
        STATUS | ERRORS => distribution(report, line),
        _ => {}
    }
}

fn summary(report: &mut Report, line: &str) {
    let Some((name, value)) = line.split_once(':') else {
        return;
    };
    match name {
        "  Total" => report.summary.duration_s = seconds(value),
        "  Average" => report.summary.latency_mean_ns = duration(value),
        "  Requests/sec" => report.summary.throughput = number(value),
        _ => {}
    }
}

/// `  [200]\t1206 responses`, or of an error `  [12]\tGet "http://..."`.
fn distribution(report: &mut Report, line: &str) {
    let inner = line.strip_prefix("  [").and_then(|it| it.split_once("]\t"));
    let Some((number, rest)) = inner else {
        return;
    };
    if report.part == ERRORS {
        report.add_failed(count(number));
        return;
    }
    let responses = rest.strip_suffix(" responses").and_then(count);
    match number.parse::<u16>() {
        Ok(100..400) => report.add_completed(responses),
        Ok(400..) => report.add_failed(responses),
        _ => {}
    }
}
