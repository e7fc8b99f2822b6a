//! Locust without its pages (`--headless`), by the tables that it prints on standard error every 2 s and at its end, and by
//! the JSON of `--json`. Seen run: Locust 2.47.0.
//!
//! `# reqs` holds the failed requests too, and so do its rate and its times. Its mean is in whole ms, the part behind the
//! point cut off, and of the whole time so far, so that no bin has it; that of the JSON is exact. Names are told apart by
//! method and name, as its own tables do; with `--json` its last table has zeros for them, and the JSON stands for it. It
//! exits with 1 where a request failed, unless the script says otherwise.

use serde_json::Value;

use crate::decimal::ms;
use crate::reports::measure::{count, number};
use crate::reports::{
    Holds, Means, PLAIN, Report, Speaks, Style, Tool, add_quantile, closed_loop, opt,
};
use crate::{Quantity, Stream};

/// The adapter.
pub(crate) static LOCUST: Tool = Tool {
    name: "locust",
    programs: &["locust"],
    style: Style::Letters,
    options: &[
        opt(&["-u", "--users"], Means::Clients),
        opt(&["-r", "--spawn-rate"], Means::Other),
        opt(&["-t", "--run-time"], Means::Other),
        opt(&["-f", "--locustfile"], Means::Other),
        opt(&["-H", "--host"], Means::Other),
        opt(&["-s", "--stop-timeout"], Means::Other),
        opt(&["-T", "--tags"], Means::Other),
        opt(&["-E", "--exclude-tags"], Means::Other),
        opt(&["-L", "--loglevel"], Means::Other),
        opt(&["-P", "--web-port"], Means::Other),
        opt(&["--csv"], Means::Other),
        opt(&["--html"], Means::Other),
        opt(&["--logfile"], Means::Other),
        opt(&["--config"], Means::Other),
    ],
    needs: &["--headless"],
    speaks: Speaks::Always,
    gives: &[Quantity::Throughput, Quantity::Failed],
    load: || closed_loop(Some(1), "-u"),
    holds: Holds::AtEnd,
    read,
    ..PLAIN
};

/// It prints a table this often, ns (`CONSOLE_STATS_INTERVAL_SEC`). A script can change it, and there are no intervals then.
const EVERY_NS: i64 = 2_000_000_000;

/// Behind `Shutting down`: the tables are of the whole run.
const CLOSING: u8 = 1;
/// In the table of quantiles.
const QUANTILES: u8 = 2;
const ERRORS: u8 = 3;
/// What it is all about stands in this line of each table.
const ALL: &str = "Aggregated";
/// The ranks of its table of quantiles that are kept.
const RANKS: [(&str, f64); 6] = [
    ("50%", 0.5),
    ("90%", 0.9),
    ("95%", 0.95),
    ("99%", 0.99),
    ("99.9%", 0.999),
    ("100%", 1.0),
];
/// The JSON is not kept beyond this many bytes.
const LONGEST_JSON: usize = 4 << 20;

fn read(report: &mut Report, stream: Stream, line: &str) {
    match stream {
        Stream::Stdout => json(report, line),
        Stream::Stderr => table(report, line),
    }
}

fn table(report: &mut Report, line: &str) {
    if line.contains("/INFO/locust.main: Shutting down (exit code ") {
        report.part = CLOSING;
    } else if line.starts_with("Response time percentiles (approximated)") && report.part == CLOSING
    {
        report.part = QUANTILES;
    } else if line == "Error report" {
        report.part = ERRORS;
    } else if report.part == QUANTILES {
        quantiles(report, line);
    } else if let Some(row) = Row::parse(line).filter(|_| report.part != ERRORS) {
        take(report, &row);
    }
}

/// `GET      /bad       722 722(100.00%) |      6       0      84      5 |   86.01       86.01`
struct Row {
    name: String,
    requests: u64,
    failed: u64,
    mean_ns: Option<i64>,
    rate: Option<f64>,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        // A name may hold the separator: columns are counted from the end.
        let (rest, rates) = line.rsplit_once('|')?;
        let (counts, times) = rest.rsplit_once('|')?;
        let (counts, failed) = counts.trim_end().rsplit_once(' ')?;
        let (name, requests) = counts.trim_end().rsplit_once(' ')?;
        let failed = count(failed.split_once('(')?.0)?;
        let requests = count(requests)?;
        let times: Vec<&str> = times.split_whitespace().collect();
        let [mean, _, _, _] = times[..] else {
            return None;
        };
        Some(Self {
            name: name_of(name)?,
            requests,
            failed: Some(failed).filter(|failed| *failed <= requests)?,
            // 0 stands for less than 1 ms.
            mean_ns: ms(mean).filter(|mean| *mean > 0),
            rate: rates.split_whitespace().next().and_then(number),
        })
    }
}

