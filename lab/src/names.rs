//! What a run calls its folders, servers and cgroups: names carry its pid, so that the next run knows whose they are.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result};
use tempfile::TempDir;

/// Where temporary folders are made: short enough for a unix socket, whose path ends at 107 bytes.
pub const FOLDERS: &str = "/tmp";
const PREFIX: &str = "stallscope-lab-";

/// The name of everything that this run makes.
pub fn own_name() -> String {
    format!("{PREFIX}{}", std::process::id())
}

/// A folder of this run, that removes itself.
pub fn own_folder() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix(&format!("{}-", own_name()))
        // Servers run as other users, and must reach their own folder below it.
        .permissions(Permissions::from_mode(0o755))
        .tempdir_in(FOLDERS)
        .with_context(|| format!("cannot make a folder in {FOLDERS}"))
}

/// The pid in a name of ours: `stallscope-lab-17` or `stallscope-lab-17-x7Yz`.
pub fn maker(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(PREFIX)?;
    let digits = rest.split('-').next()?;
    let canonical = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| canonical)
}
