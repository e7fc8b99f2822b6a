//! pgbench's closing report, from its standard output.
//!
//! Every line is `name: value` or `name = value`. Lines of other names are passed over: the scale,
//! the query mode, the statement tables of `-r`, and whatever a script's `\shell` commands print.
//! Where pgbench before 14 prints two rates, the last one stands: it leaves out connecting.

use model::{ScriptSummary, Summary};

use crate::decimal::ms;

/// pgbench refuses more scripts than this.
const MOST_SCRIPTS: usize = 128;

/// Collects the report line by line.
pub(super) struct Report {
    tool: &'static str,
    summary: Summary,
}

impl Report {
    /// Nothing of this tool's report yet.
    pub(super) fn of(tool: &'static str) -> Self {
        Self {
            tool,
            summary: Summary::default(),
        }
    }

    /// Takes a line of standard output.
    pub(super) fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if let Some(part) = text.strip_prefix(" - ") {
            if let Some(script) = self.summary.scripts.last_mut() {
                script_line(script, part);
            }
        } else if self.is_banner(&text) {
            self.summary.version = Some(text.into_owned());
        } else if let Some((name, value)) = named(&text) {
            self.total_line(name, value);
        }
    }

    /// The report, if there was one; `aborted` says that pgbench called it incomplete.
    pub(super) fn finish(mut self, aborted: bool) -> Option<Summary> {
        self.summary.complete = !aborted;
        // Without a deviation pgbench did not time its transactions: clients / tps was printed.
        self.summary.latency_derived =
            self.summary.latency_mean_ns.is_some() && self.summary.latency_stddev_ns.is_none();
        self.summary.completed.is_some().then_some(self.summary)
    }

    /// `pgbench (15.18 (Debian 15.18-0+deb12u1))`, since version 14.
    fn is_banner(&self, text: &str) -> bool {
        let version = text.strip_prefix(self.tool);
        version.is_some_and(|version| version.starts_with(" (") && version.ends_with(')'))
    }

    fn total_line(&mut self, name: &str, value: &str) {
        let report = &mut self.summary;
        match name {
            // The report's first line: what came before it was not the report.
            "transaction type" => {
                let version = report.version.take();
                *report = Summary {
                    version,
                    transaction_type: Some(value.to_owned()),
                    ..Summary::default()
                };
            }
            "number of clients" => report.clients = small(value),
            "number of threads" => report.threads = small(value),
            "duration" => report.duration_s = small(value).map(f64::from),
            "number of transactions actually processed" => report.completed = count(value),
            // The second name is that of the patch which became version 15, and which ysql_bench has.
            "number of failed transactions" | "number of errors" => report.failed = count(value),
            "number of transactions skipped" => report.skipped = count(value),
            "number of transactions retried" | "number of retried" => report.retried = count(value),
            "total number of retries" | "number of retries" => report.retries = count(value),
            "latency average" => report.latency_mean_ns = duration(value),
            "latency stddev" => report.latency_stddev_ns = duration(value),
            "initial connection time" | "average connection time" => {
                report.connect_ns = duration(value)
            }
            "rate limit schedule lag" => (report.lag_mean_ns, report.lag_max_ns) = lag(value),
            "tps" => report.throughput = rate(value),
            _ if name.starts_with("number of transactions above the ") => {
                report.late = count(value)
            }
            _ if name.starts_with("SQL script ") && report.scripts.len() < MOST_SCRIPTS => {
                report.scripts.push(ScriptSummary {
                    name: value.to_owned(),
                    ..ScriptSummary::default()
                });
            }
            _ => {}
        }
    }
}

/// A line below `SQL script 1: ...`, without its ` - `.
fn script_line(script: &mut ScriptSummary, part: &str) {
    if let Some((completed, shares)) = part.split_once(" transactions (") {
        script.completed = count(completed);
        script.throughput = shares
            .split_once("tps = ")
            .and_then(|(_, value)| rate(value));
        return;
    }
    match named(part) {
        Some(("weight", value)) => script.weight = small(value),
        Some(("number of failed transactions", value)) => script.failed = count(value),
        Some(("latency average", value)) => script.latency_mean_ns = duration(value),
        Some(("latency stddev", value)) => script.latency_stddev_ns = duration(value),
        _ => {}
    }
}

/// Name and value, parted by the first `: ` or ` = `.
fn named(text: &str) -> Option<(&str, &str)> {
    let colon = text.find(": ").map(|at| (at, 2));
    let equals = text.find(" = ").map(|at| (at, 3));
    let (at, length) = [colon, equals].into_iter().flatten().min()?;
    Some((&text[..at], &text[at + length..]))
}

/// The count that `text` begins with: `8000/8000`, `2471 (26.970%)`.
fn count(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

fn small(text: &str) -> Option<u32> {
    count(text)?.try_into().ok()
}

/// `9.990 ms`, also with more words behind it.
fn duration(text: &str) -> Option<i64> {
    text.split_once(" ms").and_then(|(number, _)| ms(number))
}

/// The rate that `text` begins with: `399.974077 (without initial connection time)`.
fn rate(text: &str) -> Option<f64> {
    let number = text.split([' ', ')']).next()?;
    number.parse().ok().filter(|rate: &f64| rate.is_finite())
}

/// `avg 7.431 (max 9.997) ms`
fn lag(text: &str) -> (Option<i64>, Option<i64>) {
    let parts = text
        .strip_prefix("avg ")
        .and_then(|rest| rest.split_once(" (max "));
    match parts {
        Some((mean, max)) => (ms(mean), max.split_once(')').and_then(|(max, _)| ms(max))),
        None => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> Option<Summary> {
        let mut report = Report::of("pgbench");
        text.lines().for_each(|line| report.line(line.as_bytes()));
        report.finish(false)
    }

    #[test]
    fn a_banner_alone_is_no_report() {
        assert_eq!(report("pgbench (15.18 (Debian 15.18-0+deb12u1))\n"), None);
    }

    #[test]
    fn nothing_processed_has_no_latency_and_no_rate() {
        let summary = report("transaction type: x\nnumber of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n").unwrap();
        assert_eq!((summary.completed, summary.failed), (Some(0), Some(0)));
        assert_eq!((summary.latency_mean_ns, summary.throughput), (None, None));
        assert!(!summary.latency_derived);
    }

    #[test]
    fn what_a_script_prints_is_not_the_report() {
        let text = "number of threads: 99\n - weight: 3\nSQL script 9: mine\n\
            transaction type: /srv/a = b: c.sql\nnumber of transactions actually processed: 1\n\
            latency average = 2.000 ms (including failures)\n   0.5   0  \\set tps = 4: 5\n";
        let summary = report(text).unwrap();
        assert_eq!(
            summary.transaction_type.as_deref(),
            Some("/srv/a = b: c.sql")
        );
        assert_eq!(
            (summary.threads, summary.scripts.len(), summary.throughput),
            (None, 0, None)
        );
        assert_eq!(summary.latency_mean_ns, Some(2_000_000));
        assert!(summary.latency_derived);
    }
}
