//! Unmounting.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Unmounts, whatever still uses it: nothing that does is worth keeping.
pub fn unmount(mount: &Path) -> Result<()> {
    for lazily in [false, true] {
        let mut command = Command::new("umount");
        if lazily {
            command.arg("-l");
        }
        let output = command.arg(mount).output().context("cannot run umount")?;
        if output.status.success() {
            return Ok(());
        }
    }
    bail!("cannot unmount {0}: umount {0}", mount.display())
}
