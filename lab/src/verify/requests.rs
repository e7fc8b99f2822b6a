//! `verify requests`: throughput from the kernel's counts against what load generators count themselves, from
//! 1,000 to over 100,000 requests a second, with connections that stay and one for each request.

use anyhow::{Context, Result};
use model::Timestamp;

use super::VerifyArguments;
use super::comparison::whole_run;
use super::recorded::Recorded;
use super::tally::Tally;
use crate::postgres::DATABASE;
use crate::print::say;
use crate::scenarios::{missing, nginx, redis};
use crate::stage::Stage;
use crate::statistics::mean;

/// Two counts of one thing may differ by this part of it.
const TOLERANCE: f64 = 0.02;

#[derive(Clone, Copy)]
enum Server {
    Nginx,
    /// With one worker, asked for a reply from memory: the most requests a second.
    NginxOneWorker,
    Redis,
    Postgres,
}

/// A load generator, and where its own count stands in what it prints.
struct Case {
    name: &'static str,
    server: Server,
    /// `URL`, `PORT`, `SECONDS` stand for what the run has.
    line: &'static str,
    /// The number stands behind the last of these words.
    label: &'static str,
    /// Requests for each operation that it counts.
    requests: f64,
}

const fn case(name: &'static str, server: Server, line: &'static str, label: &'static str) -> Case {
    Case {
        name,
        server,
        line,
        label,
        requests: 1.0,
    }
}

const CASES: [Case; 12] = [
    case(
        "wrk",
        Server::Nginx,
        "wrk -t1 -c16 -dSECONDSs URL",
        "Requests/sec:",
    ),
    case(
        "wrk, a connection each",
        Server::Nginx,
        "wrk -t1 -c16 -dSECONDSs -H 'Connection: close' URL",
        "Requests/sec:",
    ),
    case(
        "wrk, short replies",
        Server::NginxOneWorker,
        "wrk -t1 -c16 -dSECONDSs URL",
        "Requests/sec:",
    ),
    case(
        "redis-benchmark",
        Server::Redis,
        "redis-benchmark -p PORT -c 30 -n 1500000 -t get -q",
        "\nGET: ",
    ),
    case(
        "redis-benchmark, a connection each",
        Server::Redis,
        "redis-benchmark -p PORT -c 30 -n 250000 -t get -q -k 0",
        "\nGET: ",
    ),
    case(
        "hey, 1,000/s",
        Server::Nginx,
        "hey -z SECONDSs -c 10 -q 100 URL",
        "Requests/sec:",
    ),
    case(
        "hey",
        Server::Nginx,
        "hey -z SECONDSs -c 10 URL",
        "Requests/sec:",
    ),
    case(
        "hey, a connection each",
        Server::Nginx,
        "hey -z SECONDSs -c 10 -disable-keepalive URL",
        "Requests/sec:",
    ),
    case(
        "ab",
        Server::Nginx,
        "ab -q -t SECONDS -n 2000000 -c 8 URL",
        "Requests per second:",
    ),
    case(
        "pgbench",
        Server::Postgres,
        "pgbench -n -S -c 10 -j 2 -P 1 -T SECONDS DATABASE",
        "\ntps = ",
    ),
    case(
        "pgbench, 1,000/s",
        Server::Postgres,
        "pgbench -n -S -c 10 -j 2 -R 1000 -T SECONDS DATABASE",
        "\ntps = ",
    ),
    Case {
        // To connect is a request too.
        requests: 2.0,
        ..case(
            "pgbench, a connection each",
            Server::Postgres,
            "pgbench -n -S -c 4 -j 2 -C -T SECONDS DATABASE",
            "\ntps = ",
        )
    },
];

/// Runs all loads; the status is 1 where a count is off.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    let (mut tally, mut several) = (Tally::default(), 0);
    let mut stage = Stage::new()?;
    for case in CASES.iter().filter(|it| it.name.contains(&arguments.only)) {
        let program = case.line.split(' ').next().unwrap_or_default();
        let programs = match case.server {
            Server::Nginx | Server::NginxOneWorker => ["nginx", program],
            Server::Redis => ["redis-server", program],
            Server::Postgres => ["sh", "sh"],
        };
        if !tally.can_run(missing(
            &programs,
            "nginx redis-server wrk hey apache2-utils",
        )) {
            continue;
        }
        for _ in 0..arguments.repeat {
            let held = run(arguments, &mut stage, case)?;
            tally.count(held.holds);
            several += u32::from(held.phases > 1);
            stage.clear()?;
        }
    }
    say!(
        "{tally} within {:.0} %; more than one phase in {several}",
        TOLERANCE * 100.0
    );
    Ok(tally.status())
}

struct Held {
    holds: bool,
    phases: usize,
}

