//! oha, closed loop but with `-q`, by its report as text and as JSON (`--output-format json`). Seen run: oha 1.16.0.
//!
//! Requests that the end of the run cut off are none of its failures, and not counted; its rate has them, and failed ones.
//! Its mean and its quantiles are of all answers, of 4xx and 5xx too. Without a terminal it draws nothing while it runs.
//! Its report has no end of its own: only with success is it whole. `--output-format csv` is not read.

use serde_json::Value;

use crate::Stream;
use crate::reports::measure::{count, duration, number, seconds};
use crate::reports::{Holds, Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static OHA: Tool = Tool {
    name: "oha",
    programs: &["oha"],
    style: Style::Letters,
    options: &[
        opt(&["-c"], Means::Clients),
        opt(&["-q"], Means::Rate),
        opt(&["-n"], Means::Other),
        opt(&["-z"], Means::Other),
        opt(&["-p"], Means::Other),
        opt(&["-w"], Means::Other),
        opt(&["-m", "--method"], Means::Other),
        opt(&["-H"], Means::Other),
        opt(&["-t"], Means::Other),
        opt(&["-A"], Means::Other),
        opt(&["-d"], Means::Other),
        opt(&["-D"], Means::Other),
        opt(&["-Z"], Means::Other),
        opt(&["-F", "--form"], Means::Other),
        opt(&["-T"], Means::Other),
        opt(&["-a"], Means::Other),
        opt(&["-x"], Means::Other),
        opt(&["-r", "--redirect"], Means::Other),
        opt(&["-o", "--output"], Means::Other),
        opt(&["-u", "--time-unit"], Means::Other),
        opt(&["--output-format"], Means::Other),
    ],
    load: || {
        let mut load = closed_loop(Some(50), "-c");
        load.rate_option = Some("-q".to_owned());
        load
    },
    holds: Holds::WithSuccess,
    read,
    ..PLAIN
};

const SUMMARY: u8 = 1;
const DISTRIBUTION: u8 = 2;
const OTHER: u8 = 3;
const STATUS: u8 = 4;
const ERRORS: u8 = 5;

/// How it calls what was under way when the time was up.
const CUT_OFF: &str = "aborted due to deadline";
/// The JSON is not kept beyond this many bytes.
const LONGEST_JSON: usize = 1 << 20;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if report.is_document(line, ["{", "}"], LONGEST_JSON) {
        if let Some(text) = report.document() {
            let document: Option<Value> = serde_json::from_str(&text).ok();
            report.is_whole = document.and_then(|it| json(report, &it)).is_some();
        }
        return;
    }
    match line {
        "Summary:" => report.part = SUMMARY,
        "Response time distribution:" if report.part > 0 => report.part = DISTRIBUTION,
        "Status code distribution:" if report.part > 0 => {
            report.part = STATUS;
            report.is_whole = report.summary.throughput.is_some();
            (report.summary.completed, report.summary.failed) = (Some(0), Some(0));
        }
        "Error distribution:" if report.part == STATUS => report.part = ERRORS,
        "" if report.part == DISTRIBUTION => report.part = OTHER,
        _ => {}
    }
    match report.part {
        SUMMARY => summary(report, line),
        DISTRIBUTION => {
            if let Some((rank, time)) = line.split_once("% in ") {
                let rank = number(rank);
                report.quantile(rank.map_or(-1.0, |it| it / 100.0), duration(time));
            }
        }
        STATUS | ERRORS => counted(report, line),
        _ => {}
    }
}

fn summary(report: &mut Report, line: &str) {
    let Some((name, value)) = line.split_once(":\t") else {
        return;
    };
    match name {
        "  Total" => report.summary.duration_s = seconds(value),
        "  Average" => report.summary.latency_mean_ns = duration(value).filter(|it| *it > 0),
        "  Slowest" => report.quantile(1.0, duration(value)),
        "  Requests/sec" => report.summary.throughput = number(value),
        _ => {}
    }
}

/// `  [200] 1206 responses`, or of an error `  [12] Connection refused`.
fn counted(report: &mut Report, line: &str) {
    let inner = line.strip_prefix("  [").and_then(|it| it.split_once("] "));
    let Some((number, rest)) = inner else {
        return;
    };
    if report.part == ERRORS {
        error(report, rest, count(number));
    } else {
        let responses = rest.strip_suffix(" responses").and_then(count);
        status(report, number, responses);
    }
}

fn status(report: &mut Report, code: &str, responses: Option<u64>) {
    match code.parse::<u16>() {
        Ok(100..400) => report.add_completed(responses),
        Ok(400..) => report.add_failed(responses),
        _ => {}
    }
}

fn error(report: &mut Report, name: &str, times: Option<u64>) {
    if name != CUT_OFF {
        report.add_failed(times);
    }
}

/// `None` for another document; times are in s, and `null` where there was no answer.
fn json(report: &mut Report, document: &Value) -> Option<()> {
    let said = &document["summary"];
    let ns = |value: &Value| value.as_f64().map(|seconds| (seconds * 1e9).round() as i64);
    let codes = document["statusCodeDistribution"].as_object()?;
    let errors = document["errorDistribution"].as_object()?;
    report.summary = <_>::default();
    report.summary.throughput = Some(said["requestsPerSec"].as_f64()?);
    report.summary.duration_s = Some(said["total"].as_f64()?);
    report.summary.latency_mean_ns = ns(&said["average"]).filter(|it| *it > 0);
    for (rank, value) in document["latencyPercentiles"].as_object()? {
        let rank = rank.strip_prefix('p').and_then(number);
        report.quantile(rank.map_or(-1.0, |it| it / 100.0), ns(value));
    }
    report.quantile(1.0, ns(&said["slowest"]));
    (report.summary.completed, report.summary.failed) = (Some(0), Some(0));
    for (code, responses) in codes {
        status(report, code, responses.as_u64());
    }
    for (name, times) in errors {
        error(report, name, times.as_u64());
    }
    Some(())
}
