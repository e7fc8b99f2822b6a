//! What can go wrong with a recording as a whole: what, on what, and what to do.
//!
//! Damage inside one table is not an error: the rest is read, and a `Damage` says what is lacking.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use model::FORMAT_VERSION;
use rustix::io::Errno;

use crate::exposed::Exposed;

/// The result of working on a recording.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a recording could not be written or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording is never overwritten.
    #[error("cannot write the recording: folder {} exists. Choose another with -o FOLDER", .folder.display())]
    Exists {
        /// The folder asked for.
        folder: PathBuf,
    },
    /// The folder that should hold the recording is not there.
    #[error("cannot write the recording {}: there is no folder {}. Make it, or choose another place with -o FOLDER", .folder.display(), .parent.display())]
    NoParent {
        /// The folder asked for.
        folder: PathBuf,
        /// Where it should be made.
        parent: PathBuf,
    },
    /// The folder that should hold the recording may not be written.
    #[error("cannot write the recording {}: this user may not write in {}. Choose another place with -o FOLDER", .folder.display(), .parent.display())]
    Denied {
        /// The folder asked for.
        folder: PathBuf,
        /// Where it should be made.
        parent: PathBuf,
    },
    /// This is root, and another user may write in a folder on the way.
    #[error("cannot write {} as root: {exposed}. Choose a place where only root may write, or a sticky one as /var/tmp: -o {}", .folder.display(), .elsewhere.display())]
    Exposed {
        /// The folder asked for.
        folder: PathBuf,
        /// One that would do.
        elsewhere: PathBuf,
        /// Who may write where.
        exposed: Exposed,
    },
    /// The folder that should hold the recording can only be read.
    #[error("cannot write the recording {}: {} is on a file system that can only be read. Choose another place with -o FOLDER", .folder.display(), .parent.display())]
    ReadOnly {
        /// The folder asked for.
        folder: PathBuf,
        /// Where it should be made.
        parent: PathBuf,
    },
    /// There is no room for a recording.
    #[error("cannot write the recording {}: no space is left in {}. Make room there (df -h {} shows how much there is), or choose another place with -o FOLDER", .folder.display(), .parent.display(), .parent.display())]
    NoSpace {
        /// The folder asked for.
        folder: PathBuf,
        /// Where it should be made.
        parent: PathBuf,
    },
    /// This user may use no more room.
    #[error("cannot write the recording {}: the quota for {} is used up. Remove something there (quota -s shows the limit), or choose another place with -o FOLDER", .folder.display(), .parent.display())]
    Quota {
        /// The folder asked for.
        folder: PathBuf,
        /// Where it should be made.
        parent: PathBuf,
    },
    /// The folder could not be made for another reason.
    #[error("cannot write the recording {}: {source}{}", .folder.display(), elsewhere(.source))]
    Create {
        /// The folder asked for.
        folder: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A write was refused: a full disk, mostly.
    #[error("cannot write {}: {source}.{} What was written before stays readable", .path.display(), room(.path, .source))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// What should be written does not fit the table: a mistake of the program.
    #[error("cannot write {}: {what}. This is a defect of stallscope: please report it", .path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// Nothing has that name.
    #[error("there is no recording {}. Name a folder that ends in .stall", .folder.display())]
    Absent {
        /// The name asked for.
        folder: PathBuf,
    },
    /// A recording is a folder.
    #[error("{} is a file, and a recording is a folder. Name the folder that ends in .stall", .path.display())]
    NotAFolder {
        /// The name asked for.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("{} is not a recording: it has no meta.json. Name a folder that ends in .stall", .folder.display())]
    NoMeta {
        /// The folder.
        folder: PathBuf,
    },
    /// `meta.json` is there and says nothing that this program understands.
    #[error("cannot understand {}: {what}. No table is beside it", .path.display())]
    Meta {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// A folder holds more segments than any recording.
    #[error("{} holds more than {most} segments. Open one of them: stallscope explain {}/000001.stall", .folder.display(), .folder.display())]
    TooManySegments {
        /// The folder.
        folder: PathBuf,
        /// The most that are read.
        most: usize,
    },
    /// A later version wrote it.
    #[error("{} is in format {found}, and this stallscope reads up to format {FORMAT_VERSION}. Open it with a newer stallscope", .folder.display())]
    Newer {
        /// The folder.
        folder: PathBuf,
        /// Its format version.
        found: u32,
    },
    /// A file or folder could not be read.
    #[error("cannot read {}: {source}{}", .path.display(), permission(.source))]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A bundle is damaged, or none that this program could have written.
    #[error("cannot open the bundle {}: {what}. Ask its sender for it again", .path.display())]
    Bundle {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// There is no room to unpack a bundle.
    #[error("cannot unpack {} in the folder for temporary files: {source}. Name another with TMPDIR=FOLDER", .path.display())]
    Room {
        /// The bundle.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Nothing was recorded there yet.
    #[error("no recording in {}: record one with: stallscope run -- COMMAND", .folder.display())]
    NoneFound {
        /// Where it was looked for.
        folder: PathBuf,
    },
}

impl Error {
    /// Why the recording `folder` cannot be begun.
    pub(crate) fn create(folder: &Path, source: io::Error) -> Error {
        let folder = folder.to_owned();
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        match source.kind() {
            ErrorKind::AlreadyExists => Error::Exists { folder },
            ErrorKind::NotFound if !parent.is_dir() => Error::NoParent { folder, parent },
            ErrorKind::PermissionDenied => Error::Denied { folder, parent },
            ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { folder, parent },
            ErrorKind::StorageFull => Error::NoSpace { folder, parent },
            ErrorKind::QuotaExceeded => Error::Quota { folder, parent },
            _ => Error::Create { folder, source },
        }
    }

    /// For `map_err` on a write to `path`.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        move |source| Error::Write {
            path: path.to_owned(),
            source,
        }
    }

    /// For `map_err` on reading `path`.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        move |source| Error::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// Rows or events that do not fit the file at `path`.
    pub(crate) fn unfit(path: &Path, what: impl ToString) -> Error {
        Error::Unfit {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }
}

/// What may help where a recording cannot be begun; no other place does when no file can be opened.
fn elsewhere(source: &io::Error) -> &'static str {
    match Errno::from_io_error(source) {
        Some(Errno::MFILE | Errno::NFILE) => "",
        _ => ". Choose another place with -o FOLDER",
    }
}

fn permission(source: &io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::PermissionDenied => ". Check that this user may read it",
        _ => "",
    }
}

/// How room is made for a file that found none, after a space; nothing where that would not help.
fn room(path: &Path, source: &io::Error) -> String {
    let folder = path.parent().unwrap_or(path).display();
    match source.kind() {
        ErrorKind::StorageFull => {
            format!(" Make room there (df -h {folder} shows how much there is).")
        }
        ErrorKind::QuotaExceeded => {
            " Remove something there (quota -s shows the limit).".to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_told_from_a_full_disk() {
        let quota = io::Error::from(Errno::DQUOT);
        let refused = Error::create(Path::new("home/x.stall"), quota);
        expect_test::expect!["cannot write the recording home/x.stall: the quota for home is used up. Remove something there (quota -s shows the limit), or choose another place with -o FOLDER"].assert_eq(&refused.to_string());
    }

    #[test]
    fn who_can_open_no_file_is_not_sent_elsewhere() {
        let said = |errno: Errno| {
            let created = Error::create(Path::new("home/x.stall"), errno.into());
            let read = Error::read(Path::new("home/x.stall/meta.json"))(errno.into());
            format!("{created}\n{read}\n")
        };
        let said = [Errno::NFILE, Errno::ACCESS].map(said).concat();
        expect_test::expect![[r#"
            cannot write the recording home/x.stall: Too many open files in system (os error 23)
            cannot read home/x.stall/meta.json: Too many open files in system (os error 23)
            cannot write the recording home/x.stall: this user may not write in home. Choose another place with -o FOLDER
            cannot read home/x.stall/meta.json: Permission denied (os error 13). Check that this user may read it
        "#]].assert_eq(&said);
    }

    #[test]
    fn a_write_that_found_no_room_says_how_to_make_some() {
        let refused = |errno: Errno| {
            Error::write(Path::new("home/x.stall/journal"))(errno.into()).to_string()
        };
        let said = [Errno::DQUOT, Errno::NOSPC, Errno::IO]
            .map(refused)
            .join("\n");
        expect_test::expect![[r#"
            cannot write home/x.stall/journal: Disk quota exceeded (os error 122). Remove something there (quota -s shows the limit). What was written before stays readable
            cannot write home/x.stall/journal: No space left on device (os error 28). Make room there (df -h home/x.stall shows how much there is). What was written before stays readable
            cannot write home/x.stall/journal: Input/output error (os error 5). What was written before stays readable"#]].assert_eq(&said);
    }
}
