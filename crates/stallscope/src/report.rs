//! `report`: a recording as a page.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use host::Interrupts;
use recording::Recording;
use tokio::sync::Notify;

use crate::arguments::Report;
use crate::serve::{Content, Server};
use crate::{explain, opened, outputs, unfinished};

pub(crate) fn report(arguments: &Report) -> Result<u8> {
    let interrupts = unfinished::watch()?;
    let (path, recording) = opened::open(arguments.recording.as_deref())?;
    serve(&path, recording, arguments.port.unwrap_or(0), interrupts)
}

/// Until an interrupt, which ended the program up to here and now ends the serving.
fn serve(path: &Path, recording: Recording, port: u16, until_now: Interrupts) -> Result<u8> {
    let server = Server::bind(port)?;
    let whole = explain::report(&recording, None, None)?;
    let page = outputs::json(&whole)?;
    if !recording.meta.complete {
        outputs::say(&format!(
            "{} is not complete: it is still being written, or was cut short. What is there now is served; start again for more",
            path.display()
        ));
    }
    let content = Content {
        page: page.into(),
        report: Arc::new(move |asked| {
            outputs::json(&explain::report(&recording, asked.from_ns, asked.to_ns)?)
        }),
    };
    let end = Arc::new(Notify::new());
    let told = end.clone();
    let _interrupts = Interrupts::watch(move |_| told.notify_one())?;
    drop(until_now);
    outputs::show(&format!("{}\n", server.url())).context("cannot write to standard output")?;
    outputs::say(&format!(
        "Serving {} to this machine only. Who knows the address may look. Ctrl-C ends it",
        path.display()
    ));
    server.run(content, &end)?;
    Ok(0)
}
