//! The options of `mark`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::duration::parse_duration;

/// Examples of `mark`.
const MARK_HELP: &str = "\
Examples:
  stallscope mark 'index built'
  stallscope mark 'deploy began' --at 42s pgbench-1.stall
  stallscope compare --align 'mark:deploy began' a.stall b.stall -o both.html

A mark stands on the recording's page, and runs can be aligned at it.";

#[derive(Args, Debug)]
#[command(after_help = MARK_HELP)]
pub(crate) struct Mark {
    /// What happened, on one line of at most 200 characters.
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// The recording's folder. [default: the newest here]
    #[arg(value_name = "REC")]
    pub(crate) recording: Option<PathBuf>,
    /// When it happened, counted from the workload's start: 42s. [default: now, of what is still recorded]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) at: Option<Duration>,
}
