//! k6, by the summary that it prints at its end. Seen run: k6 1.8.1; the summary of 0.x is read as its manual shows it.
//!
//! An operation is an HTTP request, or an iteration in a script that makes none. While it runs it prints iterations only,
//! each of any number of requests and pauses, which are not read. It exits with 0 where every request failed, and with 99
//! where a threshold was crossed. What `-o json=FILE` writes tells the requests apart.

mod json;

use crate::Stream;
use crate::reports::measure::{count, duration, number, seconds};
use crate::reports::{Means, PLAIN, Report, Results, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static K6: Tool = Tool {
    name: "k6",
    programs: &["k6"],
    style: Style::Letters,
    options: &[
        opt(&["-u", "--vus"], Means::Clients),
        opt(&["--rps"], Means::Rate),
        opt(&["-d", "--duration"], Means::Other),
        opt(&["-i", "--iterations"], Means::Other),
        opt(&["-s", "--stage"], Means::Other),
        opt(&["-o", "--out"], Means::Results),
        opt(&["-e", "--env"], Means::Other),
        opt(&["-c", "--config"], Means::Other),
        opt(&["-a", "--address"], Means::Other),
        opt(&["-l"], Means::Other),
        opt(&["--summary-export"], Means::Other),
        opt(&["--summary-trend-stats"], Means::Other),
        opt(&["--summary-time-unit"], Means::Other),
        opt(&["--summary-mode"], Means::Other),
        opt(&["--tag"], Means::Other),
        opt(&["--log-output"], Means::Other),
        opt(&["--log-format"], Means::Other),
    ],
    needs: &["run"],
    // Virtual users are in the script.
    load: || closed_loop(None, "--vus"),
    results: Some(Results {
        prefix: "json=",
        read: json::read,
    }),
    read,
    ..PLAIN
};

/// Behind the totals come groups and scenarios, which repeat their names.
const PARTS_OF_TOTAL: u8 = 1;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout || report.part == PARTS_OF_TOTAL {
        return;
    }
    let text = line.trim();
    if text.starts_with("\u{2588} GROUP") || text.starts_with("\u{2588} SCENARIO") {
        report.part = PARTS_OF_TOTAL;
    } else if let Some(took) = text.strip_prefix("running (") {
        if report.summary.throughput.is_some() {
            let took = took.split_once("), ").and_then(|(took, _)| seconds(took));
            report.summary.duration_s = took;
            report.is_whole = true;
        }
    } else if let Some((name, value)) = metric(text) {
        take(report, name, value);
    }
}

/// `http_reqs......................: 1058   104.762384/s`; before version 1 a mark may stand before the name.
fn metric(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['\u{2713}', '\u{2717}', ' ']);
    let (name, value) = text.split_once(": ")?;
    let bare = name.trim_end_matches('.');
    let is_name =
        name.len() > bare.len() && bare.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    is_name.then_some((bare, value.trim()))
}

fn take(report: &mut Report, name: &str, value: &str) {
    let mut words = value.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rate = words.next().and_then(|it| number(it.strip_suffix("/s")?));
    match name {
        "http_req_duration" => {
            let mean = first.strip_prefix("avg=").and_then(duration);
            for (name, said) in value.split_whitespace().filter_map(|it| it.split_once('=')) {
                let time = duration(said).filter(|time| *time > 0);
                report.quantile(rank(name).unwrap_or(-1.0), time);
            }
            // Requests that were refused took no time.
            report.summary.latency_mean_ns = mean.filter(|mean| *mean > 0);
        }
        "http_req_failed" => report.summary.failed = failed(value),
        "http_reqs" => {
            let all = count(first);
            let failed = report.summary.failed;
            report.summary.completed = all
                .zip(failed)
                .and_then(|(all, failed)| all.checked_sub(failed));
            report.summary.throughput = rate;
        }
        "dropped_iterations" => report.summary.skipped = count(first),
        "iterations" if report.summary.throughput.is_none() => {
            report.summary.completed = count(first);
            report.summary.throughput = rate;
        }
        "vus_max" => {
            report.summary.clients = first.parse().ok();
            report.is_whole = report.summary.throughput.is_some();
        }
        _ => {}
    }
}

/// `med`, `p(99.9)`, `max`
fn rank(name: &str) -> Option<f64> {
    match name {
        "med" => Some(0.5),
        "max" => Some(1.0),
        _ => {
            let percent = name.strip_prefix("p(")?.strip_suffix(')')?;
            number(percent).map(|it| it / 100.0)
        }
    }
}

/// `2.07%  22 out of 1058`; before version 1 `2.07% ✓ 22        ✗ 1036`.
fn failed(value: &str) -> Option<u64> {
    let (_, counts) = value.split_once('%')?;
    match counts.split_once(" out of ") {
        Some((failed, _)) => count(failed),
        None => {
            let failed = counts.trim().strip_prefix('\u{2713}')?;
            count(failed.split_once('\u{2717}')?.0)
        }
    }
}
