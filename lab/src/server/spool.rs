//! `serve spool`: each request writes a file and removes it. On a full disk it tries again for a
//! while before it gives up, as mail and print servers do.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::request;

/// Length of a file.
const BYTES: usize = 64 * 1024;
/// What each request does beside: neither a CPU nor the file system limits what is done with room.
const WORK: Duration = Duration::from_millis(1);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(5);
/// Then the request is given up, and answered all the same.
const ATTEMPTS: u32 = 3;

/// Arguments of `serve spool`.
#[derive(Args)]
pub struct SpoolArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Where it works and writes
    #[arg(long)]
    folder: PathBuf,
}

/// Serves until killed.
pub fn serve(arguments: &SpoolArguments) -> Result<u8> {
    let folder = &arguments.folder;
    std::env::set_current_dir(folder)
        .with_context(|| format!("cannot work in {}", folder.display()))?;
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    request::answer_each(&listener, "worker", move |stream, number| {
        answer(stream, number);
    })
}

fn answer(mut stream: TcpStream, number: u64) {
    let path = PathBuf::from(format!("job-{number}"));
    while request::receive(&mut stream) {
        std::thread::sleep(WORK);
        insist(|| store(&path));
        if !request::send(&mut stream) {
            return;
        }
    }
}

fn store(path: &Path) -> io::Result<()> {
    let written = fs::write(path, vec![7; BYTES]);
    // What was begun must not take the last of the room.
    written.and(fs::remove_file(path))
}

/// Tries until there is room, or for so long; whether it succeeded.
fn insist(mut attempt: impl FnMut() -> io::Result<()>) -> bool {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::StorageFull => std::thread::sleep(PAUSE),
            other => return other.is_ok(),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_tried_again() {
        let mut attempts = 0;
        let mut full_for = |times| {
            attempts = 0;
            insist(|| {
                attempts += 1;
                if attempts > times {
                    return Ok(());
                }
                Err(ErrorKind::StorageFull.into())
            })
        };
        assert!(full_for(0));
        assert!(full_for(ATTEMPTS - 1));
        assert!(!full_for(ATTEMPTS));
        assert!(!insist(|| Err(ErrorKind::PermissionDenied.into())));
    }
}
