//! mysqlslap and mariadb-slap, closed loop. Seen run: mariadb-slap of MariaDB 10.11.
//!
//! It says how long all queries took with each number of clients, on the mean of its iterations: throughput is computed
//! from that, and a latency is not said.

use crate::Stream;
use crate::reports::measure::{count, seconds};
use crate::reports::{Holds, Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static MYSQLSLAP: Tool = Tool {
    name: "mysqlslap",
    programs: &["mysqlslap", "mariadb-slap"],
    style: Style::Letters,
    options: &[
        opt(&["-c", "--concurrency"], Means::Clients),
        opt(&["-i", "--iterations"], Means::Other),
        opt(&["-q", "--query"], Means::Other),
        opt(&["-h", "--host"], Means::Other),
        opt(&["-P", "--port"], Means::Other),
        opt(&["-S", "--socket"], Means::Other),
        opt(&["-u", "--user"], Means::Other),
        opt(&["-e", "--engine"], Means::Other),
        opt(&["-x", "--number-char-cols"], Means::Other),
        opt(&["-y", "--number-int-cols"], Means::Other),
        opt(&["-F", "--delimiter"], Means::Other),
        opt(&["--number-of-queries"], Means::Other),
        opt(&["--create-schema"], Means::Other),
        opt(&["--create"], Means::Other),
        opt(&["--protocol"], Means::Other),
    ],
    load: || closed_loop(Some(1), "--concurrency"),
    holds: Holds::WithSuccess,
    read,
    ..PLAIN
};

const BLOCK: u8 = 1;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    if line.trim_end() == "Benchmark" {
        (report.part, report.is_whole, report.sum) = (BLOCK, false, f64::NAN);
        return;
    }
    let Some((name, value)) = line.trim_start().split_once(": ") else {
        return;
    };
    if report.part != BLOCK {
        return;
    }
    match name {
        "Average number of seconds to run all queries" => {
            report.sum = seconds(value).unwrap_or(f64::NAN);
        }
        "Number of clients running queries" => report.summary.clients = value.parse().ok(),
        "Average number of queries per client" => {
            let clients = report.summary.clients;
            let each = count(value).zip(clients);
            let all = each.map(|(each, clients)| each as f64 * f64::from(clients) / report.sum);
            block(report, all.filter(|it| it.is_finite()));
        }
        _ => {}
    }
}

/// The end of a block: with several numbers of clients there is no number for all.
fn block(report: &mut Report, rate: Option<f64>) {
    let clients = report.summary.clients.unwrap_or(0);
    report.kind(&format!("{clients} clients")).throughput = rate;
    let is_only = report.summary.scripts.len() == 1;
    report.summary.throughput = rate.filter(|_| is_only);
    if !is_only {
        report.summary.clients = None;
    }
    (report.part, report.is_whole) = (0, rate.is_some());
}
