//! `report`: the page that shows a recording.

use anyhow::{Context, Result, bail};

use crate::arguments::ReportPage;
use crate::{explain, opened, outputs, page, unfinished};

pub(crate) fn report(arguments: &ReportPage) -> Result<u8> {
    let _interrupts = unfinished::watch()?;
    let (path, recording) = opened::open(arguments.recording.as_deref())?;
    let report = explain::report(&recording, arguments.from, arguments.to)?;
    let drawn = page::draw(&recording, &report, &page::name(&path))?;
    let file = match &arguments.output {
        Some(file) => file.clone(),
        None => page::place(&path),
    };
    if let Err(error) = page::save(&drawn, &file) {
        bail!(
            "cannot write {}: {error}. Choose another place with -o FILE",
            file.display()
        );
    }
    outputs::show(&format!("{}\n", file.display())).context("cannot write to standard output")?;
    Ok(0)
}
