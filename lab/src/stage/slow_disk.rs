//! A disk that takes its time to make writes safe: a file system that journals its data, in a file
//! of another file system, so that each fsync becomes several. No limit is involved.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::Stage;

/// Room for PostgreSQL's log of some runs; blocks that are not written take no place.
const BYTES: u64 = 768 << 20;

impl Stage {
    /// Mounts one until the stage is cleared; where. An error says why this machine cannot do that.
    pub fn slow_disk(&mut self) -> Result<PathBuf> {
        let image = self.image("disk.image", BYTES)?;
        self.mount_image(&image, "data=journal")
    }

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
