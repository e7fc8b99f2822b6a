//! The options of `explain`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use model::Goal;

use super::{Stored, TOP};
use crate::duration::parse_duration;
use crate::goal::parse_goal;
use crate::part::{Instant, parse_instant};

/// Examples of `explain`.
const EXPLAIN_HELP: &str = "\
Examples:
  stallscope explain pgbench-1.stall --from 10s --to 40s
  stallscope explain n1.stall n2.stall n3.stall -o cluster.html
  stallscope explain --prometheus http://metrics:9090 --instance 'db-.*' --last 2h
  stallscope explain --prometheus http://metrics:9090 --instance 'db-.*' --from 14:00 --to 16:30 \\
      --metric 'sum(rate(requests_total[1m]))' --also 'pg_stat_database_.*' -o cluster.html

Several nodes, from recordings or from the metrics that a store has of them: docs/cluster.md.";

#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct Explain {
    /// The recording, a folder or a bundle; several of one time, of a node each, are explained together. [default: the newest folder here]
    #[arg(value_name = "REC", conflicts_with = "prometheus")]
    pub(crate) recordings: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) stored: Stored,
    /// Judge from this time on: 10s after the workload's start, or by the wall clock: 14:05, 2026-11-28T14:05:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) from: Option<Instant>,
    /// Judge up to this time.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) to: Option<Instant>,
    /// Judge so much of its end: 10m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with_all = ["from", "to"])]
    pub(crate) last: Option<Duration>,
    /// Judge beside this goal, and not those of the recording: 'p99<10ms', 'mean<5ms', 'max<1s'. Repeatable.
    #[arg(long, value_name = "GOAL", value_parser = parse_goal)]
    pub(crate) slo: Vec<Goal>,
    /// Of a recording of the whole machine: give so many verdicts.
    #[arg(long, value_name = "N", default_value_t = TOP)]
    pub(crate) top: usize,
    /// Print the ten call paths that took most CPU time too.
    #[arg(long)]
    pub(crate) stacks: bool,
    /// Leave these tables out: thread_time,process_time.
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Write the report as JSON to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Of several nodes: write their page here. (Of one recording: `stallscope report`.)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
