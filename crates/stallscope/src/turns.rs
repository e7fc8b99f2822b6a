//! Runs of commands in turns, each recorded, in a folder that an interrupted experiment goes on in.

mod measured;
mod one_run;
mod state;
mod words;

pub(crate) use measured::{measured, measured_alone, order};
pub(crate) use one_run::{Interruption, Turn, turn};
pub(crate) use state::{Design, Folder, Run, State, free_folder};
pub(crate) use words::argv;
