//! The command line: the one place where options are declared.
//!
//! An option's help has at most two lines of a terminal; what needs more is in `docs/`, which the help names.

mod experimenting;
mod explaining;
mod export;
mod mark;
mod nodes;
mod proving;
mod segments;
mod sizing;
mod stored;
mod sweeping;
mod symbolize;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use collectors::LogSource;
use model::Goal;
use targets::NamedTarget;

pub(crate) use experimenting::Experimenting;
pub(crate) use explaining::Explain;
pub(crate) use export::{Export, ExportFormat, Names};
pub(crate) use mark::Mark;
pub(crate) use nodes::{Fetch, NodeOptions};
pub(crate) use proving::Prove;
pub(crate) use segments::SegmentArguments;
pub(crate) use sizing::Size;
pub(crate) use stored::Stored;
pub(crate) use sweeping::Sweep;
pub(crate) use symbolize::Symbolize;

use crate::condition::Condition;
use crate::difference_condition::DifferenceCondition;
use crate::duration::parse_duration;
use crate::goal::parse_goal;
use crate::outputs::Align;
use crate::part::{Instant, parse_instant};
use crate::stack_rate::{StackRate, parse_stacks};

/// Tells what a Linux system is waiting for, who waits, why, and what would change it.
#[derive(Parser, Debug)]
#[command(name = "stallscope", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a workload, record what it and its server wait for, and name the bottleneck.
    Run(Run),
    /// Record something that already runs, or the whole machine.
    Record(Record),
    /// Print the whole answer from a recording.
    Explain(Explain),
    /// Write the page of a recording: one HTML file that opens offline. Or serve it.
    Report(ReportPage),
    /// Compare recordings, or run commands in turns to compare them: what changed, by how much, how sure that is, and why.
    Compare(Compare),
    /// Run a command over the values of a parameter: where more stops to bring more, and what limits it at each point.
    Sweep(Sweep),
    /// Run several instances of a load at once: what `sweep` runs.
    #[command(hide = true)]
    Instances {
        #[arg(last = true)]
        words: Vec<OsString>,
    },
    /// Size a machine or a cluster from a sweep or recordings: what a request needs, and the smallest that is enough.
    Size(Size),
    /// Prove what limits a running server: lower a capacity of it for some seconds at a time, and see whether throughput follows.
    Prove(Prove),
    /// Watch over `prove`: what `prove` starts.
    #[command(hide = true)]
    Guardian {
        /// What is to be put back.
        journal: PathBuf,
    },
    /// Fetch what nodes of `run --on` have recorded and could not send: the connection was lost, or Ctrl-C came.
    Fetch(Fetch),
    /// Record this machine for `run --on` on another: what ssh starts.
    #[command(hide = true)]
    Node,
    /// Export a recording: as CSV or Parquet, or as one redacted file to send.
    Export(Export),
    /// Look up the functions of a recording's call stacks later or elsewhere, where debugging information is.
    Symbolize(Symbolize),
    /// Make a recording from what other tools measured: sar, atop, vmstat, iostat, pidstat, a monitor's CSV.
    Import(Import),
    /// Mark an instant of a recording: 'deploy began'. Now, while it is recorded, or at a time in it.
    Mark(Mark),
    /// Check what this machine allows, and print the commands that fix the rest. Changes nothing.
    Doctor(Doctor),
}

/// What options decide, besides the output: the headings of the help.
const SERVER: &str = "What is recorded";
const ASKED: &str = "Applications to ask (rights and passwords: docs/sources.md)";
const WORKLOAD: &str = "The workload";

/// Examples and exit status of `run`.
const RUN_HELP: &str = "\
Examples:
  stallscope run -- pgbench -c 10 -j 2 -S -T 30 bench
  stallscope run --target port:8080 -- ./load-test.sh
  stallscope run --metric 'throughput=([0-9.]+) req/s' -- ./load-test.sh
  stallscope run --fail-if 'latency > 5ms' -- pgbench -R 1000 -T 60 bench
  stallscope run --on db1,root@db2 --copy -- ./load-test.sh

Without --target Stallscope finds the server by following the workload's connections.

Load generators that --workload takes: pgbench, ysql_bench, wrk, hey, ab, oha, vegeta, locust,
jmeter, k6, sysbench, redis-benchmark, valkey-benchmark, siege, mysqlslap, ycsb, fio,
'pgbench -i', 'ysql_bench -i'.

Exit status: the workload's own where it is not 0 (128 + the signal that killed it); 1 when a
--fail-if condition holds; 125 when Stallscope failed; 126 and 127 when the workload could not be
run or found.";

