//! What is measured while a recording runs, a folder or file per subject, and the sampler that decides when.
//!
//! A collector reads through `kernel`, and knows nothing of recordings or analysis. `sampler/all.rs` lists all.
#![warn(missing_docs)]

mod block_io;
mod budget;
mod cgroups;
mod clock_readings;
mod collector;
mod connections;
mod events;
mod file_waits;
mod filesystems;
mod flows;
mod gaps;
mod handle;
mod interner;
mod jvms;
mod logs;
mod machine;
mod open_files;
mod opening;
mod output;
mod pressure;
mod probe;
mod processes;
mod program_runs;
mod psi_series;
mod readers;
mod registry;
mod requests;
mod sampler;
mod scene;
mod schedule;
mod stacks;
mod table_buffer;
mod thread_time;
mod tick;

pub use handle::{Command, Ending, SamplerEvent, SamplerHandle, Settings, Spare};
pub use logs::LogSource;
pub use sampler::Sampler;
