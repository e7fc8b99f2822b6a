//! Where the page goes, and how it gets there.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recording::FolderHandle;
use recording::bundle::EXTENSION;

use super::{Drawn, html};
use crate::temporary_output::{Entry, TemporaryOutput};

/// The page's name in a recording's folder.
const FILE: &str = "report.html";

/// How the name of a page begins that is not finished.
const TEMPORARY: &str = ".report-";

/// What a person types for a recording.
pub(crate) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Where a page goes.
pub(crate) enum Place {
    /// Where it belongs: the recording's folder, or that of a bundle, held open since it was read, and a
    /// name there. Both may come from somebody else: what has that name is replaced, never followed.
    Own(Arc<FolderHandle>, OsString),
    /// Where a user says. A link is followed there.
    Named(PathBuf),
}

impl Place {
    /// In a recording's folder.
    pub(crate) fn in_recording(folder: &Arc<FolderHandle>) -> Self {
        Self::Own(folder.clone(), FILE.into())
    }

    /// Beside a bundle.
    pub(crate) fn beside(bundle: &Path) -> io::Result<Self> {
        let folder = FolderHandle::open(bundle.parent().unwrap_or(Path::new("")))?;
        Ok(Self::Own(Arc::new(folder), name_beside(bundle)))
    }

    /// Its path, to be shown.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Own(folder, name) => folder.path_of(name),
            Self::Named(file) => file.clone(),
        }
    }
}

fn name_beside(bundle: &Path) -> OsString {
    let path = match bundle.extension().is_some_and(|it| it == EXTENSION) {
        true => bundle.with_extension("html"),
        false => bundle.with_added_extension("html"),
    };
    path.file_name().unwrap_or(FILE.as_ref()).to_owned()
}

/// Writes the page beside its place and moves it there, so that nobody ever sees half of it.
pub(crate) fn save(drawn: &Drawn, place: &Place) -> io::Result<()> {
    match place {
        Place::Own(folder, name) => replace(drawn, folder, name),
        Place::Named(file) => save_named(drawn, file),
    }
}

fn replace(drawn: &Drawn, folder: &Arc<FolderHandle>, name: &OsStr) -> io::Result<()> {
    let make = || folder.create_temporary(TEMPORARY);
    let entry = |made: &(OsString, File)| Entry::File(folder.clone(), made.0.clone());
    let (_unfinished, (temporary, page)) = TemporaryOutput::make(make, entry)?;
    let written = put(drawn, &page).and_then(|()| folder.rename(&temporary, name));
    if written.is_err() {
        // It holds half of a page; the error is the one that is told.
        let _ = folder.remove(&temporary);
    }
    written
}

/// What is no file, as a pipe or a device, stays what it is and takes the page as it comes.
fn save_named(drawn: &Drawn, file: &Path) -> io::Result<()> {
    let there = fs::metadata(file);
    if there.as_ref().map_or(file.is_symlink(), |it| !it.is_file()) {
        return put(drawn, &File::create(file)?);
    }
    // A link stays a link: what it leads to is replaced.
    let file = match there {
        Ok(_) => &fs::canonicalize(file)?,
        Err(_) => file,
    };
    let folder = FolderHandle::open(file.parent().unwrap_or(Path::new("")))?;
    let name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    replace(drawn, &Arc::new(folder), name)
}

fn put(drawn: &Drawn, file: &File) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    html::write(drawn, &mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundles_page_keeps_all_of_its_name_but_the_ending() {
        let name = |bundle: &str| name_beside(Path::new(bundle));
        assert_eq!(name("web.stallbundle"), "web.html");
        assert_eq!(name("web.2024-05-01"), "web.2024-05-01.html");
        assert_eq!(name("a/web"), "web.html");
    }
}
