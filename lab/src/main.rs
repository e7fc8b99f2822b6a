//! The lab: situations whose cause is known by construction, made on a throwaway PostgreSQL, to
//! score what `stallscope run` says about them; a demonstration; and an independent check of figures.
//!
//! It starts the `stallscope` binary as any user would and reads the report's JSON. It must not use
//! the crates that measure or judge: what it holds against them it measures itself.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod baseline;
mod binary;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the scenario of a slow network uses it")
)]
mod delay;
mod demo;
mod disturbance;
mod groups;
mod interrupt;
mod leftovers;
mod outcome;
mod postgres;
mod processes;
mod requirement;
mod runs;
mod scenario;
mod scenarios;
mod score;
mod verify;
mod wilson;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Situations with a known cause, to score the diagnosis.
#[derive(Parser)]
#[command(name = "stallscope-lab", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Name the scenarios, what each does and what must be found.
    List,
    /// Make the situations and record each with `stallscope run`.
    Run(runs::RunArguments),
    /// Say how often the verdict was right, from the results of `run`.
    Score(score::ScoreArguments),
    /// Show `stallscope run` on a throwaway PostgreSQL under pgbench.
    Demo(demo::DemoArguments),
    /// Hold the report's figures against measurements made without Stallscope's code.
    Verify(verify::VerifyArguments),
}

/// Exit status of a command that could not do its work.
const COULD_NOT: u8 = 2;

fn main() -> ExitCode {
    let status = match execute(Arguments::parse().command) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("stallscope-lab: {error:#}");
            interrupt::pending().map_or(COULD_NOT, |interrupt| interrupt.exit_status())
        }
    };
    ExitCode::from(status)
}

fn execute(command: Command) -> Result<u8> {
    match command {
        Command::List => {
            list();
            Ok(0)
        }
        Command::Run(arguments) => with_clean_up(|| runs::run(&arguments)),
        Command::Score(arguments) => score::score(&arguments),
        Command::Demo(arguments) => with_clean_up(|| demo::demo(&arguments)),
        Command::Verify(arguments) => with_clean_up(|| verify::verify(&arguments)),
    }
}

/// For commands that start processes: an interrupt unwinds them, and what a killed run left behind
/// is removed first.
fn with_clean_up(work: impl FnOnce() -> Result<u8>) -> Result<u8> {
    interrupt::watch()?;
    for sentence in leftovers::remove()? {
        eprintln!("{sentence}");
    }
    work()
}

fn list() {
    for scenario in scenarios::all() {
        println!("{}", scenario.name);
        println!("    {}", scenario.about);
        println!("    must find: {}", scenario.expect);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
