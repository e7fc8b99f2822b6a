//! fio, its closing report as text and as JSON (`--output-format=json`, in lines as fio prints it). Seen run: fio 3.33.
//!
//! An operation is a read, a write or a trim. Rates of jobs of one group are added, as these run together; jobs of
//! several groups may run one after the other, and only the kinds of operations are told then. A job ends with its first
//! error, which counts as a failed operation, or counts them (`continue_on_error`).

use crate::Stream;
use crate::decimal::scaled;
use crate::reports::measure::{count, number};
use crate::reports::{Holds, Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static FIO: Tool = Tool {
    name: "fio",
    programs: &["fio"],
    style: Style::Words,
    options: &[opt(&["--numjobs"], Means::Clients)],
    // A job file may say another number.
    load: || closed_loop(None, "--numjobs"),
    holds: Holds::AtEnd,
    read,
    ..PLAIN
};

/// In the text: behind `Run status group`. In JSON: 0 outside of a document.
const GROUPS: u8 = 1;
const JSON: u8 = 2;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if line == "{" && report.part != JSON {
        // With --status-interval there is a document each time, of all the time so far.
        (report.summary, report.part, report.is_whole) = (<_>::default(), JSON, false);
        (report.reporter, report.ordinal) = (Some(String::new()), 0);
    } else if report.part == JSON {
        json(report, line);
    } else {
        text(report, line);
    }
}

fn text(report: &mut Report, line: &str) {
    if let Some((name, rest)) = line.split_once(": (groupid=") {
        let group = rest.split_once(',').map_or("", |(group, _)| group);
        let error = rest
            .split_once("): err=")
            .and_then(|(_, it)| it.split_once(':'));
        let error = error.and_then(|(error, _)| count(error.trim()));
        if let Some(error) = error {
            report.add_failed(Some(u64::from(error > 0)));
            report.ordinal += 1;
            report.reporter = Some(format!("{group} {} {name}", report.ordinal));
            report.part = 0;
        }
    } else if line.starts_with("Run status group ") {
        report.part = GROUPS;
    } else if report.part == GROUPS {
        // `   READ: bw=19.5MiB/s (...), io=195MiB (205MB), run=10001-10001msec`
        let run = line
            .split_once(", run=")
            .and_then(|(_, it)| it.strip_suffix("msec"));
        if let Some(ms) = run.and_then(|it| number(it.split_once('-')?.1)) {
            let longest = report.summary.duration_s.unwrap_or(0.0).max(ms / 1e3);
            report.summary.duration_s = Some(longest);
            if !report.is_whole {
                all(report);
            }
        }
    } else if let Some(job) = report.reporter.clone() {
        of_job(report, &job, line);
    }
}

/// The directions of a job, in the order of `issued rwts`.
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// What a job's part says, a thing a line. Jobs may have the same name: until the end their group and number stand
/// before it.
fn of_job(report: &mut Report, job: &str, line: &str) {
    let found = DIRECTIONS.iter().find_map(|direction| {
        let rest = line
            .strip_prefix("  ")?
            .trim_start()
            .strip_prefix(direction)?;
        Some((direction, rest.strip_prefix(": IOPS=")?))
    });
    if let Some((direction, rest)) = found {
        let rate = rest.split_once(',').and_then(|(rate, _)| shortened(rate));
        let kind = report.kind(&format!("{job} {direction}"));
        kind.throughput = rate;
    } else if let Some(numbers) = line.strip_prefix("     lat (") {
        let (Some((unit, numbers)), Some(kind)) =
            (numbers.split_once("): "), report.summary.scripts.last_mut())
        else {
            return;
        };
        let digits = match unit {
            "nsec" => 0,
            "usec" => 3,
            "msec" => 6,
            _ => return,
        };
        // It is of the direction that came last.
        let mean = numbers.split(", ").find_map(|it| it.strip_prefix("avg="));
        kind.latency_mean_ns = mean.and_then(|mean| scaled(mean.trim(), digits));
    } else if let Some(totals) = line.strip_prefix("     issued rwts: total=") {
        let totals = totals.split(' ').next().unwrap_or_default().split(',');
        for (direction, total) in DIRECTIONS.into_iter().zip(totals) {
            if let Some(total) = count(total).filter(|total| *total > 0) {
                report.kind(&format!("{job} {direction}")).completed = Some(total);
            }
        }
    }
}

