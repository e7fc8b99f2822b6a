//! `report`: the page that shows a recording.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kernel::Interrupts;
use recording::Recording;
use tokio::sync::Notify;

use crate::arguments::{ReportPage, TOP};
use crate::open_recording::{self, Opened};
use crate::part::Part;
use crate::serve::{Content, Server};
use crate::{explain, outputs, page, temporary_output};

pub(crate) fn report(arguments: &ReportPage) -> Result<u8> {
    let interrupts = temporary_output::watch()?;
    let part = Part {
        last: arguments.last,
        ..Part::between(arguments.from, arguments.to)
    };
    let Opened {
        path,
        mut recording,
        page: own,
        proof,
    } = open_recording::to_judge(arguments.recording.as_deref(), &part)?;
    let server = match arguments.serve {
        true => Some(Server::bind(arguments.port.unwrap_or(0))?),
        false => None,
    };
    let as_it_is = proof.as_ref().map(|it| it.as_it_is);
    let window = part.window(&recording)?.or(as_it_is);
    let mut report = explain::report(&mut recording, window, TOP);
    if let Some(proof) = &proof {
        analysis::proof::apply(&mut report, proof);
    }
    let mut other = arguments.against.as_deref().map(against).transpose()?;
    let against = other.as_mut().map(|(name, other)| page::Against {
        window: explain::report(other, None, TOP).window,
        timeline: &other.timeline,
        name: name.clone(),
    });
    let name = page::name(&path);
    let mut drawn = page::draw_against(&recording, &report, &name, against.as_ref())?;
    if let Some(server) = server {
        drawn.page.served = true;
        return serve(server, &drawn, recording, interrupts);
    }
    let place = match &arguments.output {
        Some(file) => page::Place::Named(file.clone()),
        None => own,
    };
    let file = place.path();
    if let Err(error) = page::save(&drawn, &place) {
        bail!(
            "cannot write {}: {error}. Choose another place with -o FILE",
            file.display()
        );
    }
    outputs::show(&format!("{}\n", file.display())).context("cannot write to standard output")?;
    Ok(0)
}

/// The recording to compare with, and its name. One without call stacks has nothing to compare.
fn against(path: &Path) -> Result<(String, Recording)> {
    let Opened {
        path, recording, ..
    } = open_recording::to_judge(Some(path), &Part::between(None, None))?;
    let name = page::name(&path);
    let tables = [&sensors::stack::CPU_SAMPLE, &sensors::stack::WAIT_SAMPLE];
    let has_stacks = |table: &&model::Table| recording.timeline.table(&table.name).is_some();
    if !tables.iter().any(has_stacks) {
        bail!(
            "{name} has no call stacks to compare with: record it as root, and without `--stacks off`"
        );
    }
    Ok((name, recording))
}

/// Serves a page, and the report over any window of its recording, until an interrupt. Up to here one
/// ended the program.
fn serve(
    server: Server,
    drawn: &page::Drawn,
    recording: Recording,
    until_now: Interrupts,
) -> Result<u8> {
    let mut html = Vec::new();
    page::write(drawn, &mut html).context("cannot write the page")?;
    let name = &drawn.page.recording;
    if !drawn.page.complete {
        outputs::say(&format!(
            "{name} is not complete: it is still being written, or was cut short. What is there now is served; start again for more"
        ));
    }
    let content = Content {
        page: html.into(),
        policy: page::policy(&drawn.page),
        report: Arc::new(move |asked| {
            let report = explain::over(&recording, asked.from_ns, asked.to_ns)?;
            outputs::json_text(&report)
        }),
    };
    let end = Arc::new(Notify::new());
    let told = end.clone();
    let _interrupts = Interrupts::watch(move |_| told.notify_one())?;
    drop(until_now);
    outputs::show(&format!("{}\n", server.url())).context("cannot write to standard output")?;
    outputs::say(&format!(
        "Serving {name} to this machine only. Who knows the address may look. Ctrl-C ends it"
    ));
    server.run(content, &end)?;
    Ok(0)
}
