//! `storage`: threads that read and write a file past the page cache, as fast as the disk can; and
//! `serve disk-reads`, whose every request is such a read.

use std::fs::{File, OpenOptions};
use std::net::TcpStream;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use rustix::fs::OFlags;

use super::request;

/// One operation, bytes.
const BLOCK: usize = 64 * 1024;
/// The file, in blocks.
const BLOCKS: u64 = 1024;
/// O_DIRECT wants addresses of this alignment.
const ALIGNMENT: usize = 4096;

/// Arguments of `storage`.
#[derive(Args)]
pub struct StorageArguments {
    /// The file; made by this
    #[arg(long)]
    file: PathBuf,
    /// How many threads; every second one writes
    #[arg(long, default_value_t = 4)]
    threads: u32,
}

/// Arguments of `serve disk-reads`.
#[derive(Args)]
pub struct ReadsArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// The file; made by this
    #[arg(long)]
    file: PathBuf,
}

/// Serves until killed: a thread per connection, a read from the disk per request.
pub fn serve(arguments: &ReadsArguments) -> Result<u8> {
    let file = make(&arguments.file)?;
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    request::answer_each(&listener, "worker", move |stream, number| {
        answer(stream, &file, number + 1);
    })
}

fn answer(mut stream: TcpStream, file: &File, number: u64) {
    let mut buffer = vec![0; BLOCK + ALIGNMENT];
    let page = &mut aligned(&mut buffer)[..ALIGNMENT];
    let mut at = number;
    while request::receive(&mut stream) {
        at = next(at);
        let read = file.read_exact_at(page, at * BLOCK as u64);
        if read.is_err() || !request::send(&mut stream) {
            return;
        }
    }
}

/// Reads and writes until killed.
pub fn hammer(arguments: &StorageArguments) -> Result<u8> {
    let file = make(&arguments.file)?;
    let mut threads = Vec::new();
    for number in 0..arguments.threads {
        let file = file.try_clone().context("cannot duplicate a file")?;
        let thread = std::thread::Builder::new().name("storage".to_owned());
        let work = move || work(&file, number);
        threads.push(thread.spawn(work).context("cannot start a thread")?);
    }
    println!("hammering");
    for thread in threads {
        let _ = thread.join();
    }
    Ok(0)
}

/// A file on the disk, filled, that is read and written past the page cache.
fn make(path: &Path) -> Result<File> {
    let flags = i32::try_from(OFlags::DIRECT.bits()).context("a flag fits")?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(flags)
        .open(path)
        .with_context(|| format!("cannot make {}", path.display()))?;
    fill(&file, path)?;
    Ok(file)
}

fn fill(file: &File, path: &Path) -> Result<()> {
    let mut buffer = vec![0; BLOCK + ALIGNMENT];
    let block = aligned(&mut buffer);
    for number in 0..BLOCKS {
        file.write_all_at(block, number * BLOCK as u64)
            .with_context(|| format!("cannot write {} past the page cache", path.display()))?;
    }
    Ok(())
}

fn work(file: &File, number: u32) {
    let mut buffer = vec![0; BLOCK + ALIGNMENT];
    let block = aligned(&mut buffer);
    let mut at = u64::from(number) + 1;
    loop {
        at = next(at);
        let offset = at * BLOCK as u64;
        let done = if number.is_multiple_of(2) {
            file.read_exact_at(block, offset)
        } else {
            file.write_all_at(block, offset)
        };
        if done.is_err() {
            return;
        }
    }
}

/// Any order that is not sequential: a multiplicative walk over the blocks.
fn next(at: u64) -> u64 {
    (at * 761 + 13) % BLOCKS
}

fn aligned(buffer: &mut [u8]) -> &mut [u8] {
    let start = buffer.as_ptr().align_offset(ALIGNMENT);
    &mut buffer[start..start + BLOCK]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_aligned_and_whole() {
        let mut buffer = vec![0; BLOCK + ALIGNMENT];
        let block = aligned(&mut buffer);
        assert_eq!(block.len(), BLOCK);
        assert_eq!(block.as_ptr() as usize % ALIGNMENT, 0);
    }
}
