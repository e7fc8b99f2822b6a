//! The options by which `compare` makes the recordings itself.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use targets::NamedTarget;

use crate::duration::parse_duration;
use crate::precision::Precision;

const EXPERIMENT: &str = "Runs that are made to be compared";

/// What `compare` runs itself.
#[derive(Args, Debug)]
pub(crate) struct Experimenting {
    /// Run this command in turns with the others, and record each run. Twice or more.
    #[arg(long, value_name = "COMMAND", help_heading = EXPERIMENT)]
    pub(crate) run: Vec<String>,
    /// Keep the recordings here; the same command with the same folder goes on. [default: experiment-N here]
    #[arg(long, value_name = "FOLDER", requires = "run", help_heading = EXPERIMENT)]
    pub(crate) folder: Option<PathBuf>,
    /// Run until half of the interval of each difference is no wider.
    #[arg(long, value_name = "PERCENT", default_value = "2%", requires = "run", help_heading = EXPERIMENT)]
    pub(crate) precision: Precision,
    /// Run for no longer than this, all runs together.
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "run", value_parser = parse_duration, help_heading = EXPERIMENT)]
    pub(crate) budget: Duration,
    /// The server of every run, as in run. Repeatable.
    #[arg(long, value_name = "TARGET", requires = "run", value_parser = typed::<NamedTarget>, help_heading = EXPERIMENT)]
    pub(crate) target: Vec<String>,
    /// Read throughput and the like from what it prints, as in run. Repeatable.
    #[arg(long, value_name = "NAME=REGEX", requires = "run", value_parser = typed::<workloads::Rule>, help_heading = EXPERIMENT)]
    pub(crate) metric: Vec<String>,
    /// Read the output of every run as that of this load generator, as in run.
    #[arg(long = "workload", value_name = "NAME", requires = "run", value_parser = typed::<workloads::Chosen>, help_heading = EXPERIMENT)]
    pub(crate) adapter: Option<String>,
}

/// What is passed on as typed, once it is known to be right.
pub(super) fn typed<T: FromStr>(text: &str) -> Result<String, T::Err> {
    text.parse::<T>().map(|_| text.to_owned())
}
