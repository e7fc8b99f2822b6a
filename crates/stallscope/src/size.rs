//! `size`: which configuration is enough for a load, from a sweep or from recordings.

mod apart;
mod candidates;
mod prices;
mod sources;

use analysis::sizing::{Wanted, size as sized};
use anyhow::{Context, Result};
use model::SizingAsk;

use self::sources::Source;
use crate::arguments::Size;
use crate::outputs::{self, OutputFile};
use crate::temporary_output;

pub(crate) fn size(arguments: &Size) -> Result<u8> {
    let json = arguments.json.as_deref();
    let json = json.map(|it| OutputFile::open(it, "--json")).transpose()?;
    let _interrupts = temporary_output::watch()?;
    let prices = arguments.price.as_deref().map(prices::read).transpose()?;
    let Source { sweep, made } = sources::read(&arguments.paths)?;
    let wanted = Wanted {
        asked: SizingAsk {
            rate: arguments.rate,
            goal: arguments.slo,
        },
        at: candidates::candidates(&sweep, &made, &arguments.at)?,
        prices,
        made,
    };
    let report = sized(&sweep, &wanted);
    let detail = match arguments.verbose {
        true => outputs::Detail::Full,
        false => outputs::Detail::Short,
    };
    let text = outputs::sizing(&report, detail);
    let for_people = !json.as_ref().is_some_and(OutputFile::is_stdout);
    if let Some(file) = json {
        file.write(&report)?;
    }
    match for_people {
        true => outputs::show(&text).context("cannot write to standard output")?,
        false => outputs::say(text.trim_end()),
    }
    Ok(0)
}
