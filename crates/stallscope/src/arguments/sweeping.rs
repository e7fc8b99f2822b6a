//! The options of `sweep`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use model::Goal;
use targets::NamedTarget;

use super::experimenting::typed;
use crate::duration::parse_duration;
use crate::goal::parse_goal;
use crate::sweep::Parameter;

const RUNS: &str = "How runs are made";

/// Examples of `sweep`.
const SWEEP_HELP: &str = "\
Examples:
  stallscope sweep --set clients=1,2,4..64 -- pgbench -S -c {clients} -j 2 -T 10 bench
  stallscope sweep --set clients=1..100 --slo 'p99<10ms' -- pgbench -S -c {clients} -T 10 bench
  stallscope sweep --set nodes=3,6 --apply './set-nodes.sh {nodes}' -- ./load-test.sh
  stallscope sweep --set instances=1,2,4..16 --set quota=0.5 --prepare './start.sh {instance}' -- ./load.sh {instance}
  stallscope sweep --set quota=0.5,1,2 --target port:5432 --yes -- pgbench -S -c 8 -T 10 bench
  stallscope sweep --plan sweep.toml -o sweep.html

A list has values between commas. 1..8 is 1, 2, 3 to 8; 2,4..16 goes on in the same steps, and 1,2,4..64 doubles.
'cpus+memory=2/4G,4/8G' sets two together. instances=N runs N at once, each in its cgroup, whose quota, cpus,
memory, iops and bandwidth can be set. Repeats run in random order. The same command with --folder goes on where it was interrupted. More: docs/sweep.md.";

#[derive(Args, Debug)]
#[command(after_help = SWEEP_HELP)]
pub(crate) struct Sweep {
    /// Vary this; its name in braces stands for its value in every command: 'clients=1,2,4..64'. Repeatable.
    #[arg(long, value_name = "NAME=LIST", required_unless_present = "plan")]
    pub(crate) set: Vec<Parameter>,
    /// Run each configuration so often. [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Find the highest value that keeps this, instead of running all: 'p99<10ms'.
    #[arg(long, value_name = "GOAL", value_parser = parse_goal)]
    pub(crate) slo: Option<Goal>,
    /// Read what is not typed from this file: docs/sweep.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Run this in a shell whenever the configuration changes. Repeatable.
    #[arg(long, value_name = "COMMAND", help_heading = RUNS)]
    pub(crate) apply: Vec<String>,
    /// Run this in a shell before each run. Repeatable.
    #[arg(long, value_name = "COMMAND", help_heading = RUNS)]
    pub(crate) prepare: Vec<String>,
    /// Run this in a shell after each run. Repeatable.
    #[arg(long, value_name = "COMMAND", help_heading = RUNS)]
    pub(crate) cleanup: Vec<String>,
    /// Wait so long between runs. [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = RUNS)]
    pub(crate) cool_down: Option<Duration>,
    /// Begin no run that would end later than this, all runs together. [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = RUNS)]
    pub(crate) budget: Option<Duration>,
    /// Keep the recordings here; the same command with the same folder goes on. [default: sweep-N here]
    #[arg(long, value_name = "FOLDER", help_heading = RUNS)]
    pub(crate) folder: Option<PathBuf>,
    /// The server of every run, as in run. Repeatable.
    #[arg(long, value_name = "TARGET", value_parser = typed::<NamedTarget>, help_heading = RUNS)]
    pub(crate) target: Vec<String>,
    /// Lower the limits that are set (quota, cpus, memory, iops, bandwidth) of --target's cgroup, for each run.
    #[arg(long, help_heading = RUNS)]
    pub(crate) yes: bool,
    /// Read throughput and the like from what it prints, as in run. Repeatable.
    #[arg(long, value_name = "NAME=REGEX", value_parser = typed::<workloads::Rule>, help_heading = RUNS)]
    pub(crate) metric: Vec<String>,
    /// Read the output of every run as that of this load generator, as in run.
    #[arg(long = "workload", value_name = "NAME", value_parser = typed::<workloads::Chosen>, help_heading = RUNS)]
    pub(crate) adapter: Option<String>,
    /// Write the sweep as a page, one HTML file that opens offline, to FILE.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the sweep as JSON to FILE (- for standard output).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Print every figure, and not only those that say something.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The load generator and its arguments, with parameters in braces.
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "plan")]
    pub(crate) command: Vec<OsString>,
}
