//! Disks in files: an image that is mounted as it is, or behind a server that takes its time for each request.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{Beside, Stage};
use crate::interrupt;
use crate::mounts::unmount;

/// Servers of storage that do not show their disk by then will not.
const START_LIMIT: Duration = Duration::from_secs(10);
/// The name of the disk that nbdfuse shows.
const SHOWN: &str = "nbd";

/// A folder at which something is mounted, unmounted when dropped. A loop device goes with its mount.
pub struct Mounted {
    folder: PathBuf,
    /// Who serves it; ends after it is unmounted.
    _server: Option<Beside>,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.folder) {
            eprintln!("stallscope-lab: {error:#}");
        }
    }
}

impl Stage {
    /// Makes an image of so many bytes with an ext4 in it; blocks that are not written take no place.
    pub fn image(&self, name: &str, bytes: u64) -> Result<PathBuf> {
        let image = self.folder().join(name);
        File::create(&image)
            .and_then(|file| file.set_len(bytes))
            .with_context(|| format!("cannot make the file {}", image.display()))?;
        let mut format = Command::new("mkfs.ext4");
        // Tables are written at once: else the kernel would do that during the run.
        format.args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        self.step_with(format.arg(&image))?;
        Ok(image)
    }

    /// Mounts an image until the stage is cleared; where.
    pub fn mount_image(&mut self, image: &Path, options: &str) -> Result<PathBuf> {
        let mount = self.folder().join("disk");
        fs::create_dir_all(&mount)
            .with_context(|| format!("cannot make the folder {}", mount.display()))?;
        let mut attach = Command::new("mount");
        let options = ["loop", options].map(str::to_owned).join(",");
        attach.args(["-o", options.trim_end_matches(',')]);
        self.step_with(attach.arg(image).arg(&mount))?;
        self.mounted.push(Mounted {
            folder: mount.clone(),
            _server: None,
        });
        Ok(mount)
    }

    /// The same behind a server (nbdkit, shown as a file by nbdfuse) that answers each write, and each flush, so much
    /// later, and each read a tenth of that; mounted so that each write waits.
    pub fn mount_image_delayed(&mut self, image: &Path, write: Duration) -> Result<PathBuf> {
        let words = [
            "--filter=delay".to_owned(),
            "file".to_owned(),
            image.display().to_string(),
            format!("delay-write={}ms", write.as_millis()),
            format!("delay-read={}ms", (write / 10).as_millis()),
        ];
        let shown = self.serve_disk(&words)?;
        self.mount_image(&shown, "sync")
    }

    /// A disk in memory behind such a server, which takes and gives so many bytes a second: what else the machine's disk
    /// does makes no difference. Its file system journals its data, so each fsync waits for what others write there.
    pub fn mount_memory(&mut self, bytes: u64, bytes_per_second: u64) -> Result<PathBuf> {
        let words = [
            "--filter=rate".to_owned(),
            "memory".to_owned(),
            bytes.to_string(),
            format!("rate={}", bytes_per_second * 8),
            // Part of a second that it may be ahead of its rate.
            "burstiness=0.05".to_owned(),
        ];
        let shown = self.serve_disk(&words)?;
        let mut format = Command::new("mkfs.ext4");
        format.args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        self.step_with(format.arg(&shown))?;
        self.mount_image(&shown, "data=journal")
    }

    /// Starts nbdkit with these words, and nbdfuse in front of it; where it shows the disk.
    fn serve_disk(&mut self, words: &[String]) -> Result<PathBuf> {
        let folder = self.folder().join("served");
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let mut server = Command::new("nbdfuse");
        // A folder that ends in a slash holds the disk as a file.
        server.arg(format!("{}/", folder.display()));
        server
            .args(["--socket-activation", "nbdkit", "-f"])
            .args(words);
        // It says at its end that a signal ended it.
        server.current_dir(self.folder()).stderr(Stdio::null());
        let server = Beside::start(&mut server, Stdio::null())?;
        let shown = folder.join(SHOWN);
        let since = Instant::now();
        while !shown.exists() {
            if since.elapsed() > START_LIMIT {
                bail!(
                    "nbdfuse shows no disk: it needs nbdkit, libnbd-bin and /dev/fuse; apt-get install nbdkit libnbd-bin"
                );
            }
            interrupt::pause()?;
        }
        self.mounted.push(Mounted {
            folder,
            _server: Some(server),
        });
        Ok(shown)
    }
}
