//! The options by which `run` records on other machines too, and those of `fetch`.

use std::path::PathBuf;

use clap::Args;

use crate::nodes::Destination;

const NODES: &str = "Other machines (docs/cluster.md)";

/// On which machines the run is recorded besides this one.
#[derive(Args, Debug)]
pub(crate) struct NodeOptions {
    /// Record on these machines too, over ssh: n1,user@n2,ssh://user@n3:2222. Repeatable.
    #[arg(long, value_name = "NODE,...", value_delimiter = ',', help_heading = NODES)]
    pub(crate) on: Vec<Destination>,
    /// Copy this program to nodes that lack it or have another version, for the time of the run.
    #[arg(long, requires = "on", help_heading = NODES)]
    pub(crate) copy: bool,
}

/// What `run --on` could not fetch.
#[derive(Args, Debug)]
pub(crate) struct Fetch {
    /// The folder beside the run's recording, NAME-nodes.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Copy this program to nodes that lack it or have another version, for the time that it takes.
    #[arg(long)]
    pub(crate) copy: bool,
}
