//! What the data folder of a database server states.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::local_files;
use crate::mounts::Mountinfo;

/// The version that the data folder of a process states, of this folder in /proc: `15`, before 10 `9.6`. `None` where
/// the working directory is none of PostgreSQL's, or may not be read, or its filesystem might not answer.
pub fn stated_version(folder: &Path, info: &Mountinfo) -> Option<String> {
    // No links and no blocking: the folder belongs to another user.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let data = local_files::hold(folder, info, "cwd").ok()?;
    let stated = rustix::fs::openat(data, "PG_VERSION", flags, Mode::empty()).ok()?;
    let mut text = String::new();
    File::from(stated).take(32).read_to_string(&mut text).ok()?;
    version(&text)
}

pub fn version(text: &str) -> Option<String> {
    let text = text.trim();
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    (plain && text.starts_with(|c: char| c.is_ascii_digit())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_digits_and_dots() {
        assert_eq!(version("15\n").as_deref(), Some("15"));
        assert_eq!(version("9.6\n").as_deref(), Some("9.6"));
        assert_eq!(version("\u{1b}[2J"), None);
        assert_eq!(version("."), None);
        assert_eq!(version(""), None);
    }
}
