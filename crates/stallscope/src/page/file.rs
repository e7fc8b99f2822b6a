//! Where the page goes, and how it gets there.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Drawn, html};
use crate::unfinished::Unfinished;

/// The page's name in a recording's folder.
const FILE: &str = "report.html";

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
pub(crate) fn save(drawn: &Drawn, file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let unfinished = tempfile::Builder::new()
        .prefix(".report-")
        // As any file: the umask says who may read it.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let _unfinished = Unfinished::new(unfinished.path());
    let mut out = BufWriter::new(unfinished.as_file());
    html::write(drawn, &mut out)?;
    out.flush()?;
    drop(out);
    unfinished.persist(file)?;
    Ok(())
}
