//! The lab: situations whose cause is known by construction, made on throwaway servers, to
//! score what `stallscope run` says about them; a demonstration; and an independent check of figures.
//!
//! It starts the `stallscope` binary as any user would and reads the report's JSON. It must not use
//! the crates that measure or judge: what it holds against them it measures itself.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod again;
mod baseline;
mod binary;
mod blog;
mod by;
mod dated;
mod demo;
mod demo_storage;
mod disturbance;
mod gains;
mod groups;
mod hold;
mod interrupt;
mod kept_recordings;
mod leftovers;
mod mounts;
mod names;
mod outcome;
mod postgres;
mod print;
mod processes;
mod prove;
mod removal;
mod requirement;
mod running;
mod runs;
mod scenario;
mod scenarios;
mod score;
mod server;
mod shard;
mod soak;
mod spikes;
mod stage;
mod statistics;
mod step;
mod trials;
mod validate;
mod verify;
mod who;
mod witness;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

use crate::print::say;

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
    /// Show `stallscope run` and `compare` on a blog whose storage gets slower.
    DemoStorage(demo_storage::DemoStorageArguments),
    /// Make situations with and without their cause, to see that the cause is what costs.
    Validate(validate::ValidateArguments),
    /// Hold predicted gains against removals that are measured in turn with the recorded runs.
    Gains(gains::GainsArguments),
    /// Make spikes whose trigger is known, and hold spikes, period and trigger that are found against it.
    Spikes(spikes::SpikesArguments),
    /// Run experiments on servers whose limit is known, and hold what is proved and ruled out against it.
    Prove(prove::ProveArguments),
    /// Pack one recording of each scenario, with what must be found in it.
    Keep(kept_recordings::KeepArguments),
    /// Diagnose the packed recordings again, and say whether the answers are right.
    Kept(kept_recordings::KeptArguments),
    /// Be rough with the program, round after round, and see that what must hold does.
    Soak(soak::SoakArguments),
    /// Hold the report's figures against measurements made without Stallscope's code.
    Verify(verify::VerifyArguments),
    /// Keep something of the lab's for another program, until standard input ends.
    #[command(subcommand, hide = true)]
    Hold(hold::Held),
    /// Remove what a run of that pid left, once standard input ends.
    #[command(hide = true)]
    Janitor { run: u32 },
    #[command(flatten)]
    Part(server::Part),
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
        Command::DemoStorage(arguments) => with_clean_up(|| demo_storage::demo_storage(&arguments)),
        Command::Validate(arguments) => with_clean_up(|| validate::validate(&arguments)),
        Command::Gains(arguments) => with_clean_up(|| gains::gains(&arguments)),
        // Whoever only asks for names need not be told what a killed run left.
        Command::Spikes(arguments) if arguments.list => spikes::list(&arguments),
        Command::Spikes(arguments) => with_clean_up(|| spikes::spikes(&arguments)),
        Command::Prove(arguments) => with_clean_up(|| prove::prove(&arguments)),
        Command::Keep(arguments) => kept_recordings::keep(&arguments),
        Command::Kept(arguments) => kept_recordings::kept(&arguments),
        Command::Soak(arguments) if arguments.list => soak::list(&arguments),
        Command::Soak(arguments) => with_clean_up(|| soak::soak(&arguments)),
        Command::Hold(held) => with_clean_up(|| hold::hold(&held)),
        Command::Janitor { run } => {
            leftovers::janitor(run)?
                .iter()
                .for_each(|it| eprintln!("{it}"));
            Ok(0)
        }
        Command::Part(part) => server::play(&part),
        Command::Verify(arguments) => with_clean_up(|| verify::verify(&arguments)),
    }
}

/// For commands that start processes: an interrupt unwinds them, what a killed run left behind is removed first, and
/// what this one leaves if it is killed, by its janitor.
fn with_clean_up(work: impl FnOnce() -> Result<u8>) -> Result<u8> {
    leftovers::sign()?;
    interrupt::watch()?;
    for sentence in leftovers::remove_of_dead_runs()? {
        eprintln!("{sentence}");
    }
    let _pipe = leftovers::start_janitor()?;
    work()
}

fn list() {
    for scenario in scenarios::all() {
        let set = scenario.set.to_possible_value();
        let set = set.as_ref().map_or("", |value| value.get_name());
        say!("{} ({set}; {})", scenario.name, scenario.kind.word());
        say!("    {}", scenario.about);
        say!("    mechanism: {}", scenario.mechanism);
        say!("    must find: {}", scenario.expect);
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
