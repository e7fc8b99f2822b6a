//! The options of `symbolize`.

use std::path::PathBuf;

use clap::Args;

/// Examples of `symbolize`.
const HELP: &str = "\
Examples:
  stallscope symbolize pgbench-1.stall --debuginfo https://debuginfod.debian.net
  stallscope symbolize pgbench-1.stall --debuginfo /srv/debug -o named.stall

Looks in each folder and at each server that is named, then in /usr/lib/debug and in the cache of
debuginfod-find, and takes only what has the build id that was recorded. The recording stays as it is.";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Symbolize {
    /// The recording, a folder or a bundle. [default: the newest folder here]
    #[arg(value_name = "REC")]
    pub(crate) recording: Option<PathBuf>,
    /// A folder with debugging information, or a debuginfod server. Repeatable.
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) debuginfo: Vec<String>,
    /// Make this new folder. [default: REC-symbolized.stall here]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}
