//! Runs of commands in turns, each recorded, in a folder that an interrupted experiment goes on in.

mod command;
mod measured;
mod one_run;
mod state;

pub(crate) use command::argv;
pub(crate) use measured::{measured, measured_alone, order};
pub(crate) use one_run::{Interruption, OWN, Shell, WantedRun, make_run};
pub(crate) use state::{Design, Folder, Kept, Run, State, free_folder, kept};
