//! `run` and `record`: from arguments to a plan, from the plan to a recording, and from that to a verdict.
//!
//! `run` starts a workload and records while it lives; `record` attaches to what is there. Both end
//! with the recording read back from disk and diagnosed: what is shown is what is kept.

mod console;
mod finish;
mod live_verdict;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use recorder::{
    Application, Options, Plan, Recorded, Savings, Stderr, Stdout, Subject, WorkloadOptions,
};
use workloads::Adjust;

use self::console::Console;
use self::finish::{Wanted, finish};
use crate::COULD_NOT;
use crate::arguments::{Dsn, Record, RecordingOptions, Run, TOP};
use crate::nodes::Nodes;
use crate::outputs::{self, OutputFile, Screen};

/// Where the kernel shows its files.
const ROOT: &str = "/";

pub(crate) fn run(arguments: &Run) -> Result<u8> {
    let options = &arguments.recording;
    let subject = Subject::Workload(workload(arguments));
    let plan = Plan::new(planned(options, subject, ROOT.into()))?;
    let json = json(options)?;
    let screen = Screen::new();
    let nodes = Nodes::begin(&arguments.nodes, plan.folder(), &screen)?;
    let recorded = match carry_out(plan, options, &screen) {
        Ok(recorded) => recorded,
        Err(error) => {
            nodes.into_iter().for_each(Nodes::discard);
            return Err(error);
        }
    };
    // Before the answer: what is missing of a node is a part of it.
    let of_nodes = nodes.map(|it| it.finish(&recorded.folder, &screen));
    let workload = recorded.workload.as_ref();
    let status = workload.map_or(0, |workload| workload.exit.status());
    let own = match workload.is_some_and(|workload| workload.is_server_missing) {
        true => COULD_NOT,
        false => 0,
    };
    let wanted = Wanted {
        options,
        json,
        conditions: &arguments.fail_if,
        top: TOP,
    };
    let finished = finish(recorded, &screen, wanted);
    of_nodes.iter().flatten().for_each(|line| screen.say(line));
    screen.flush();
    match (status, finished) {
        (0, finished) => Ok(own.max(finished?)),
        // The workload's own failure weighs more than what went wrong in telling of it.
        (status, finished) => {
            if let Err(error) = finished {
                screen.say(&format!("stallscope: {}", outputs::sentence(&error)));
                screen.flush();
            }
            Ok(u8::try_from(status).unwrap_or(u8::MAX))
        }
    }
}

pub(crate) fn record(arguments: &Record) -> Result<u8> {
    let options = &arguments.recording;
    let triggers = arguments.segments.triggers();
    if triggers.is_some() && options.json.is_some() {
        bail!(
            "--json writes the report of one recording, and --trigger may save several. Leave --json out, and run afterwards: \
             stallscope explain RECORDING --json FILE"
        );
    }
    let subject = Subject::Running {
        length: arguments.length,
    };
    let plan = Plan::new(Options {
        segments: arguments.segments.options()?,
        triggers,
        ..planned(options, subject, arguments.root.clone())
    })?;
    let json = json(options)?;
    let screen = Screen::new();
    let recorded = carry_out(plan, options, &screen)?;
    if let Some(savings) = &recorded.savings {
        screen.say(&saved_by_triggers(savings));
        screen.flush();
        return Ok(0);
    }
    let wanted = Wanted {
        options,
        json,
        conditions: &[],
        top: arguments.top,
    };
    finish(recorded, &screen, wanted)
}

/// What was saved, and what to do with it.
fn saved_by_triggers(savings: &Savings) -> String {
    let suppressed = match savings.suppressed {
        0 => String::new(),
        1 => " 1 more firing was not saved.".to_owned(),
        many => format!(" {many} more firings were not saved."),
    };
    match &*savings.recordings {
        [] => format!("No trigger fired: nothing was kept.{suppressed}"),
        [.., newest] => format!(
            "Saved {} ({:.1} MB).{suppressed} Next: stallscope explain {}",
            analysis::count(savings.recordings.len() as u32, "recording"),
            savings.bytes as f64 / 1e6,
            newest.display()
        ),
    }
}

fn workload(arguments: &Run) -> WorkloadOptions {
    let json = arguments.recording.json.as_deref();
    WorkloadOptions {
        argv: arguments.workload.clone(),
        adjust: match arguments.no_adjust {
            true => Adjust::Forbidden,
            false => Adjust::Allowed,
        },
        adapter: arguments.adapter,
        patterns: arguments.metric.clone(),
        quantiles: arguments.quantiles,
        stdout: match json.is_some_and(OutputFile::means_stdout) {
            true => Stdout::ToStderr,
            false => Stdout::ToStdout,
        },
        stderr: stderr(),
    }
}

/// What our own standard error is.
fn stderr() -> Stderr {
    if std::io::stderr().is_terminal() {
        Stderr::Terminal
    } else if outputs::one_place() {
        Stderr::SameAsStdout
    } else {
        Stderr::Own
    }
}

/// What the command line asks for.
fn planned(options: &RecordingOptions, subject: Subject, root: PathBuf) -> Options {
    Options {
        subject,
        folder: options.output.clone(),
        segments: None,
        triggers: None,
        targets: options.target.clone(),
        applications: applications(options),
        trace_all: options.trace_all,
        stack_rate: options.stacks.0,
        min_wait: options.min_wait,
        logs: options.log.clone(),
        goals: options.slo.clone(),
        root,
        argv: std::env::args_os().collect(),
    }
}

/// The applications to ask, with their addresses.
fn applications(options: &RecordingOptions) -> Vec<(Application, String)> {
    let named = [
        (Application::Postgres, &options.postgres),
        (Application::MySql, &options.mysql),
        (Application::PgBouncer, &options.pgbouncer),
        (Application::Redis, &options.redis),
        (Application::Prometheus, &options.scrape),
    ];
    let asked = |(application, dsn): (Application, &Option<Dsn>)| {
        Some((application, dsn.as_ref()?.text().to_owned()))
    };
    named.into_iter().filter_map(asked).collect()
}

/// Where the report goes as JSON, opened now: it fails before the run, not after.
fn json(options: &RecordingOptions) -> Result<Option<OutputFile>> {
    options
        .json
        .as_deref()
        .map(|it| OutputFile::open(it, "--json"))
        .transpose()
}

fn carry_out(plan: Plan, options: &RecordingOptions, screen: &Screen) -> Result<Recorded> {
    let console = Console::new(screen.clone(), options.quiet, plan.rate_unit());
    Ok(recorder::record(plan, Arc::new(console))?)
}
