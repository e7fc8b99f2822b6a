//! siege, closed loop; `-b` without pauses, else with pauses of up to `-d` seconds. Seen run: siege 4.0.7.
//!
//! Its mean response time has two digits behind the point, in seconds: too few to be read.

use crate::Stream;
use crate::reports::measure::{count, number};
use crate::reports::{Means, PLAIN, Report, Style, Tool, closed_loop, opt};

/// The adapter.
pub(crate) static SIEGE: Tool = Tool {
    name: "siege",
    programs: &["siege"],
    style: Style::Letters,
    options: &[
        opt(&["-c", "--concurrent"], Means::Clients),
        opt(&["-r", "--reps"], Means::Other),
        opt(&["-t", "--time"], Means::Other),
        opt(&["-d", "--delay"], Means::Other),
        opt(&["-f", "--file"], Means::Other),
        opt(&["-R", "--rc"], Means::Other),
        opt(&["-H", "--header"], Means::Other),
        opt(&["-A", "--user-agent"], Means::Other),
        opt(&["-T", "--content-type"], Means::Other),
        opt(&["-m", "--mark"], Means::Other),
    ],
    // Without -c its file of settings says.
    load: || closed_loop(None, "-c"),
    read,
    ..PLAIN
};

const INSIDE: u8 = 1;

fn read(report: &mut Report, stream: Stream, line: &str) {
    if stream != Stream::Stdout {
        return;
    }
    match line.chars().next() {
        Some('{') => report.part = INSIDE,
        Some('}') if report.part == INSIDE => {
            report.part = 0;
            report.is_whole = report.summary.completed.is_some();
        }
        _ => {}
    }
    let member = line.trim_start_matches(['{', '\t', ' ']).strip_prefix('"');
    let Some((name, value)) = member.and_then(|it| it.split_once("\":")) else {
        return;
    };
    let value = value.trim_end_matches(',').trim();
    if report.part != INSIDE {
        return;
    }
    match name {
        "successful_transactions" => report.summary.completed = count(value),
        "failed_transactions" => report.summary.failed = count(value),
        "transaction_rate" => report.summary.throughput = number(value),
        "elapsed_time" => report.summary.duration_s = number(value),
        _ => {}
    }
}
