//! Tells what a Linux system is waiting for, who waits, why, and what would change it.
//!
//! From the command line to a plan, from the plan to an experiment, from its recording to outputs.
//!
//! A library only for the fuzzer, which feeds it what comes from outside; nothing else may be built on it.

mod arguments;
mod byte_size;
mod cluster;
mod compare;
mod condition;
mod difference_condition;
mod doctor;
mod duration;
mod experiments;
mod explain;
mod export;
pub mod fuzz_targets;
mod goal;
mod import;
mod instances;
mod mark;
mod nodes;
mod open_recording;
mod outputs;
mod page;
mod part;
mod precision;
mod prove;
mod report;
mod serve;
mod size;
mod stack_rate;
mod sweep;
mod symbolize;
mod temporary_output;
mod turns;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use arguments::{Arguments, Command};

/// Stallscope could not do what it was asked to, as env(1) says it.
const COULD_NOT: u8 = 125;
/// The same for commands that run no workload.
const COULD_NOT_EXPLAIN: u8 = 2;

/// The program, from its command line to its exit status.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misspelt(&error),
    };
    if !matches!(arguments.command, Command::Guardian { .. }) {
        prove::repair();
    }
    let (result, trouble) = match arguments.command {
        Command::Run(run) => (experiments::run(&run), COULD_NOT),
        Command::Record(record) => (experiments::record(&record), COULD_NOT_EXPLAIN),
        Command::Explain(explain) if cluster::is_of_several(&explain) => {
            (cluster::explain(&explain), COULD_NOT_EXPLAIN)
        }
        Command::Explain(explain) => (explain::explain(&explain), COULD_NOT_EXPLAIN),
        Command::Report(report) => (report::report(&report), COULD_NOT_EXPLAIN),
        Command::Compare(compare) => (compare::compare(&compare), COULD_NOT_EXPLAIN),
        Command::Instances { words } => (instances::instances(&words), COULD_NOT),
        Command::Sweep(it) => (sweep::sweep(&it), COULD_NOT_EXPLAIN),
        Command::Size(it) => (size::size(&it), COULD_NOT_EXPLAIN),
        Command::Prove(it) => (prove::prove(&it), COULD_NOT_EXPLAIN),
        Command::Guardian { journal } => (prove::guard(&journal), COULD_NOT_EXPLAIN),
        Command::Fetch(it) => (nodes::fetch(&it), COULD_NOT_EXPLAIN),
        Command::Node => (nodes::node(), COULD_NOT_EXPLAIN),
        Command::Export(export) => (export::export(&export), COULD_NOT_EXPLAIN),
        Command::Symbolize(it) => (symbolize::symbolize(&it), COULD_NOT_EXPLAIN),
        Command::Import(import) if cluster::is_asked(&import.stored) => {
            (cluster::import(&import), COULD_NOT_EXPLAIN)
        }
        Command::Import(import) => (import::import(&import), COULD_NOT_EXPLAIN),
        Command::Mark(mark) => (mark::mark(&mark), COULD_NOT_EXPLAIN),
        Command::Doctor(doctor) => (doctor::doctor(&doctor), COULD_NOT_EXPLAIN),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            outputs::say(&format!("stallscope: {}", outputs::sentence(&error)));
            // A workload that could not be started has its own statuses.
            let of_workload = error
                .downcast_ref::<recorder::Error>()
                .and_then(recorder::Error::exit_status);
            ExitCode::from(of_workload.unwrap_or(trouble))
        }
    }
}

/// What to type where the workload stands without the two dashes before it, which is easily forgotten.
fn dashes_lack(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let is_command = error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-');
    is_command.then(|| {
        format!(
            "The workload stands behind two dashes: stallscope run -- {}",
            outputs::harmless(word)
        )
    })
}

/// A command line that is not understood, or one that asks for help. `run` keeps the low statuses for
/// its workload, as env(1) does.
fn misspelt(error: &clap::Error) -> ExitCode {
    // Nothing is left to tell somebody whose terminal has gone.
    let _ = error.print();
    let is_run = std::env::args_os()
        .nth(1)
        .is_some_and(|command| command == "run");
    if is_run && let Some(advice) = dashes_lack(error) {
        outputs::say(&advice);
    }
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ if is_run => ExitCode::from(COULD_NOT),
        _ => ExitCode::from(COULD_NOT_EXPLAIN),
    }
}
