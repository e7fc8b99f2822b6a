//! `pgbench -i` and `ysql_bench -i`: tables are filled, and an operation is a row. Seen run: pgbench 15, and a published
//! output of ysql_bench.
//!
//! A line comes each 100,000 rows, or with `-q` every 5 s. Rows made by the server (`-I G`) have no lines.

use crate::decimal::scaled;
use crate::reports::measure::{count, number};
use crate::reports::{Holds, Means, PLAIN, Report, Speaks, Style, Tool, closed_loop, opt};
use crate::{Quantity, Stream};

/// Of PostgreSQL's.
pub(crate) static PGBENCH_INIT: Tool = Tool {
    name: "pgbench -i",
    programs: &["pgbench"],
    ..INIT
};

/// Of YugabyteDB's.
pub(crate) static YSQL_BENCH_INIT: Tool = Tool {
    name: "ysql_bench -i",
    programs: &["ysql_bench"],
    ..INIT
};

const INIT: Tool = Tool {
    style: Style::Letters,
    options: &[
        opt(&["-s", "--scale"], Means::Other),
        opt(&["-I", "--init-steps"], Means::Other),
        opt(&["-F", "--fillfactor"], Means::Other),
        opt(&["-h", "--host"], Means::Other),
        opt(&["-p", "--port"], Means::Other),
        opt(&["-U", "--username"], Means::Other),
    ],
    needs: &["-i", "--initialize", "-iq", "-qi", "-is", "-iqs", "-qis"],
    speaks: Speaks::Always,
    gives: &[Quantity::Throughput],
    serving_unit: "backend",
    load: || {
        let mut load = closed_loop(Some(1), "");
        load.clients_option = None;
        load.rate_unit = "rows/s".to_owned();
        load
    },
    holds: Holds::AtEnd,
    read,
    ..PLAIN
};

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stderr {
        return;
    }
    if let Some((rows, elapsed)) = progress(line) {
        let grown = report.live.grown(rows);
        let bin = scaled(elapsed, 9).and_then(|at_ns| report.live.until(at_ns));
        if let (Some(bin), Some(grown)) = (bin, grown) {
            report.live.count(bin, grown);
        }
        report.summary.completed = Some(rows);
        report.summary.duration_s = number(elapsed);
        let took = number(elapsed).filter(|took| *took > 0.0);
        report.summary.throughput = took.map(|took| rows as f64 / took);
    } else if let Some(took) = line.strip_prefix("done in ") {
        // All phases together: the rate stays that of the rows.
        report.summary.duration_s = took.split_once(" s (").and_then(|(took, _)| number(took));
        report.is_whole = true;
    } else if line == "done." {
        report.is_whole = true;
    }
}

/// `100000 of 1000000 tuples (10%) done (elapsed 0.07 s, remaining 0.63 s)`, since 17 with the table's name.
fn progress(line: &str) -> Option<(u64, &str)> {
    // It may be drawn over the line before.
    let (rows, rest) = line.split_once(" of ")?;
    let (_, rest) = rest.split_once(" tuples (")?;
    let (_, rest) = rest.split_once(" done (elapsed ")?;
    let (elapsed, rest) = rest.split_once(" s, remaining ")?;
    rest.trim_end()
        .ends_with(" s)")
        .then_some((count(rows)?, elapsed))
}