/// `4993`, `20.1k`, `1.5M`
fn shortened(text: &str) -> Option<f64> {
    let (text, times) = match text.strip_suffix('k') {
        Some(thousands) => (thousands, 1e3),
        None => text
            .strip_suffix('M')
            .map_or((text, 1.0), |millions| (millions, 1e6)),
    };
    Some(number(text)? * times)
}

/// A line of a JSON document as fio lays it out; the names of what is open are kept with a `/` before each.
fn json(report: &mut Report, line: &str) {
    let text = line.trim().trim_end_matches(',');
    let mut path = report.reporter.take().unwrap_or_default();
    if matches!(text, "}" | "]") {
        if path.is_empty() {
            report.part = 0;
            all(report);
        }
        path.truncate(path.rfind('/').unwrap_or(0));
    } else if text.ends_with(['{', '[']) {
        let name = text.strip_prefix('"').and_then(|it| it.split_once('"'));
        path = format!("{path}/{}", name.map_or("", |(name, _)| name));
    } else if let Some((name, value)) = text.split_once(" : ") {
        member(report, &path, name.trim_matches('"'), value);
    }
    report.reporter = Some(path);
}

/// A number or a text in a document. The job is kept in the summary until its end.
fn member(report: &mut Report, path: &str, name: &str, value: &str) {
    if path == "/jobs/" {
        match name {
            "jobname" => {
                let job = value.trim_matches('"').to_owned();
                report.ordinal += 1;
                report.summary.transaction_type = Some(format!("{} {job}", report.ordinal));
            }
            "groupid" => {
                let job = report.summary.transaction_type.take().unwrap_or_default();
                report.summary.transaction_type = Some(format!("{value} {job}"));
            }
            "error" | "total_err" => {
                let failed = count(value).map(|it| if name == "error" { it.min(1) } else { it });
                let before = report.summary.failed.unwrap_or(0);
                // An error that ends a job may be counted in both.
                let is_again = name == "total_err" && failed == Some(1) && before > 0;
                report.add_failed(failed.filter(|_| !is_again));
            }
            _ => {}
        }
        return;
    }
    let Some((direction, rest)) = path
        .strip_prefix("/jobs//")
        .map(|it| it.split_once('/').unwrap_or((it, "")))
    else {
        return;
    };
    if !DIRECTIONS.contains(&direction) {
        return;
    }
    let job = report.summary.transaction_type.clone().unwrap_or_default();
    let kind_name = format!("{job} {direction}");
    match (rest, name) {
        ("", "runtime") => {
            let ran = number(value).unwrap_or(0.0) / 1e3;
            let longest = report.summary.duration_s.unwrap_or(0.0).max(ran);
            report.summary.duration_s = Some(longest).filter(|it| *it > 0.0);
        }
        ("", "iops") => {
            let rate = number(value).filter(|rate| *rate > 0.0);
            if rate.is_some() {
                report.kind(&kind_name).throughput = rate;
            }
        }
        ("", "total_ios") => {
            if let Some(done) = count(value).filter(|done| *done > 0) {
                report.kind(&kind_name).completed = Some(done);
            }
        }
        ("lat_ns", "mean") => {
            if let Some(mean) = scaled(value, 0).filter(|mean| *mean > 0) {
                report.kind(&kind_name).latency_mean_ns = Some(mean);
            }
        }
        _ => {}
    }
}

/// The end of a report: what holds for all jobs.
fn all(report: &mut Report) {
    let summary = &mut report.summary;
    summary.transaction_type = None;
    summary.completed = summary.scripts.iter().map(|it| it.completed).sum();
    let group = |name: &str| name.split(' ').next().map(str::to_owned);
    let mut groups = summary.scripts.iter().map(|it| group(&it.name));
    let first = groups.next();
    let is_one_group = groups.all(|it| Some(it) == first);
    let rates: Option<f64> = summary.scripts.iter().map(|it| it.throughput).sum();
    summary.throughput = rates.filter(|rate| is_one_group && *rate > 0.0);
    let weighed: Option<Vec<(f64, f64)>> = summary
        .scripts
        .iter()
        .map(|it| Some((it.completed? as f64, it.latency_mean_ns? as f64)))
        .collect();
    summary.latency_mean_ns = weighed.and_then(|weighed| {
        let done: f64 = weighed.iter().map(|(done, _)| done).sum();
        let time: f64 = weighed.iter().map(|(done, mean)| done * mean).sum();
        (done > 0.0).then(|| (time / done) as i64)
    });
    for kind in &mut summary.scripts {
        if let Some(name) = kind.name.splitn(3, ' ').nth(2) {
            kind.name = name.to_owned();
        }
    }
    report.is_whole = true;
}
