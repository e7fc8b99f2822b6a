//! Where PostgreSQL's programs are, and who may run its server.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Debian and Ubuntu keep each version's programs here, out of PATH.
const DEBIAN: &str = "/usr/lib/postgresql";
/// What is needed of a folder of programs.
const NEEDED: [&str; 6] = [
    "initdb",
    "postgres",
    "pg_isready",
    "createdb",
    "pgbench",
    "psql",
];

/// A folder with all the programs that are needed.
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// The newest of Debian's versions, else what `pg_config` names, else what PATH has.
    pub fn find() -> Result<Self> {
        let complete =
            |folder: &PathBuf| NEEDED.iter().all(|program| folder.join(program).is_file());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder = debian_folders(Path::new(DEBIAN))
            .into_iter()
            .chain(named_by_pg_config())
            .chain(std::env::split_paths(&path))
            .find(complete);
        match folder {
            Some(folder) => Ok(Self { folder }),
            None => bail!(
                "cannot find PostgreSQL's programs ({}) in {DEBIAN}/*/bin, by pg_config or in \
                 PATH: apt-get install postgresql",
                NEEDED.join(", ")
            ),
        }
    }

    /// One of the programs.
    pub fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    /// PATH with these programs before all others, so that server and generator are of one version.
    pub fn path_first(&self) -> OsString {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.clone()).chain(std::env::split_paths(&path));
        // A folder whose name holds a colon cannot stand in PATH: then it stays as it is.
        std::env::join_paths(folders).unwrap_or(path)
    }
}

/// `ROOT/VERSION/bin`, newest first: 15 before 9.6.
fn debian_folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut versions: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions
        .into_iter()
        .map(|(_, folder)| folder.join("bin"))
        .collect()
}

fn version(name: &str) -> Option<Vec<u32>> {
    name.split('.').map(|part| part.parse().ok()).collect()
}

fn named_by_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| PathBuf::from(folder.trim()))
}

/// Who runs the server: it refuses to run as root.
pub struct Owner {
    /// User and group to become; `None` when the server runs as whoever runs the lab.
    pub ids: Option<(u32, u32)>,
    /// Name of the database's superuser.
    pub name: String,
}

impl Owner {
    /// The user `postgres` for root, ourselves for anyone else.
    pub fn find() -> Result<Self> {
        let ids = if rustix::process::geteuid().is_root() {
            Some((identity("-u")?, identity("-g")?))
        } else {
            None
        };
        Ok(Self {
            ids,
            name: "postgres".to_owned(),
        })
    }
}

/// `id` asks the name service, which /etc/passwd alone is not.
fn identity(option: &str) -> Result<u32> {
    let output = Command::new("id")
        .args([option, "postgres"])
        .output()
        .context("cannot run id")?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().ok().context(
        "there is no user postgres, and PostgreSQL refuses to run as root: apt-get install \
         postgresql, or run this as an ordinary user",
    )
}

/// Settings of the user's own server must not reach ours.
pub fn forget_other_servers(command: &mut Command) {
    let is_setting = |name: &OsStr| name.as_encoded_bytes().starts_with(b"PG");
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(name)) {
        command.env_remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let root = tempfile::tempdir().expect("a temporary folder");
        for name in ["9.6", "15", "11", "common"] {
            std::fs::create_dir(root.path().join(name)).expect("a folder");
        }
        let names = debian_folders(root.path());
        let expected = ["15/bin", "11/bin", "9.6/bin"].map(|name| root.path().join(name));
        assert_eq!(names, expected);
        assert!(debian_folders(Path::new("/nowhere")).is_empty());
    }
}