/// Method and name, as they stand in columns.
fn name_of(columns: &str) -> Option<String> {
    let columns = columns.trim();
    let name = match columns.split_once(' ') {
        Some((method, name)) => format!("{method} {}", name.trim_start()),
        None => columns.to_owned(),
    };
    (!name.is_empty()).then_some(name)
}

fn take(report: &mut Report, row: &Row) {
    let completed = row.requests - row.failed;
    if row.name != ALL {
        report.live.totals_of(&row.name, completed, row.failed);
        if report.part == CLOSING && row.requests > 0 {
            let kind = report.kind(&row.name);
            (kind.completed, kind.failed) = (Some(completed), Some(row.failed));
            kind.latency_mean_ns = row.mean_ns;
            kind.throughput = row.rate;
        }
        return;
    }
    if report.part == CLOSING {
        let summary = &mut report.summary;
        (summary.completed, summary.failed) = (Some(completed), Some(row.failed));
        summary.latency_mean_ns = row.mean_ns;
        summary.throughput = row.rate;
    }
    // The table at the start is no interval.
    if !report.live.has_totals() && row.requests == 0 {
        report.live.begin();
        report.live.totals(None, 0, 0);
    } else if report.live.has_totals() {
        let bin = report.live.of_length(EVERY_NS);
        report.live.totals(bin, completed, row.failed);
    }
}

/// The header names the ranks, and each row ends with as many numbers and a count.
fn quantiles(report: &mut Report, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let ["Type", "Name", ranks @ .., "#", "reqs"] = &words[..] {
        report.columns = ranks.iter().map(|rank| (*rank).to_owned()).collect();
        return;
    }
    let ranks = std::mem::take(&mut report.columns);
    // A count stands behind the last rank.
    let numbers = words.len().checked_sub(ranks.len() + 1);
    if let Some(at) = numbers.filter(|at| *at > 0 && !ranks.is_empty()) {
        let name = words[..at].join(" ");
        let is_all = name == ALL;
        for (q, said) in ranks.iter().zip(&words[at..]).filter_map(|(rank, said)| {
            let known = RANKS.iter().find(|(name, _)| name == rank);
            Some((known?.1, *said))
        }) {
            // Times are in whole ms.
            let latency_ns = ms(said);
            if is_all {
                report.quantile(q, latency_ns);
            } else if let Some(kind) = of_words(report, &name) {
                add_quantile(kind, q, latency_ns);
            }
        }
        report.is_whole |= is_all && report.summary.completed.is_some();
    }
    report.columns = ranks;
}

/// The kind whose name has these words: a table does not keep the blanks within a name.
fn of_words<'a>(
    report: &'a mut Report,
    words: &str,
) -> Option<&'a mut Vec<model::LatencyQuantile>> {
    let mut kinds = report.summary.scripts.iter_mut();
    let kind = kinds.find(|it| it.name.split_whitespace().eq(words.split(' ')))?;
    Some(&mut kind.latency_quantiles)
}

/// What `--json` prints.
fn json(report: &mut Report, line: &str) {
    report.is_document(line, ["[", "]"], LONGEST_JSON);
    let text = report.document();
    if let Some(Ok(Value::Array(names))) = text.map(|it| serde_json::from_str(&it)) {
        for name in &names {
            let _ = named(report, name);
        }
    }
}

/// What the JSON says of a name; `None` where it says something else.
fn named(report: &mut Report, said: &Value) -> Option<()> {
    let name = format!("{} {}", said["method"].as_str()?, said["name"].as_str()?);
    let name = name_of(&name)?;
    let (requests, failed) = (
        said["num_requests"].as_u64()?,
        said["num_failures"].as_u64()?,
    );
    let completed = requests.checked_sub(failed)?;
    let timed = requests.checked_sub(said["num_none_requests"].as_u64()?)?;
    let times = said["response_times"].as_object()?;
    let mut times: Vec<(i64, u64)> = times
        .iter()
        .filter_map(|(ms, count)| Some((ms.parse().ok()?, count.as_u64()?)))
        .collect();
    times.sort_unstable();
    let mean = said["total_response_time"].as_f64()? * 1e6 / timed as f64;
    let kind = report.kind(&name);
    (kind.completed, kind.failed) = (Some(completed), Some(failed));
    kind.latency_mean_ns = (mean.is_finite() && mean > 0.0).then_some(mean as i64);
    for (_, q) in RANKS {
        add_quantile(&mut kind.latency_quantiles, q, ranked(&times, q));
    }
    Some(())
}

/// The time in ns that as many of all do not exceed, of times in ms with how often each was met.
fn ranked(times: &[(i64, u64)], q: f64) -> Option<i64> {
    let all = times.iter().map(|it| it.1 as f64).sum::<f64>();
    let rank = (all * q).ceil().max(1.0);
    let mut sum = 0.0;
    let found = times.iter().find(|(_, count)| {
        sum += *count as f64;
        sum >= rank
    });
    found.and_then(|(ms, _)| ms.checked_mul(1_000_000))
}
