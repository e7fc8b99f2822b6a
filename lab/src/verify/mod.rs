//! `verify`: the report's figures against measurements made at the same time without Stallscope's
//! code: the kernel's own accounting of the server's control group, the scheduler's statistics of
//! each of its processes, and what load generators say of themselves.

mod comparison;
mod recorded;
mod request_times;
mod requests;
mod statements;
mod tally;
mod thread_times;
mod witness;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use model::Report;

use crate::demo::{as_a_shell_says, load};
use crate::groups::{Group, Hierarchies};
use crate::postgres::Postgres;
use crate::print::say;
use crate::{binary, interrupt, outcome, requirement};
use witness::{Account, Testimony, Witness};

/// What is verified.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// CPU time, run-queue delay and throughput of a saturated pgbench.
    Figures,
    /// Throughput from the kernel's counts, against eleven load generators' own.
    Requests,
    /// Request times under the duty cycle, against pgbench's log of each transaction, under five loads.
    RequestTimes,
    /// Run time and wait for a CPU against perf, and the duty cycle against --trace-all, under the same loads.
    ThreadTimes,
    /// CPU time by SQL statement against pg_stat_kcache's, and the time that belongs to no statement.
    Statements,
}

/// Arguments of `verify`.
#[derive(Args)]
pub struct VerifyArguments {
    /// What to verify.
    #[arg(value_enum, default_value = "figures")]
    what: What,
    /// How often each load of `requests`, `request-times` and `statements` is run.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Only loads whose name holds this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The program to check [default: beside this program, in target, or in PATH]
    #[arg(long, value_name = "PATH")]
    stallscope: Option<PathBuf>,
    /// Length of the load
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(5..))]
    seconds: u32,
    /// Folder for the recording and the report
    #[arg(long, value_name = "FOLDER", default_value = "target/lab")]
    out: PathBuf,
}

/// Runs the loads and compares; the status is 1 when a figure is off.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    match arguments.what {
        What::Figures => figures(arguments),
        What::Requests => requests::verify(arguments),
        What::RequestTimes => request_times::verify(arguments),
        What::ThreadTimes => thread_times::verify(arguments),
        What::Statements => statements::verify(arguments),
    }
}

fn figures(arguments: &VerifyArguments) -> Result<u8> {
    let stallscope = binary::find(arguments.stallscope.as_deref())?;
    let mut server = Postgres::make()?;
    server.start(&[])?;
    // Declared after the server, so dropped before it: its processes are moved back first.
    let (group, account) = match accounting_group(&server) {
        Ok(accounting) => accounting,
        Err(error) => {
            say!("skipped: {error:#}");
            return Ok(u8::from(requirement::everything()));
        }
    };
    let report = arguments.out.join("verify.json");
    let mut command = prepare(arguments, &stallscope, &report)?;
    server.serve_command(&mut command);

    let witness = Witness::start(group.folder().to_path_buf(), account)?;
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", stallscope.display()))?;
    let printed = pass_through(&mut child);
    let status = interrupt::wait(&mut child)?;
    let printed = printed.join().unwrap_or_default();
    let testimony = witness.stop();
    interrupt::check()?;
    if !status.success() {
        bail!(
            "stallscope run ended with {}: there is nothing to verify",
            as_a_shell_says(status)
        );
    }
    let Some(report) = outcome::read_json::<Report>(&report)? else {
        bail!("stallscope run wrote no report to {}", report.display());
    };
    Ok(say(&report, &testimony, &printed))
}

/// A group that only counts: v1 cpuacct, or v2 whose cpu.stat counts without any controller.
fn accounting_group(server: &Postgres) -> Result<(Group, Account)> {
    let hierarchies = Hierarchies::find()?;
    let (group, account) = if let Some(cpuacct) = hierarchies.v1.get("cpuacct") {
        (Group::create(cpuacct, "verify")?, Account::V1)
    } else if let Some(v2) = &hierarchies.v2 {
        (Group::create(v2, "verify")?, Account::V2)
    } else {
        bail!("no cgroup hierarchy that counts CPU time is mounted");
    };
    // Where cpu and cpuacct are one hierarchy the group also has a weight, too small by default
    // beside the tasks of the root group.
    if group.file("cpu.shares").exists() {
        group.set("cpu.shares", "8192")?;
    }
    group.take(server.pid())?;
    Ok((group, account))
}

fn prepare(arguments: &VerifyArguments, stallscope: &Path, report: &Path) -> Result<Command> {
    let out = &arguments.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let recording = out.join("verify.stall");
    remove(&[&recording, report])?;
    let mut command = Command::new(stallscope);
    command.args(["run", "-o"]).arg(recording);
    command.arg("--json").arg(report).arg("--");
    command.args(load(&arguments.seconds.to_string()));
    Ok(command)
}

/// Removes results of an earlier run.
fn remove(paths: &[&Path]) -> Result<()> {
    for path in paths {
        let removed = if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                bail!("cannot remove the earlier {}: {error}", path.display());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Passes the child's output on, and keeps it.
fn pass_through(child: &mut Child) -> std::thread::JoinHandle<String> {
    let output = child.stdout.take();
    std::thread::spawn(move || {
        let mut kept = String::new();
        for line in output
            .into_iter()
            .flat_map(|output| BufReader::new(output).lines())
        {
            let Ok(line) = line else { break };
            say!("{line}");
            kept.push_str(&line);
            kept.push('\n');
        }
        kept
    })
}

fn say(report: &Report, testimony: &Testimony, printed: &str) -> u8 {
    say!();
    say!(
        "Independent check over the report's window of {:.1} s ({} samples)",
        report.window.seconds(),
        testimony.samples()
    );
    let comparisons = comparison::all(report, testimony, printed);
    for comparison in &comparisons {
        say!("{comparison}");
    }
    u8::from(!comparisons.iter().all(comparison::Comparison::holds))
}