/// Verdicts of a recording of the whole machine.
pub(crate) const TOP: usize = 5;

/// Examples of `record`.
const RECORD_HELP: &str = "\
Examples:
  stallscope record --for 30s
  stallscope record --target port:5432 --for 30s
  stallscope record --target unit:nginx --target dependency=port:6379 --for 5m
  stallscope record --keep 48h --max-size 2G
  stallscope record --target port:5432 --trigger 'latency.p99>100ms for 300ms'

Programs on this machine that are connected to the target make its load; --target generator=... names others.
Without --target Stallscope records the whole machine: who waits, for what, and who makes them wait.";

#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) recording: RecordingOptions,
    #[command(flatten)]
    pub(crate) nodes: NodeOptions,
    /// Exit with status 1 if this holds in the steady phase: 'latency > 5ms', 'failed > 0'. Repeatable.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,
    /// Read throughput, latency, lag or failed from what it prints: REGEX has the number in brackets. Repeatable; units: docs/workloads.md.
    #[arg(long, value_name = "NAME=REGEX", alias = "signal", help_heading = WORKLOAD)]
    pub(crate) metric: Vec<workloads::Rule>,
    /// Read the output as that of this load generator, whatever COMMAND is called; names: below.
    #[arg(long = "workload", value_name = "NAME", value_parser = workload_names(), hide_possible_values = true, help_heading = WORKLOAD)]
    pub(crate) adapter: Option<workloads::Chosen>,
    /// Have pgbench or ysql_bench write a sampled log, for p50 to p99.9 of latency.
    #[arg(long, conflicts_with = "no_adjust", help_heading = WORKLOAD)]
    pub(crate) quantiles: bool,
    /// Run it as typed, without added options.
    #[arg(long, help_heading = WORKLOAD)]
    pub(crate) no_adjust: bool,
    /// The workload and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) workload: Vec<OsString>,
}

/// Reads the name of an adapter; the error lists all.
fn workload_names() -> impl TypedValueParser<Value = workloads::Chosen> {
    let names = workloads::all().iter().map(|adapter| adapter.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<workloads::Chosen>())
}

