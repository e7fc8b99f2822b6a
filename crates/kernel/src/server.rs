//! Facts about a server, from its processes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use sensors::Place;

use crate::local_files;
use crate::mounts::Mountinfo;
use crate::remote_memory::shows;

/// The version of the PostgreSQL server that a process belongs to, as in its data folder: `15`, before 10
/// `9.6`. `None` for other programs, or if the folder may not be read or its filesystem might not answer.
///
/// Every process of a server has its data folder as the working directory, but so may a shell: the program
/// must also export the server's wait event.
pub fn postgres_version(proc: &Path, pid: u32) -> Option<String> {
    let folder = proc.join(pid.to_string());
    // No links and no blocking: the folder belongs to another user.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let info = Mountinfo::default();
    let data = local_files::hold(&folder, &info, "cwd").ok()?;
    let stated = rustix::fs::openat(data, "PG_VERSION", flags, Mode::empty()).ok()?;
    let mut text = String::new();
    File::from(stated).take(32).read_to_string(&mut text).ok()?;
    let values = sensors::all().iter().flat_map(|sensor| sensor.sources);
    let mut values = values.filter_map(|source| match source.place {
        Place::Memory(word) => Some(word),
        Place::File => None,
    });
    let program = || local_files::program(&folder, &info);
    let shown = |word| program().is_ok_and(|program| shows(program, word));
    let server = values.any(shown);
    version(&text).filter(|_| server)
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

    #[test]
    fn this_program_is_no_server() {
        assert_eq!(
            postgres_version(Path::new("/proc"), std::process::id()),
            None
        );
    }
}
