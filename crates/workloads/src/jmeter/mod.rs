//! JMeter, by its summariser: what `-n` prints every 30 s, or more often where `summariser.interval` says so, and at the
//! end. Seen run: JMeter 5.6.3.
//!
//! `summary +` is of the interval, `summary =` of the run so far; samples that failed are among both. Samples of
//! transaction controllers are in neither. It exits with 0 where every sample failed. Its mean is in whole ms, the part
//! behind the point cut off, so that no bin has it: latency of a window is the kernel's. Where a test plan has several
//! summarisers each counts for itself, and the first one is read. Its file of results (`-l`) tells the samplers apart.

mod jtl;

use crate::reports::measure::{clock_seconds, count, number};
use crate::reports::{
    Added, Holds, Means, PLAIN, Report, Results, Speaks, Style, Tool, closed_loop, opt,
};
use crate::{Bin, Quantity, Stream};

/// The adapter.
pub(crate) static JMETER: Tool = Tool {
    name: "jmeter",
    programs: &["jmeter", "jmeter.sh", "jmeter-n.sh"],
    java: &["ApacheJMeter.jar", "org.apache.jmeter.NewDriver"],
    style: Style::Letters,
    options: &[
        opt(&["-t", "--testfile"], Means::Other),
        opt(&["-l", "--logfile"], Means::Results),
        opt(&["-j", "--jmeterlogfile"], Means::Other),
        opt(&["-p", "--propfile"], Means::Other),
        opt(&["-q", "--addprop"], Means::Other),
        opt(&["-d", "--homedir"], Means::Other),
        opt(&["-o", "--reportoutputfolder"], Means::Other),
        opt(&["-R", "--remotestart"], Means::Other),
        opt(&["-i", "--jmeterlogconf"], Means::Other),
        opt(&["-H", "--proxyHost"], Means::Other),
        opt(&["-P", "--proxyPort"], Means::Other),
        opt(&["-N", "--nonProxyHosts"], Means::Other),
        opt(&["-u", "--username"], Means::Other),
        opt(&["-a", "--password"], Means::Other),
        opt(&["-J", "--jmeterproperty"], Means::Other),
        opt(&["-G", "--globalproperty"], Means::Other),
        opt(&["-D", "--systemproperty"], Means::Other),
        opt(&["-S", "--systemPropertyFile"], Means::Other),
        opt(&["-L", "--loglevel"], Means::Other),
    ],
    needs: &["-n", "--nongui"],
    speaks: Speaks::Always,
    // It takes no shorter one.
    adds: Some(Added {
        option: "-Jsummariser.interval=6",
        unless: |word| word.contains("summariser."),
        hides: None,
    }),
    gives: &[Quantity::Throughput, Quantity::Failed],
    load: || {
        let mut load = closed_loop(None, "");
        // Threads are in the test plan.
        load.clients_option = None;
        load
    },
    holds: Holds::AtEnd,
    results: Some(Results {
        prefix: "",
        read: jtl::read,
    }),
    read,
    ..PLAIN
};

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if let Some(said) = Said::parse(line) {
        let reporter = report
            .reporter
            .get_or_insert_with(|| said.reporter.to_owned());
        if reporter == said.reporter {
            take(report, &said);
        }
    } else if line.starts_with("Tidying up ...") || line == "... end of run" {
        report.is_whole = report.summary.throughput.is_some();
    }
}

/// A line of a summariser: `summary +    471 in 00:00:06 =   79.3/s Avg:    55 Min: ... Err:     7 (1.49%) Active: 8 ...`
struct Said<'a> {
    reporter: &'a str,
    is_interval: bool,
    samples: u64,
    failed: u64,
    /// Samples per second, and the length that follows; `None` where no time had passed.
    rate: Option<(f64, i64)>,
    mean_ms: u64,
    active: Option<u32>,
}

impl<'a> Said<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (head, rest) = line.split_once(" in ")?;
        let (time, rest) = rest.split_once(" = ")?;
        let (rate, rest) = rest.split_once("/s Avg: ")?;
        let (head, samples) = head.rsplit_once(' ')?;
        let head = head.trim_end();
        let is_interval = head.ends_with(" +");
        if !is_interval && !head.ends_with(" =") {
            return None;
        }
        let mut words = rest.split_whitespace();
        let mut after = |name: &str| words.by_ref().skip_while(|it| *it != name).nth(1);
        let mean_ms = count(rest.split_whitespace().next()?)?;
        let failed = count(after("Err:")?)?;
        let samples = count(samples)?;
        Some(Self {
            reporter: head[..head.len() - 2].trim_end(),
            is_interval,
            samples,
            failed: Some(failed).filter(|failed| *failed <= samples)?,
            rate: number(rate)
                .and_then(|rate| Some((rate, length_ns(samples, rate, time.trim())?))),
            mean_ms,
            active: after("Active:").and_then(|it| it.parse().ok()),
        })
    }
}

/// How long the time was in which so many samples came at this rate, ns: it is printed in whole seconds.
fn length_ns(samples: u64, rate: f64, printed: &str) -> Option<i64> {
    let printed = clock_seconds(printed)? as f64;
    let exact = samples as f64 / rate;
    let length = exact.clamp((printed - 0.5).max(0.0), printed + 0.5);
    length.is_finite().then_some((length * 1e9) as i64)
}

fn take(report: &mut Report, said: &Said<'_>) {
    let completed = said.samples - said.failed;
    let length_ns = said.rate.map_or(0, |(_, length_ns)| length_ns);
    if said.is_interval {
        let clients = report.summary.clients.max(said.active);
        report.summary.clients = clients;
        let bin = report.live.of_length(length_ns);
        if let Some(bin) = bin {
            let failed = i64::try_from(said.failed).unwrap_or(i64::MAX);
            report.live.count(Bin { failed, ..bin }, completed);
        }
        return;
    }
    let summary = &mut report.summary;
    summary.completed = Some(completed);
    summary.failed = Some(said.failed);
    summary.throughput = said.rate.map(|(rate, _)| rate);
    summary.duration_s = said.rate.map(|_| length_ns as f64 / 1e9);
    // 0 stands for less than 1 ms.
    let mean_ns = i64::try_from(said.mean_ms)
        .ok()
        .and_then(|it| it.checked_mul(1_000_000));
    summary.latency_mean_ns = mean_ns.filter(|mean| *mean > 0);
}
