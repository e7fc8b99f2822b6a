//! `verify request-times`: mean and p99 as the kernel saw them, against pgbench's log of each transaction, and
//! how many of the busy 100 ms have no timed request.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use model::{Timestamp, Window};
use rustix::time::{ClockId, clock_gettime};

use super::VerifyArguments;
use super::recorded::Recorded;
use super::tally::Tally;
use crate::postgres::DATABASE;
use crate::print::say;
use crate::stage::{Limit, Stage};
use crate::statistics::{mean, percentile};

/// How far a mean and a p99 may be from the log's.
const MEAN: f64 = 0.05;
const P99: f64 = 0.15;
/// The part of the busy 100 ms that may be without a timed request, under a saturated load.
const EMPTY: f64 = 0.01;
const BIN_NS: i64 = 100_000_000;
/// Fewer requests than these in 100 ms are no busy time.
const BUSY: f64 = 100.0;
/// CPU time of the limited server, us per 100 ms: so little that more than one request in a hundred is throttled, and
/// p99 does not lie in the gap between those that are and those that are not.
const QUOTA_US: u32 = 30_000;

/// A load, each of whose transactions is one request.
pub(super) struct Case {
    pub(super) name: &'static str,
    clients: &'static str,
    pub(super) script: &'static str,
    set_up: fn(&mut Stage) -> Result<Option<String>>,
}

/// What pgbench's own `-S` asks.
const SELECT: &str = "\\set aid random(1, 100000 * :scale)\n\
                      SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";

const CASES: [Case; 5] = [
    Case {
        name: "saturated",
        clients: "10",
        script: SELECT,
        set_up: plain,
    },
    Case {
        name: "quota",
        clients: "8",
        script: SELECT,
        set_up: quota,
    },
    Case {
        name: "fsync",
        clients: "8",
        script: "INSERT INTO lab_log VALUES (:client_id);\n",
        set_up: slow_disk,
    },
    Case {
        name: "lock",
        clients: "8",
        // The row stays locked while the statement sleeps.
        script: "WITH own AS (UPDATE lab_row SET value = value + 1 WHERE id = 1 RETURNING value) \
                 SELECT pg_sleep(0.002) FROM own;\n",
        set_up: row,
    },
    Case {
        name: "stalling",
        clients: "10",
        // Each request of the first 0.3 s of every two seconds waits until they are over.
        script: "SELECT pg_sleep(greatest(0, \
                 0.3 - mod(extract(epoch FROM clock_timestamp())::numeric, 2)::float8));\n",
        set_up: plain,
    },
];

fn plain(stage: &mut Stage) -> Result<Option<String>> {
    stage.postgres(&[])?;
    Ok(None)
}

fn quota(stage: &mut Stage) -> Result<Option<String>> {
    let pid = stage.postgres(&[])?.pid();
    let limited = stage.confine("limited", pid, &[Limit::CpuQuota(Some(QUOTA_US))]);
    Ok(limited.err().map(|error| format!("{error:#}")))
}

fn slow_disk(stage: &mut Stage) -> Result<Option<String>> {
    let disk = match stage.slow_disk() {
        Ok(disk) => disk,
        Err(error) => return Ok(Some(format!("{error:#}"))),
    };
    let server = stage.postgres_with_log_on(&disk, &[])?;
    server.execute("DROP TABLE IF EXISTS lab_log")?;
    server.execute("CREATE TABLE lab_log (client int)")?;
    Ok(None)
}

fn row(stage: &mut Stage) -> Result<Option<String>> {
    let server = stage.postgres(&["synchronous_commit=off"])?;
    server.execute("DROP TABLE IF EXISTS lab_row")?;
    server.execute("CREATE TABLE lab_row AS SELECT 1 AS id, 0 AS value")?;
    Ok(None)
}

/// Runs all loads; the status is 1 where a figure is off.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    let mut tally = Tally::default();
    each_case(
        &arguments.only,
        arguments.repeat,
        &mut tally,
        |stage, case| run(arguments, stage, case),
    )?;
    say!(
        "{tally} within {:.0} % (mean) and {:.0} % (p99)",
        MEAN * 100.0,
        P99 * 100.0
    );
    Ok(tally.status())
}

/// Runs each load whose name holds `only`, so often; `run` tells whether its figures agree.
pub(super) fn each_case(
    only: &str,
    repeat: u32,
    tally: &mut Tally,
    run: impl Fn(&Stage, &Case) -> Result<bool>,
) -> Result<()> {
    let mut stage = Stage::new()?;
    for case in CASES.iter().filter(|it| it.name.contains(only)) {
        for _ in 0..repeat {
            let why = (case.set_up)(&mut stage)?;
            if tally.can_run(why) {
                tally.count(run(&stage, case)?);
                stage.clear()?;
            }
        }
    }
    Ok(())
}

