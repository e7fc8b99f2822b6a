//! vegeta, an attack at a constant rate, by what `vegeta report` prints of it as text or as JSON. Seen run: vegeta 12.13.0.
//!
//! `vegeta attack` itself prints what only `vegeta report` reads, so that the two are run in a pipe, whose end is read. Of a
//! histogram (`-type=hist`) nothing is read. Completed are answers of 2xx and 3xx, as in its own `Success`; code 0 stands
//! for a request without an answer. The rate that it reports is of all requests; `throughput`, which is read, is of
//! those that were answered with success. It exits with 0 where every request failed. With `-every` it prints what was so
//! far, from which intervals follow; its mean is of all the time then, and no bin has it.

use serde_json::Value;

use crate::reports::measure::{count, duration, number};
use crate::reports::{
    Holds, Means, PLAIN, Report, Speaks, Style, Tool, add_quantile, closed_loop, opt,
};
use crate::{Quantity, Stream};

/// The adapter.
pub(crate) static VEGETA: Tool = Tool {
    name: "vegeta",
    programs: &["vegeta"],
    style: Style::Words,
    options: &[
        opt(&["-rate", "--rate"], Means::Rate),
        opt(&["-max-workers", "--max-workers"], Means::Clients),
        opt(&["-workers", "--workers"], Means::Other),
        opt(&["-connections", "--connections"], Means::Other),
        opt(&["-max-connections", "--max-connections"], Means::Other),
        opt(&["-duration", "--duration"], Means::Other),
        opt(&["-targets", "--targets"], Means::Other),
        opt(&["-format", "--format"], Means::Other),
        opt(&["-output", "--output"], Means::Other),
        opt(&["-timeout", "--timeout"], Means::Other),
        opt(&["-header", "--header"], Means::Other),
        opt(&["-body", "--body"], Means::Other),
        opt(&["-name", "--name"], Means::Other),
        opt(&["-type", "--type"], Means::Other),
        opt(&["-every", "--every"], Means::Other),
        opt(&["-buckets", "--buckets"], Means::Other),
    ],
    needs: &["attack"],
    speaks: Speaks::IfAsked(|word| word.trim_start_matches('-').starts_with("every")),
    gives: &[Quantity::Throughput, Quantity::Failed],
    load: || {
        let mut load = closed_loop(None, "-max-workers");
        load.rate = Some(50.0);
        load.rate_option = Some("-rate".to_owned());
        load
    },
    holds: Holds::AtEnd,
    read,
    ..PLAIN
};

/// How it clears the screen before a report that more will follow: the last one stands where the prompt was.
const CLEARED: &str = "\u{1b}[2J\u{1b}[0;0H";
/// In a report that is the only one, or the last.
const LAST: u8 = 1;
/// In a report of all the time so far.
const SO_FAR: u8 = 2;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    let (is_cleared, line) = match line.strip_prefix(CLEARED) {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    if line.starts_with("{\"latencies\":{") {
        // One that was cut off is no document.
        let document: Option<Value> = serde_json::from_str(line).ok();
        report.is_whole = document.and_then(|it| json(report, &it)).is_some();
        return;
    }
    if line.starts_with("Requests ") {
        report.summary = <_>::default();
        report.is_whole = false;
        report.part = if is_cleared { SO_FAR } else { LAST };
    }
    if report.part == 0 {
        return;
    }
    if line == "Error Set:" {
        // A report of the time so far is of a part of the run.
        report.is_whole = report.part == LAST && report.summary.completed.is_some();
        interval(report);
        if report.part == LAST {
            report.part = 0;
        }
    } else if let Some((name, values)) = line.split_once(']') {
        let values: Vec<&str> = values.trim().split(", ").collect();
        text(report, name, &values);
    }
}

/// `Requests      [total, rate, throughput]         300, 100.33, 33.44`
fn text(report: &mut Report, name: &str, values: &[&str]) {
    let summary = &mut report.summary;
    match (name.split_once('[').map(|(name, _)| name.trim()), values) {
        (Some("Requests"), [_, _, throughput]) => summary.throughput = number(throughput),
        (Some("Duration"), [total, _, _]) => {
            summary.duration_s = duration(total).map(|ns| ns as f64 / 1e9);
        }
        (Some("Latencies"), [_, mean, p50, p90, p95, p99, most]) => {
            summary.latency_mean_ns = duration(mean).filter(|mean| *mean > 0);
            for (q, said) in [
                (0.5, p50),
                (0.9, p90),
                (0.95, p95),
                (0.99, p99),
                (1.0, most),
            ] {
                report.quantile(q, duration(said));
            }
        }
        (Some("Status Codes"), [codes]) => {
            let counts = codes.split_whitespace().map(|it| it.split_once(':'));
            let counts = counts.map(|it| it.and_then(|(code, of)| Some((code, count(of)?))));
            statuses(report, counts);
        }
        _ => {}
    }
}

/// Answers by their code; one that is not understood leaves no sum.
fn statuses<'a>(report: &mut Report, counts: impl Iterator<Item = Option<(&'a str, u64)>>) {
    let (mut completed, mut failed) = (0_u64, 0_u64);
    for counted in counts {
        let Some((Ok(code), count)) = counted.map(|(code, count)| (code.parse::<u16>(), count))
        else {
            return;
        };
        let sum = if (200..400).contains(&code) {
            &mut completed
        } else {
            &mut failed
        };
        *sum = sum.saturating_add(count);
    }
    (report.summary.completed, report.summary.failed) = (Some(completed), Some(failed));
}

/// Ends an interval, where the time so far was printed, or was before.
fn interval(report: &mut Report) {
    let summary = &report.summary;
    let (Some(took), Some(completed), Some(failed)) =
        (summary.duration_s, summary.completed, summary.failed)
    else {
        return;
    };
    if report.part == SO_FAR || report.live.has_totals() {
        let bin = report.live.until((took * 1e9).round() as i64);
        report.live.totals(bin, completed, failed);
    }
}

fn json(report: &mut Report, document: &Value) -> Option<()> {
    let latencies = &document["latencies"];
    let ns = |name: &str| latencies[name].as_i64();
    let summary = &mut report.summary;
    *summary = <_>::default();
    let all = document["duration"].as_f64()? + document["wait"].as_f64()?;
    summary.throughput = Some(document["throughput"].as_f64()?);
    summary.duration_s = Some(all / 1e9);
    summary.latency_mean_ns = ns("mean").filter(|mean| *mean > 0);
    for (q, name) in [
        (0.5, "50th"),
        (0.9, "90th"),
        (0.95, "95th"),
        (0.99, "99th"),
        (1.0, "max"),
    ] {
        add_quantile(&mut summary.latency_quantiles, q, ns(name));
    }
    let codes = document["status_codes"].as_object()?.iter();
    statuses(
        report,
        codes.map(|(code, count)| Some((code.as_str(), count.as_u64()?))),
    );
    report.summary.completed.map(drop)
}
