//! YCSB, closed loop, or with `-target` at a rate. Seen run: YCSB 0.17.0.
//!
//! With `-s` it prints a line on standard error every 10 s (`-p status.interval=1` for 1 s): operations so far, and count
//! and mean latency of each kind since the line before. Its output has no end of its own: only with success is it whole.

use model::MISSING;

use crate::decimal::scaled;
use crate::reports::measure::{clock_seconds, count, date_days, number};
use crate::reports::{
    Holds, Means, PLAIN, Report, Speaks, Style, Tool, add_quantile, closed_loop, opt,
};
use crate::{Bin, Quantity, Stream};

/// The adapter.
pub(crate) static YCSB: Tool = Tool {
    name: "ycsb",
    programs: &["ycsb", "ycsb.sh"],
    java: &["site.ycsb.Client", "com.yahoo.ycsb.Client"],
    style: Style::Words,
    options: &[
        opt(&["-threads"], Means::Clients),
        opt(&["-target"], Means::Rate),
        opt(&["-db"], Means::Other),
        opt(&["-P"], Means::Other),
        opt(&["-p"], Means::Other),
        opt(&["-l"], Means::Other),
        opt(&["-cp"], Means::Other),
        opt(&["-jvm-args"], Means::Other),
    ],
    needs: &["-t", "-load", "run", "load"],
    speaks: Speaks::IfAsked(|word| word == "-s"),
    gives: &[Quantity::Throughput, Quantity::Latency],
    load: || {
        let mut load = closed_loop(Some(1), "-threads");
        load.rate_option = Some("-target".to_owned());
        load
    },
    holds: Holds::WithSuccess,
    read,
    ..PLAIN
};

/// Whether a kind is none of the load's operations: the end of a client, those that failed, which are told by their
/// outcome too, and the same ones counted from their schedule.
fn is_other(kind: &str) -> bool {
    kind == "CLEANUP" || kind.ends_with("-FAILED") || kind.starts_with("Intended-")
}

fn read(report: &mut Report, stream: Stream, line: &str) {
    match stream {
        Stream::Stderr => status(report, line),
        Stream::Stdout => closing(report, line),
    }
}

/// `2026-11-21 19:03:18:985 2 sec: 3316 operations; 2075 current ops/sec; est ... [READ: Count=1969, ..., Avg=1894.88, ...] `
fn status(report: &mut Report, line: &str) {
    let Some((head, rest)) = line.split_once(" sec: ") else {
        return;
    };
    let Some((done, rest)) = rest.split_once(" operations; ") else {
        return;
    };
    // The last line of kinds ends so; another one is cut off, or of another form.
    let is_status = head.starts_with("20") && (rest.ends_with("] ") || rest.ends_with("ops/sec; "));
    let Some(done) = count(done).filter(|_| is_status) else {
        return;
    };
    let grown = report.live.grown(done);
    let bin = date_ns(head).and_then(|at_ns| report.live.until_date(at_ns));
    if let (Some(grown), Some(bin)) = (grown, bin) {
        let kinds = kinds(rest).unwrap_or_default();
        for (name, many, mean_ns) in &kinds {
            let own = Bin {
                latency_mean_ns: *mean_ns,
                ..bin.clone()
            };
            if let Some(throughput_milli) = own.rate_of(*many) {
                let own = Bin {
                    throughput_milli,
                    ..own
                };
                report.live.of_label(name, own);
            }
        }
        let latency_mean_ns = mean_ns(&kinds).unwrap_or(MISSING);
        let bin = Bin {
            latency_mean_ns,
            ..bin
        };
        report.live.count(bin, grown);
    }
}

/// `2026-11-21 19:03:18:985 2`, the number of seconds aside: in ns since 1970, as if all were in UTC.
fn date_ns(text: &str) -> Option<i64> {
    let mut words = text.split(' ');
    let (date, time) = (words.next()?, words.next()?);
    let (seconds, ms) = time.rsplit_once(':')?;
    let ms = ms.parse::<u16>().ok().filter(|it| *it < 1000)?;
    let seconds = clock_seconds(seconds)?;
    Some(((date_days(date)? * 86_400 + seconds) * 1000 + i64::from(ms)) * 1_000_000)
}

