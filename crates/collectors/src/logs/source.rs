//! Which logs are read: files, and the journal.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use rustix::fs::{Mode, OFlags};

/// What stands for the journal on the command line.
const JOURNAL: &str = "journal";

/// A log that is read while a recording is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogSource {
    /// A file, from its end on.
    File(PathBuf),
    /// The journal of systemd, or what one of its units writes.
    Journal(Option<String>),
}

impl FromStr for LogSource {
    type Err = String;

    /// # Errors
    /// An empty name.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            _ if text == JOURNAL => Ok(Self::Journal(None)),
            Some((JOURNAL, "")) => Err("name a unit: journal:nginx.service".to_owned()),
            Some((JOURNAL, unit)) => Ok(Self::Journal(Some(unit.to_owned()))),
            _ if text.is_empty() => Err("name a file, or journal".to_owned()),
            _ => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for LogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Journal(None) => f.write_str(JOURNAL),
            Self::Journal(Some(unit)) => write!(f, "{JOURNAL}:{unit}"),
        }
    }
}

impl LogSource {
    /// Whether it can be read. A file that is not there yet is waited for.
    ///
    /// # Errors
    /// What is in the way, and what to do, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::File(path) => check_file(path),
            Self::Journal(unit) => check_journal(unit.as_deref()),
        }
    }
}

/// Opens a file to be read. Never waits: a pipe without a writer would hold it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

fn check_file(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let cannot = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        ErrorKind::PermissionDenied => Err(format!("--log {shown}: {}", denied(path))),
        _ => Err(format!("--log {shown}: cannot read it: {error}")),
    };
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) => return cannot(error),
    };
    if found.is_dir() {
        return Err(format!(
            "--log {shown} is a folder. Name the file in it that is written"
        ));
    }
    if !found.is_file() {
        return Err(format!(
            "--log {shown} is no file: a log that goes to a pipe or a socket is not read. Name a file, or journal"
        ));
    }
    open(path).map(drop).or_else(cannot)
}

/// Why a file may not be read, and what allows it.
pub(super) fn denied(path: &Path) -> String {
    const ROOT: &str = "run stallscope as root (sudo)";
    // In a folder that may not be searched nothing is known of the file.
    let group = fs::metadata(path).ok().filter(|it| it.mode() & 0o040 != 0);
    match group.and_then(|it| group_name(it.gid())) {
        Some(group) => format!(
            "you may not read it. Join its group (sudo usermod -aG {group} $USER, then log in anew), or {ROOT}"
        ),
        None => format!("you may not read it: {ROOT}"),
    }
}

/// What a group is called here; that of root is nobody's to join.
fn group_name(gid: u32) -> Option<String> {
    let groups = fs::read_to_string("/etc/group").ok()?;
    let mut lines = groups.lines().map(|line| line.split(':'));
    lines.find_map(|mut parts| {
        let name = parts.next()?;
        let own: u32 = parts.nth(1)?.parse().ok()?;
        (own == gid && gid != 0).then(|| name.to_owned())
    })
}

/// `journalctl`, which prints what is written from now on.
pub(super) fn journalctl(unit: Option<&str>) -> Command {
    let mut command = Command::new("journalctl");
    // A message alone: who wrote it when is no part of what lines have in common.
    command.args(["--quiet", "--lines=0", "--output=cat", "--no-pager"]);
    if let Some(unit) = unit {
        command.arg(format!("--unit={unit}"));
    }
    command.stdin(Stdio::null());
    command
}

fn check_journal(unit: Option<&str>) -> Result<(), String> {
    const RIGHTS: &str = "Join its group (sudo usermod -aG systemd-journal $USER, then log in anew), or run stallscope as root (sudo)";
    let ended = journalctl(unit).output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "--log journal: there is no program journalctl here, which belongs to systemd. Name the log's file"
                .to_owned()
        }
        _ => format!("--log journal: cannot run journalctl: {error}"),
    })?;
    let said = OsStr::from_bytes(&ended.stderr).to_string_lossy();
    match ended.status.success() && !said.contains("permission") {
        true => Ok(()),
        false if said.contains("permission") => {
            Err(format!("--log journal: you may not read it. {RIGHTS}"))
        }
        false => {
            let first = said.lines().next().unwrap_or("it does not say why");
            Err(format!("--log journal: journalctl fails: {first}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_as_it_is_typed() {
        for (text, expected) in [
            ("/var/log/x", LogSource::File("/var/log/x".into())),
            ("journal", LogSource::Journal(None)),
            (
                "journal:a.service",
                LogSource::Journal(Some("a.service".to_owned())),
            ),
            ("./journal", LogSource::File("./journal".into())),
            ("a:b", LogSource::File("a:b".into())),
        ] {
            let read: LogSource = text.parse().expect("it is a log");
            assert_eq!(read, expected);
            assert_eq!(read.to_string(), text);
        }
        assert!("".parse::<LogSource>().is_err() && "journal:".parse::<LogSource>().is_err());
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_way_round() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let said = |path: &Path| LogSource::File(path.to_owned()).check();
        assert_eq!(said(&home.path().join("later")), Ok(()), "it is waited for");
        let file = home.path().join("log");
        fs::write(&file, "").expect("written");
        assert_eq!(said(&file), Ok(()));
        let refused = |path: &Path| said(path).expect_err("it is no file");
        assert!(refused(home.path()).contains("is a folder"));
        assert!(refused(Path::new("/dev/null")).contains("is no file"));
        assert!(refused(&file.join("x")).contains("cannot read it"));
    }
}
