//! A disk that takes its time to make writes safe: a file system that journals its data, in a file
//! of another file system, so that each fsync becomes several. No limit is involved.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::Stage;
use crate::mounts::unmount;

/// Room for PostgreSQL's log of some runs; blocks that are not written take no place.
const BYTES: u64 = 768 << 20;

/// A mounted disk, unmounted when dropped. Its loop device goes with the mount.
pub struct SlowDisk {
    mount: PathBuf,
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.mount) {
            eprintln!("stallscope-lab: {error:#}");
        }
    }
}

impl Stage {
    /// Mounts one until the stage is cleared; where. An error says why this machine cannot do that.
    pub fn slow_disk(&mut self) -> Result<PathBuf> {
        let image = self.folder().join("disk.image");
        let mount = self.folder().join("disk");
        let file = File::create(&image)
            .with_context(|| format!("cannot make the file {}", image.display()))?;
        file.set_len(BYTES).context("cannot make a large file")?;
        fs::create_dir(&mount)
            .with_context(|| format!("cannot make the folder {}", mount.display()))?;
        let mut format = Command::new("mkfs.ext4");
        // Tables are written at once: else the kernel would do that during the run.
        format.args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        self.step_with(format.arg(&image))?;
        let mut attach = Command::new("mount");
        attach.args(["-o", "loop,data=journal"]).arg(&image);
        self.step_with(attach.arg(&mount))?;
        self.disks.push(SlowDisk {
            mount: mount.clone(),
        });
        Ok(mount)
    }
}

impl Stage {
    /// Takes all room of a disk, what is kept for root too.
    pub fn fill_disk(&self, mount: &Path) -> Result<()> {
        let path = mount.join("ballast");
        let file = File::create(&path)
            .with_context(|| format!("cannot make the file {}", path.display()))?;
        let mut length = 0;
        // Large pieces first; the smallest is a block.
        for piece in [1 << 24, 1 << 20, 1 << 12] {
            loop {
                match fallocate(&file, FallocateFlags::empty(), length, piece) {
                    Ok(()) => length += piece,
                    Err(Errno::NOSPC) => break,
                    Err(error) => {
                        return Err(error)
                            .with_context(|| format!("cannot fill {}", mount.display()));
                    }
                }
            }
        }
        Ok(())
    }
}