/// Name, number and mean latency (ns) of each kind of operation; `None` where one is of another form.
fn kinds(text: &str) -> Option<Vec<(&str, u64, i64)>> {
    let mut all = Vec::new();
    for kind in text.split('[').skip(1) {
        let (name, numbers) = kind.split_once(": ")?;
        let numbers = numbers.split_once(']')?.0;
        let of = |wanted: &str| {
            let mut numbers = numbers.split(", ").filter_map(|it| it.split_once('='));
            numbers
                .find(|(name, _)| *name == wanted)
                .map(|(_, number)| number)
        };
        let (many, mean) = (scaled(of("Count")?, 0)?, of("Avg")?);
        if !is_other(name) && many > 0 {
            all.push((name, u64::try_from(many).ok()?, scaled(mean, 3)?));
        }
    }
    Some(all)
}

/// The mean latency of all kinds, ns.
fn mean_ns(kinds: &[(&str, u64, i64)]) -> Option<i64> {
    let all: i128 = kinds.iter().map(|it| i128::from(it.1)).sum();
    let time: i128 = kinds
        .iter()
        .map(|it| i128::from(it.1) * i128::from(it.2))
        .sum();
    (all > 0).then(|| i64::try_from(time / all).ok()).flatten()
}

/// `[READ], AverageLatency(us), 1774.4852345107122`
fn closing(report: &mut Report, line: &str) {
    let mut parts = line.splitn(3, ", ");
    let (Some(kind), Some(name), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let Some(kind) = kind.strip_prefix('[').and_then(|it| it.strip_suffix(']')) else {
        return;
    };
    if kind == "OVERALL" {
        match name {
            "RunTime(ms)" => report.summary.duration_s = number(value).map(|it| it / 1e3),
            "Throughput(ops/sec)" => report.summary.throughput = number(value),
            _ => {}
        }
        return;
    }
    if is_other(kind) {
        return;
    }
    match name {
        "Operations" => report.kind(kind).completed = count(value),
        "MaxLatency(us)" => quantile(report, kind, "100", value),
        _ if name.ends_with("PercentileLatency(us)") => {
            let rank = name.trim_end_matches("thPercentileLatency(us)");
            quantile(
                report,
                kind,
                rank.trim_end_matches("PercentileLatency(us)"),
                value,
            );
        }
        "AverageLatency(us)" => report.kind(kind).latency_mean_ns = scaled(value, 3),
        _ => returned(report, kind, name, value),
    }
}

/// `[READ], 99thPercentileLatency(us), 8107`
fn quantile(report: &mut Report, kind: &str, percent: &str, value: &str) {
    let rank = number(percent).map_or(-1.0, |it| it / 100.0);
    add_quantile(
        &mut report.kind(kind).latency_quantiles,
        rank,
        scaled(value, 3),
    );
}

/// `[READ], Return=OK, 20724`
fn returned(report: &mut Report, kind: &str, name: &str, value: &str) {
    let Some(outcome) = name.strip_prefix("Return=") else {
        return;
    };
    let many = count(value);
    if matches!(outcome, "OK" | "BATCHED_OK") {
        report.add_completed(many);
        report.add_failed(Some(0));
    } else {
        report.add_failed(many);
        let failed = report.kind(kind).failed.unwrap_or(0);
        report.kind(kind).failed = many.map(|many| failed.saturating_add(many));
    }
    all(report);
}

/// The mean over all kinds, and whether each has its outcome.
fn all(report: &mut Report) {
    let kinds = report.summary.scripts.iter();
    let weighed: Option<Vec<(f64, f64)>> = kinds
        .map(|it| Some((it.completed? as f64, it.latency_mean_ns? as f64)))
        .collect();
    let done = weighed.iter().flatten().map(|(done, _)| done).sum::<f64>();
    let time = weighed
        .iter()
        .flatten()
        .map(|(done, mean)| done * mean)
        .sum::<f64>();
    report.summary.latency_mean_ns = (done > 0.0).then(|| (time / done) as i64);
    // What several kinds took together does not follow from what each took.
    if let [only] = &report.summary.scripts[..] {
        report.summary.latency_quantiles = only.latency_quantiles.clone();
    } else {
        report.summary.latency_quantiles.clear();
    }
    report.is_whole = report.summary.throughput.is_some();
}