fn run(arguments: &VerifyArguments, stage: &Stage, case: &Case) -> Result<bool> {
    stage.script("load.sql", case.script)?;
    let line = line_of(case, arguments.seconds, "-l --log-prefix=each");
    let recorded = Recorded::run(arguments, stage, &[], &line)?;
    let log = logged(stage, recorded.report.window)?;
    let count = log.len();
    let own = [mean(&log), percentile(&log, 99)].map(|it| it.unwrap_or(f64::NAN));
    let latency = recorded
        .signal("latency")
        .context("the report has no latency")?;
    let p99 = latency.quantiles.iter().find(|it| it.q == 0.99);
    let ours = [latency.mean, p99.map(|it| it.value)].map(|it| it.unwrap_or(0.0));
    let apart = [ours[0] / own[0] - 1.0, ours[1] / own[1] - 1.0];
    // At the target's sockets requests are timed always, at the generator's in on-windows.
    let empty = empty_bins(&recorded.table("requests")?, recorded.report.window);
    let holds = apart[0].abs() <= MEAN
        && apart[1].abs() <= P99
        && (case.name != "saturated" || empty <= EMPTY);
    say!(
        "{} {:10} {count} logged: mean {:.3} ms, reported {:.3}: {:+.1} %; p99 {:.3} ms, reported {:.3}: {:+.1} %; {:.1} % of busy 100 ms without a timed request; {}",
        if holds { "ok " } else { "OFF" },
        case.name,
        own[0] / 1e6,
        ours[0] / 1e6,
        apart[0] * 100.0,
        own[1] / 1e6,
        ours[1] / 1e6,
        apart[1] * 100.0,
        empty * 100.0,
        recorded.verdict(),
    );
    Ok(holds)
}

/// The shell's line of a load, with further options of pgbench.
pub(super) fn line_of(case: &Case, seconds: u32, options: &str) -> String {
    format!(
        "pgbench -n -c {} -j 2 -T {seconds} -f load.sql {options} {DATABASE}",
        case.clients
    )
}

/// What is to be added to a clock's time to have the report's, ns.
fn to_boot_ns(clock: ClockId) -> i64 {
    let ns = |id| {
        let time = clock_gettime(id);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    ns(ClockId::Boottime) - ns(clock)
}

/// The latencies of transactions that ended in the window, ns, in rising order; the logs are removed.
fn logged(stage: &Stage, window: Window) -> Result<Vec<f64>> {
    // The log has the wall clock.
    let to_boot = to_boot_ns(ClockId::Realtime);
    let mut all = Vec::new();
    for entry in fs::read_dir(stage.folder()).context("the stage's folder is there")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|it| it.to_str());
        if name.is_some_and(|it| it.starts_with("each.")) {
            let text = fs::read_to_string(&path).context("cannot read pgbench's log")?;
            all.extend(text.lines().filter_map(|line| {
                let (end, latency_ns) = transaction(line)?;
                let end = Timestamp::from_ns(end + to_boot);
                window.contains(end).then_some(latency_ns)
            }));
            fs::remove_file(&path).context("cannot remove pgbench's log")?;
        }
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

/// When a transaction ended, ns of the wall clock, and what it took: of
/// `client transaction latency_us script seconds microseconds`.
fn transaction(line: &str) -> Option<(i64, f64)> {
    let mut fields = line.split(' ').skip(2);
    let latency_us: f64 = fields.next()?.parse().ok()?;
    let seconds: i64 = fields.nth(1)?.parse().ok()?;
    let microseconds: i64 = fields.next()?.parse().ok()?;
    Some((
        (seconds * 1_000_000 + microseconds) * 1_000,
        latency_us * 1e3,
    ))
}

/// The part of the busy 100 ms of a window in which no request was timed, by a table's CSV.
fn empty_bins(csv: &str, window: Window) -> f64 {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |name: &str| header.iter().position(|it| *it == name);
    let (Some(time), Some(entity), Some(requests), Some(timed)) = (
        place("time_ns"),
        place("entity"),
        place("requests"),
        place("timed"),
    ) else {
        return 1.0;
    };
    let mut before: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    let mut bins: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok());
        let (Some(at), Some(requests), Some(timed)) = (
            fields.get(time).and_then(|it| it.parse::<i64>().ok()),
            number(requests),
            number(timed),
        ) else {
            continue;
        };
        let now = [requests, timed];
        let last = before.insert(fields[entity], now).unwrap_or(now);
        if window.contains(Timestamp::from_ns(at)) {
            let bin = bins.entry(at / BIN_NS).or_default();
            (0..2).for_each(|it| bin[it] += now[it] - last[it]);
        }
    }
    let busy: Vec<&[f64; 2]> = bins.values().filter(|it| it[0] >= BUSY).collect();
    let empty = busy.iter().filter(|it| it[1] == 0.0).count();
    empty as f64 / busy.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_a_time_and_a_latency() {
        let line = "3 17 215 0 1795640862 551364";
        assert_eq!(
            transaction(line),
            Some((1_795_640_862_551_364_000, 215_000.0))
        );
        assert_eq!(transaction("progress"), None);
    }

    #[test]
    fn a_busy_bin_without_a_timed_request_is_empty() {
        let csv = "time_ns,entity,requests,timed\n\
                   0,1,0,0\n100000000,1,500,50\n200000000,1,1000,50\n300000000,1,1001,50\n";
        let window = Window::new(Timestamp::from_ns(0), Timestamp::from_ns(BIN_NS * 10));
        assert_eq!(empty_bins(csv, window), 0.5);
    }
}
