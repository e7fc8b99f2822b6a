//! Where the page goes, and how it gets there.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use recording::bundle::EXTENSION;

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
    } else if recording.extension().is_some_and(|it| it == EXTENSION) {
        recording.with_extension("html")
    } else {
        recording.with_added_extension("html")
    }
}

/// Writes the page beside its place and moves it there, so that nobody ever sees half of it. What is no
/// file, as a pipe or a device, stays what it is and takes the page as it comes.
pub(crate) fn save(drawn: &Drawn, file: &Path) -> io::Result<()> {
    let there = fs::metadata(file);
    if there.as_ref().map_or(file.is_symlink(), |it| !it.is_file()) {
        return put(drawn, &File::create(file)?);
    }
    // A link stays a link: what it leads to is replaced.
    let file = match there {
        Ok(_) => &fs::canonicalize(file)?,
        Err(_) => file,
    };
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let make = || {
        tempfile::Builder::new()
            .prefix(".report-")
            // As any file: the umask says who may read it.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(Path::new(".")))
    };
    let (_unfinished, page) = Unfinished::make(make, |page| page.path().to_owned())?;
    put(drawn, page.as_file())?;
    page.persist(file)?;
    Ok(())
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
        let place = |name: &str| place(Path::new(name));
        assert_eq!(place("web.stallbundle"), Path::new("web.html"));
        assert_eq!(place("web.2024-05-01"), Path::new("web.2024-05-01.html"));
        assert_eq!(place("a/web"), Path::new("a/web.html"));
    }
}