fn run(arguments: &VerifyArguments, stage: &mut Stage, case: &Case) -> Result<Held> {
    let port = match case.server {
        Server::Nginx => nginx(stage, 2)?.1,
        Server::NginxOneWorker => nginx(stage, 1)?.1,
        Server::Redis => redis(stage)?.1,
        Server::Postgres => stage.postgres(&[]).map(|_| String::new())?,
    };
    let path = match case.server {
        Server::NginxOneWorker => "ok",
        _ => "file",
    };
    let line = case
        .line
        .replace("URL", &format!("http://127.0.0.1:{port}/{path}"))
        .replace("PORT", &port)
        .replace("SECONDS", &arguments.seconds.to_string())
        .replace("DATABASE", DATABASE);
    let recorded = Recorded::run(arguments, stage, &[], &line)?;
    let own = number_behind(&recorded.printed, case.label)
        .with_context(|| format!("{} printed no count:\n{}", case.name, recorded.printed))?;
    let own = own * case.requests;
    let counted = whole_run(&recorded.report).unwrap_or(0.0);
    let difference = counted / own - 1.0;
    let holds = difference.abs() <= TOLERANCE;
    let phases = recorded.phases().count();
    let steady = recorded.signal("throughput").and_then(|it| it.mean);
    say!(
        "{} {:34} own {own:.0}/s, counted {counted:.0}/s: {:+.2} % (reported {:.0}/s; {phases} phases; {}; own cost {})",
        if holds { "ok " } else { "OFF" },
        case.name,
        difference * 100.0,
        steady.unwrap_or(0.0),
        recorded.verdict(),
        recorded.cost,
    );
    for line in own_phases(&recorded) {
        say!("    {line}");
    }
    Ok(Held { holds, phases })
}

/// Where there are several phases: what a tool that says its throughput every second said of each.
fn own_phases(recorded: &Recorded) -> Vec<String> {
    let seconds: Vec<(f64, f64)> = recorded.printed.lines().filter_map(progress).collect();
    if seconds.is_empty() || recorded.phases().count() < 2 {
        return Vec::new();
    }
    let since = |at: Timestamp| at.ns_since(recorded.report.origin) as f64 / 1e9;
    let said = recorded.phases().map(|phase| {
        let (start, end) = (since(phase.window.start), since(phase.window.end));
        let inside = seconds
            .iter()
            .filter(|it| it.0 - 1.0 >= start - 0.5 && it.0 <= end + 0.5);
        let own: Vec<f64> = inside.map(|it| it.1).collect();
        format!(
            "{start:.0} to {end:.0} s: counted {:.0}/s, own {:.0}/s",
            phase.throughput.unwrap_or(0.0),
            mean(&own).unwrap_or(f64::NAN)
        )
    });
    said.collect()
}

/// Of `progress: 5.0 s, 75000.1 tps, lat 0.133 ms stddev 0.020, 0 failed`: the end of the second, and the rate.
fn progress(line: &str) -> Option<(f64, f64)> {
    let (end, rest) = line.strip_prefix("progress: ")?.split_once(" s, ")?;
    let (rate, _) = rest.split_once(" tps")?;
    Some((end.parse().ok()?, rate.parse().ok()?))
}

/// The first number behind the last `label`.
fn number_behind(text: &str, label: &str) -> Option<f64> {
    let text = text.replace('\r', "\n");
    let numbers = text.match_indices(label).filter_map(|(at, _)| {
        let rest = text[at + label.len()..].trim_start();
        rest.split([' ', '\n', '\t']).next()?.parse().ok()
    });
    numbers.last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_counts_are_found_in_what_tools_print() {
        let redis = "\nGET: rps=0.0 (overall: 0.0)\rGET: rps=7 (overall: 7)\nGET: 70500.25 requests per second, p50=0.2 msec\n";
        assert_eq!(number_behind(redis, "\nGET: "), Some(70_500.25));
        let wrk = "  999 requests in 8.00s\nRequests/sec: 111016.21\nTransfer/sec:  1MB\n";
        assert_eq!(number_behind(wrk, "Requests/sec:"), Some(111_016.21));
        let ab = "Requests per second:    16859.13 [#/sec] (mean)\n";
        assert_eq!(number_behind(ab, "Requests per second:"), Some(16_859.13));
        let pgbench = "latency average = 1 ms\ntps = 42122.5 (without initial connection time)\n";
        assert_eq!(number_behind(pgbench, "\ntps = "), Some(42_122.5));
        assert_eq!(number_behind("nothing", "\ntps = "), None);
        let line = "progress: 5.0 s, 75000.1 tps, lat 0.133 ms stddev 0.020, 0 failed";
        assert_eq!(progress(line), Some((5.0, 75_000.1)));
    }
}
