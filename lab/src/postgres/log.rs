//! PostgreSQL's log (WAL) on another disk, for scenarios that wait for that disk. The server must
//! not run meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Postgres;

impl Postgres {
    /// Copies the log to a disk, and leads the server there.
    pub fn put_log_on(&self, disk: &Path) -> Result<()> {
        let (log, away) = (self.data().join("pg_wal"), disk.join("pg_wal"));
        copy(&log, &away)?;
        fs::remove_dir_all(&log)
            .and_then(|()| symlink(&away, &log))
            .with_context(|| format!("cannot replace {}", log.display()))
    }

    /// Copies it back, if it is away.
    pub fn take_log_home(&self) -> Result<()> {
        let log = self.data().join("pg_wal");
        let Ok(away) = fs::read_link(&log) else {
            return Ok(());
        };
        fs::remove_file(&log).with_context(|| format!("cannot replace {}", log.display()))?;
        copy(&away, &log)
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
