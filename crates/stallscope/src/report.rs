//! `report`: the page that shows a recording.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use host::Interrupts;
use recording::Recording;
use tokio::sync::Notify;

use crate::arguments::ReportPage;
use crate::serve::{Content, Server};
use crate::{explain, opened, outputs, page, unfinished};

/// The page's name in a recording's folder.
const FILE: &str = "report.html";

pub(crate) fn report(arguments: &ReportPage) -> Result<u8> {
    let interrupts = unfinished::watch()?;
    let (path, recording) = opened::open(arguments.recording.as_deref())?;
    let server = match arguments.serve {
        true => Some(Server::bind(arguments.port.unwrap_or(0))?),
        false => None,
    };
    let report = explain::report(&recording, arguments.from, arguments.to)?;
    let mut drawn = page::draw(&recording, &report, &name(&path))?;
    if let Some(server) = server {
        drawn.page.served = true;
        return serve(server, &drawn, recording, interrupts);
    }
    let file = match &arguments.output {
        Some(file) => file.clone(),
        None => place(&path),
    };
    save(&drawn, &file)?;
    outputs::show(&format!("{}\n", file.display())).context("cannot write to standard output")?;
    Ok(0)
}

/// What a person types for a recording.
pub(crate) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Where a recording's page belongs: into its folder, or beside a bundle.
pub(crate) fn place(recording: &Path) -> PathBuf {
    if recording.is_dir() {
        recording.join(FILE)
    } else {
        recording.with_extension("html")
    }
}

/// Writes the page beside its place and moves it there, so that nobody ever sees half of it.
pub(crate) fn save(drawn: &page::Drawn, file: &Path) -> Result<()> {
    let refused = || {
        format!(
            "cannot write {}. Choose another place with -o FILE",
            file.display()
        )
    };
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new()
        .prefix(".report-")
        // As any file: the umask says who may read it.
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(refused)?;
    let _unfinished = unfinished::Unfinished::new(unfinished.path());
    let mut out = BufWriter::new(unfinished.as_file());
    page::write(drawn, &mut out)?;
    out.flush().with_context(refused)?;
    drop(out);
    unfinished.persist(file).with_context(refused)?;
    Ok(())
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
    page::write(drawn, &mut html)?;
    let name = &drawn.page.recording;
    if !drawn.page.complete {
        outputs::say(&format!(
            "{name} is not complete: it is still being written, or was cut short. What is there now is served; start again for more"
        ));
    }
    let content = Content {
        page: html.into(),
        policy: page::policy(&drawn.page)?,
        report: Arc::new(move |asked| {
            let report = explain::over(&recording, asked.from_ns, asked.to_ns)?;
            outputs::json(&report)
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
