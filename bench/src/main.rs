//! What the program costs: figures as ratios of things measured in the same run, since the machines
//! that this runs on are noisy. `RESULTS.md` keeps what was measured, with date and command.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod attachments;
mod held;
mod hour;
mod memory;
mod mixed;
mod own;
mod probes;
mod recorder;
mod replay;
mod sampling;
mod sensitivity;
mod size;
mod stacks;
mod started;
mod tasks;
mod triggered;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// What the program costs.
#[derive(Parser)]
#[command(name = "stallscope-bench", version)]
struct Arguments {
    /// One figure; all when left out.
    #[command(subcommand)]
    figure: Option<Figure>,
}

#[derive(Subcommand, Clone)]
enum Figure {
    /// Bytes per value on disk, of a recorded and a made-up set of 2,000 series.
    Size {
        /// Another recording instead of these.
        recording: Option<PathBuf>,
    },
    /// Time and memory to diagnose one hour at 10 Hz, and ten minutes of 20,000 processes.
    Hour,
    /// CPU of a full sample against bare reads of the same files, at 10, 200 and 1,000 groups.
    Sampling,
    /// CPU of reading 1,300 tasks and the pressure of 200 groups, by programs in the kernel and by files.
    Tasks,
    /// CPU of `stallscope record` at the default, beside atop.
    Own,
    /// CPU of `stallscope record --trigger` against `stallscope record`.
    Triggered,
    /// Memory of `stallscope record` at 1,000 groups.
    Memory,
    /// ns per event of the programs in the kernel, net of a program that does nothing.
    Probes,
    /// ns per frame of unwinding, of samples of what runs beside it: start a load first.
    Stacks,
    /// What each further program that is attached to the scheduler's switches costs.
    Attachments,
    /// How many answers turn when a threshold is 30 % lower or higher; costs nothing but time (minutes).
    Sensitivity {
        /// Packed recordings whose answers are right.
        #[arg(default_value = "lab/recordings")]
        recordings: PathBuf,
    },
    /// Throughput of a saturated pgbench beside `stallscope record` that goes on and stands still.
    Workload,
    /// The same beside recorders that are started and ended: with what stays at its hooks throughout.
    Started,
    /// Copies a recording without its names, to be kept here; measures nothing.
    Keep {
        /// The recording.
        from: PathBuf,
        /// The folder to make.
        to: PathBuf,
    },
}

impl Figure {
    fn all() -> Vec<Figure> {
        vec![
            Figure::Size { recording: None },
            Figure::Hour,
            Figure::Sampling,
            Figure::Tasks,
            Figure::Own,
            Figure::Triggered,
            Figure::Memory,
            Figure::Probes,
            Figure::Attachments,
            Figure::Workload,
            Figure::Started,
        ]
    }

    fn measure(&self) -> Result<()> {
        match self {
            Figure::Size { recording } => size::measure(recording.as_deref()),
            Figure::Hour => hour::measure(),
            Figure::Sampling => sampling::measure(),
            Figure::Tasks => tasks::measure(),
            Figure::Own => own::measure(),
            Figure::Triggered => triggered::measure(),
            Figure::Memory => memory::measure(),
            Figure::Probes => probes::measure(),
            Figure::Stacks => stacks::measure(),
            Figure::Attachments => attachments::measure(),
            Figure::Sensitivity { recordings } => sensitivity::measure(recordings),
            Figure::Workload => workload::measure(),
            Figure::Started => started::measure(),
            Figure::Keep { from, to } => replay::keep(from, to),
        }
    }
}

fn main() -> ExitCode {
    let figures = match Arguments::parse().figure {
        Some(figure) => vec![figure],
        None => Figure::all(),
    };
    for figure in figures {
        if let Err(error) = figure.measure() {
            eprintln!("stallscope-bench: {error:#}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
