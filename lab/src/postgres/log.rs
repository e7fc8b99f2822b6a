//! Parts of PostgreSQL's data on another disk, for scenarios that wait for that disk: its log (WAL), and its tables.
//! The server must not run meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Postgres;

/// The log's folder, and that of the tables.
const LOG: &str = "pg_wal";
const TABLES: &str = "base";

impl Postgres {
    /// Copies the log to a disk, and leads the server there.
    pub fn put_log_on(&self, disk: &Path) -> Result<()> {
        self.put_on(disk, LOG)
    }

    /// The same with the tables.
    pub fn put_tables_on(&self, disk: &Path) -> Result<()> {
        self.put_on(disk, TABLES)
    }

    fn put_on(&self, disk: &Path, part: &str) -> Result<()> {
        let (here, away) = (self.data().join(part), disk.join(part));
        copy(&here, &away)?;
        fs::remove_dir_all(&here)
            .and_then(|()| symlink(&away, &here))
            .with_context(|| format!("cannot replace {}", here.display()))
    }

    /// Forgets transactions of a stopped server that were prepared and never ended, as those of clients that were
    /// killed: it would not start again without room for them.
    pub fn forget_prepared(&self) -> Result<()> {
        let folder = self.data().join("pg_twophase");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// Forgets settings that were changed while the server ran.
    pub fn forget_settings(&self) -> Result<()> {
        let settings = self.settings();
        fs::write(&settings, "").with_context(|| format!("cannot write {}", settings.display()))
    }

    /// Where settings are that can be changed while the server runs; those of its command line come first.
    pub fn settings(&self) -> PathBuf {
        self.data().join("postgresql.auto.conf")
    }

    /// Copies back what is away.
    pub fn take_home(&self) -> Result<()> {
        for part in [LOG, TABLES] {
            let here = self.data().join(part);
            let Ok(away) = fs::read_link(&here) else {
                continue;
            };
            fs::remove_file(&here).with_context(|| format!("cannot replace {}", here.display()))?;
            copy(&away, &here)?;
        }
        Ok(())
    }
}

/// With owners and modes, which the server insists on.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let output = Command::new("cp")
        .arg("-a")
        .args([from, to])
        .output()
        .context("cannot run cp")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("cannot copy {}: {}", from.display(), why.trim());
    }
    Ok(())
}
