//! `report`: the page that shows a recording.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::arguments::ReportPage;
use crate::{explain, opened, outputs, page, unfinished};

/// The page's name in a recording's folder.
const FILE: &str = "report.html";

pub(crate) fn report(arguments: &ReportPage) -> Result<u8> {
    let _interrupts = unfinished::watch()?;
    let (path, recording) = opened::open(arguments.recording.as_deref())?;
    let report = explain::report(&recording, arguments.from, arguments.to)?;
    let drawn = page::draw(&recording, &report, &name(&path))?;
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