#[derive(Args, Debug)]
#[command(after_help = RECORD_HELP)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) recording: RecordingOptions,
    /// Record for this long: 30s, 5m. [default: until interrupted]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, help_heading = SERVER)]
    pub(crate) length: Option<Duration>,
    #[command(flatten)]
    pub(crate) segments: SegmentArguments,
    /// Without --target: give the verdict on so many of those who lose most time.
    #[arg(long, value_name = "N", default_value_t = TOP, help_heading = SERVER)]
    pub(crate) top: usize,
    /// Read /proc and /sys below this folder: the host's root, mounted into a container. Connections are then not recorded.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/",
        hide_default_value = true,
        help_heading = SERVER
    )]
    pub(crate) root: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct RecordingOptions {
    /// Record into this new folder. [default: COMMAND-N.stall here]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Write the report as JSON to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write no report.html into the recording.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// The server: port:5432, pid:N, unit:NAME, cgroup:PATH or name:REGEX; dependency=port:6379 for what it calls, if not found by itself. Repeatable
    #[arg(long, value_name = "TARGET", help_heading = SERVER)]
    pub(crate) target: Vec<NamedTarget>,
    /// PostgreSQL, who blocks whom: a URL, 'host=.. user=..', or PGHOST and the other variables.
    #[arg(long, value_name = "DSN", num_args = 0..=1, default_missing_value = "", help_heading = ASKED)]
    pub(crate) postgres: Option<Dsn>,
    /// MySQL or MariaDB, who blocks whom: mysql://USER@HOST:PORT, HOST:PORT, a socket's path, or ~/.my.cnf.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "", help_heading = ASKED)]
    pub(crate) mysql: Option<Dsn>,
    /// PgBouncer, who waits for a pool: a URL or 'port=.. user=..', of a user in its stats_users.
    #[arg(long, value_name = "DSN", num_args = 0..=1, default_missing_value = "", help_heading = ASKED)]
    pub(crate) pgbouncer: Option<Dsn>,
    /// Redis or Valkey, counters and latency spikes: redis://USER@HOST:PORT, HOST:PORT or a socket's path.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "", help_heading = ASKED)]
    pub(crate) redis: Option<Dsn>,
    /// Any endpoint in Prometheus's format, each series of it: http://HOST:PORT/metrics. Its bearer token: docs/sources.md.
    #[arg(long, value_name = "URL", help_heading = ASKED)]
    pub(crate) scrape: Option<Dsn>,
    /// A log, which lines and calls come when: a file, from its end on; journal, or journal:UNIT. Repeatable.
    #[arg(long, value_name = "FILE|journal", help_heading = ASKED)]
    pub(crate) log: Vec<LogSource>,
    /// A goal beside which waits are judged: 'p99<10ms', 'mean<5ms', 'max<1s'. Repeatable.
    #[arg(long, value_name = "GOAL", value_parser = parse_goal)]
    pub(crate) slo: Vec<Goal>,
    /// Trace every switch and wake-up, where these are many too: it may slow the load. [default: a random part of the time]
    #[arg(long, alias = "no-pauses", help_heading = SERVER)]
    pub(crate) trace_all: bool,
    /// Sample the call stacks of what runs on each CPU: off, on, or so many times a second.
    #[arg(long, value_name = "RATE", default_value = "on", value_parser = parse_stacks, help_heading = SERVER)]
    pub(crate) stacks: StackRate,
    /// Record each wait of this length or longer with its call stack, and some shorter ones. [default: as the budget allows]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = SERVER)]
    pub(crate) min_wait: Option<Duration>,
    /// Print no live line.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the whole answer, as explain does.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// What was typed behind `--postgres`, `--redis` and the like. It may hold a password: it is never shown, and reading it here
/// would let the message about a mistake in it quote it.
#[derive(Clone)]
pub(crate) struct Dsn(String);

impl Dsn {
    /// For the one who connects.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for Dsn {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Debug for Dsn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[derive(Args, Debug)]
pub(crate) struct ReportPage {
    /// The recording, a folder or a bundle. [default: the newest folder here]
    #[arg(value_name = "REC")]
    pub(crate) recording: Option<PathBuf>,
    /// Write the page here. [default: report.html in the folder; NAME.html beside a bundle]
    #[arg(short, long, value_name = "FILE", conflicts_with = "serve")]
    pub(crate) output: Option<PathBuf>,
    /// Judge from this time on: 10s after the workload's start, or by the wall clock: 14:05, 2026-11-28T14:05:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) from: Option<Instant>,
    /// Judge up to this time.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) to: Option<Instant>,
    /// Judge so much of its end: 10m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["from", "to"])]
    pub(crate) last: Option<Duration>,
    /// Compare the call stacks with those of another recording, per request: what costs more here, and what less.
    #[arg(long, value_name = "REC")]
    pub(crate) against: Option<PathBuf>,
    /// Serve the page to browsers on this machine, until Ctrl-C; any window selected there is judged.
    #[arg(long)]
    pub(crate) serve: bool,
    /// Serve on this port. [default: a free one]
    #[arg(long, value_name = "N", requires = "serve")]
    pub(crate) port: Option<u16>,
}

/// Examples of `compare`.
const COMPARE_HELP: &str = "\
Examples:
  stallscope compare before.stall after.stall
  stallscope compare 'before-*.stall' 'after-*.stall' --fail-if 'throughput < -5%'
  stallscope compare baseline/ pgbench-7.stall --export-markdown comment.md
  stallscope compare --run 'pgbench -S -T 5 old' --run 'pgbench -S -T 5 new' --folder trial

The first is what the others are compared with. A pattern in quotes, and a folder of recordings, are one group: \
runs of the same configuration, whose scatter tells how sure a difference is.

With --run Stallscope makes the recordings itself: in rounds, each of which runs every command once in random order. \
Throughput is then given as if alone, without what neighbours and the hypervisor took.

Exit status: 1 when a --fail-if condition holds; 2 when Stallscope failed.";

#[derive(Args, Debug)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct Compare {
    /// A recording, a folder of recordings, or a pattern in quotes: 'fast-*.stall'. At least two.
    #[arg(value_name = "REC", required_unless_present = "run", conflicts_with = "run", num_args = 1..)]
    pub(crate) recordings: Vec<String>,
    #[command(flatten)]
    pub(crate) experiment: Experimenting,
    /// Exit with status 1 if a difference is surely beyond this: 'throughput < -5%', 'p99 > 10%'. Repeatable.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<DifferenceCondition>,
    /// Write the comparison as a page, one HTML file that opens offline, to FILE.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What is 0 s on the page's axis: start, steady (where the steady phase begins), or mark:TEXT.
    #[arg(long, value_name = "WHERE", default_value = "start")]
    pub(crate) align: Align,
    /// Write the comparison as Markdown, as a comment on a pull request, to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) export_markdown: Option<PathBuf>,
    /// Write the comparison as JSON to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print every figure, and not only those that say something.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Examples of `import`.
const IMPORT_HELP: &str = "\
Examples:
  stallscope import /var/log/sysstat/sa26 -o monday.stall
  stallscope import monitor.csv
  stallscope import iostat.txt pidstat.txt -o both.stall
  stallscope import values.csv --period 10s
  stallscope import --prometheus http://metrics:9090 --instance 'db-.*' --last 2h -o nodes
  stallscope explain monday.stall

Formats are recognised by what is in the files. Several files become one recording. What each can tell: docs/import.md.";

#[derive(Args, Debug)]
#[command(after_help = IMPORT_HELP)]
pub(crate) struct Import {
    /// What sar or atop recorded, or vmstat, iostat, pidstat or perf printed, a CSV, a folder of snapshots of /proc/pressure.
    #[arg(
        value_name = "FILE",
        required_unless_present = "prometheus",
        conflicts_with = "prometheus"
    )]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) stored: Stored,
    /// Of a store's nodes: take what was measured from this time on, by the wall clock.
    #[arg(long, value_name = "TIME", value_parser = parse_instant, requires = "prometheus")]
    pub(crate) from: Option<Instant>,
    /// Take it up to this time.
    #[arg(long, value_name = "TIME", value_parser = parse_instant, requires = "prometheus")]
    pub(crate) to: Option<Instant>,
    /// Take so much before now: 2h. [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["from", "to"], requires = "prometheus")]
    pub(crate) last: Option<Duration>,
    /// Make this new folder. [default: FILE.stall here; of a store NODE.stall for each node, in this folder]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// How far rows without times lie apart: 10s.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) period: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Check below this folder: /host in a container that has the host's root mounted there.
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
    /// Write the answer as JSON to FILE, or to standard output instead of the text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// List every check, those that are fine too.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_option_is_explained_in_at_most_two_lines() {
        for command in Arguments::command().get_subcommands_mut() {
            let is_long = |it: &clap::Arg| it.get_long_help().is_some();
            let long: Vec<_> = command.get_arguments().filter(|it| is_long(it)).collect();
            assert!(long.is_empty(), "{long:?}");
            let help = command.render_help().to_string();
            let lines: Vec<_> = help.lines().collect();
            // What continues an explanation is indented further than the options.
            let continues = |line: &&str| line.starts_with("          ");
            let longest = lines.windows(2).find(|pair| pair.iter().all(continues));
            assert_eq!(longest, None, "{help}");
        }
    }

    #[test]
    fn the_help_of_run_lists_every_load_generator() {
        let list = RUN_HELP.split_once("--workload takes: ").map(|(_, it)| it);
        let list = list
            .and_then(|it| it.split_once(".\n\n"))
            .map(|(list, _)| list);
        let listed: Vec<_> = list.expect("it has a list").split([',', '\n']).collect();
        let listed = listed
            .iter()
            .map(|it| it.trim().trim_matches('\''))
            .filter(|it| !it.is_empty());
        let all = workloads::all().iter().map(|it| it.name());
        assert_eq!(listed.collect::<Vec<_>>(), all.collect::<Vec<_>>());
    }

    #[test]
    fn a_server_to_ask_is_never_shown_and_needs_no_value() {
        let dsn = "host=h password=s3cret";
        let words = [
            "stallscope",
            "record",
            "--postgres",
            dsn,
            "--target",
            "pid:1",
        ];
        let parsed = format!("{:?}", Arguments::try_parse_from(words).expect("it parses"));
        assert!(!parsed.contains("s3cret"), "{parsed}");
        let words = ["stallscope", "run", "--postgres", "--", "pgbench"];
        let Ok(Command::Run(run)) = Arguments::try_parse_from(words).map(|it| it.command) else {
            panic!("it parses")
        };
        assert_eq!(run.recording.postgres.as_ref().map(Dsn::text), Some(""));
    }

    #[test]
    fn what_follows_two_dashes_is_the_workload_untouched() {
        let parsed =
            Arguments::try_parse_from(["stallscope", "run", "-q", "--", "pgbench", "-q", "--help"]);
        let Ok(Arguments {
            command: Command::Run(run),
        }) = parsed
        else {
            panic!("it parses: {parsed:?}")
        };
        assert!(run.recording.quiet);
        assert_eq!(run.workload, ["pgbench", "-q", "--help"]);
    }
}
