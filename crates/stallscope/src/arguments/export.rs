//! The options of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::part::{Instant, parse_instant};

/// Examples of `export`.
const EXPORT_HELP: &str = "\
Examples:
  stallscope export --format parquet
  stallscope export pgbench-1.stall --format csv --table thread --table signal -o threads
  stallscope export pgbench-1.stall --format bundle --preview
  stallscope export pgbench-1.stall --format bundle
  stallscope explain pgbench-1.stallbundle
  stallscope export pgbench-1.stall --from 10s --to 20s
  stallscope export pgbench-1.stall --format folded

CSV and Parquet hold everything as recorded; folded, pprof, speedscope and perfetto the sampled call stacks. A bundle is redacted, to be sent: see docs/export.md.";

#[derive(Args, Debug)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct Export {
    /// The recording, a folder or a bundle. [default: the newest folder here]
    #[arg(value_name = "REC")]
    pub(crate) recording: Option<PathBuf>,
    /// csv, parquet, bundle or recording; of call stacks folded, pprof, speedscope or perfetto. [default with --from or --to: recording]
    #[arg(long, value_enum, hide_possible_values = true, required_unless_present_any = ["from", "to"])]
    pub(crate) format: Option<ExportFormat>,
    /// Only from this time on: 10s after the workload's start, or by the wall clock: 14:05, 2026-11-28T14:05:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) from: Option<Instant>,
    /// Only up to this time.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) to: Option<Instant>,
    /// Write here; it must not exist. [default: named after the recording, here]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Only this table (csv and parquet). Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Vec<String>,
    /// Call stacks of waits, by their time, and not of what ran (folded, pprof and speedscope).
    #[arg(long)]
    pub(crate) waits: bool,
    /// Which names a bundle keeps. [default: programs]
    #[arg(long, value_enum)]
    pub(crate) names: Option<Names>,
    /// Print what a bundle would hold, with every text in it, and write nothing.
    #[arg(long)]
    pub(crate) preview: bool,
}

impl Export {
    /// The format, where the user may have left it open.
    pub(crate) fn format(&self) -> ExportFormat {
        self.format.unwrap_or(ExportFormat::Recording)
    }
}

/// What `export` makes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExportFormat {
    /// A folder with one CSV file per table.
    Csv,
    /// A folder with one Parquet file per table.
    Parquet,
    /// One file to send: redacted, and read by explain and export.
    Bundle,
    /// A recording again, or the part of one between --from and --to.
    Recording,
    /// Sampled call stacks, a line for each path: for flamegraph.pl and inferno.
    Folded,
    /// Sampled call stacks for pprof.
    Pprof,
    /// Sampled call stacks for speedscope.
    Speedscope,
    /// Sampled call stacks on a time line, for Perfetto.
    Perfetto,
}

impl ExportFormat {
    /// Whether it holds call stacks and nothing else.
    pub(crate) fn is_of_stacks(self) -> bool {
        matches!(
            self,
            Self::Folded | Self::Pprof | Self::Speedscope | Self::Perfetto
        )
    }
}

/// Which names a bundle keeps.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Names {
    /// Of programs and devices; hosts, users, databases, addresses, folders and groups become host-1, user-1 and so on.
    Programs,
    /// Of devices only.
    None,
    /// All, as recorded; only what looks like a secret is taken out.
    All,
}
