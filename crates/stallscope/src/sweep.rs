//! `sweep`: runs a command over the values of its parameters, and says how far more brings more, and what limits where.

mod again;
mod design;
mod instances;
mod parameter;
mod plan;
mod running;
mod search;
mod server;

use anyhow::{Context, Result};
use model::Sweep;

pub(crate) use again::again;
pub(crate) use parameter::{Parameter, combinations};

use self::plan::Plan;
use self::running::{Done, Running};
use crate::outputs::{self, OutputFile};
use crate::{arguments, temporary_output};

pub(crate) fn sweep(arguments: &arguments::Sweep) -> Result<u8> {
    let plan = Plan::new(arguments)?;
    if let Some(target) = plan.lowered()
        && !arguments.yes
    {
        outputs::say(&server::intention(&plan, target));
        return Ok(crate::COULD_NOT_EXPLAIN);
    }
    remove_left_groups();
    let json = arguments.json.as_deref();
    let json = json.map(|it| OutputFile::open(it, "--json")).transpose()?;
    let page = arguments.output.as_deref();
    let page = page.map(|it| OutputFile::open(it, "-o")).transpose()?;
    let done = Running::begin(&plan, arguments.folder.as_deref())?.all()?;
    let sweep = match done {
        Done::Swept(sweep) => *sweep,
        Done::Interrupted(signal) => return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
    };
    let _interrupts = temporary_output::watch()?;
    write(&sweep, arguments.verbose, json, page)?;
    Ok(0)
}

fn write(
    sweep: &Sweep,
    verbose: bool,
    json: Option<OutputFile>,
    page: Option<OutputFile>,
) -> Result<()> {
    let detail = match verbose {
        true => outputs::Detail::Full,
        false => outputs::Detail::Short,
    };
    let text = outputs::sweep(sweep, detail);
    let for_people = ![&json, &page]
        .into_iter()
        .flatten()
        .any(OutputFile::is_stdout);
    if let Some(file) = json {
        file.write(sweep)?;
    }
    if let Some(file) = page {
        file.write_text(&outputs::sweep_page(sweep))?;
    }
    match for_people {
        true => outputs::show(&text).context("cannot write to standard output")?,
        false => outputs::say(text.trim_end()),
    }
    Ok(())
}

/// Groups that a killed sweep left would be in the way of nobody, but they are nobody's to clean up otherwise.
fn remove_left_groups() {
    match capacity::remove_of_dead() {
        Ok(removed) => removed.iter().for_each(|it| {
            outputs::say(&format!(
                "removed the cgroup {}, which a command that was killed had left",
                it.display()
            ));
        }),
        // Whoever may make no groups has left none.
        Err(error) if rustix::process::geteuid().is_root() => outputs::say(&error.to_string()),
        Err(_) => {}
    }
}
