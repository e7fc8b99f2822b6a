//! This process reads and writes files of its own, whose inodes tell their accounts.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};

use super::*;
use crate::requirement::{needed, skipped};

const READ: u16 = 1;
const WRITE: u16 = 2;
const FLUSH: u16 = 3;

const BLOCK: usize = 16 << 10;
const BLOCKS: u64 = 64;

/// A buffer as direct I/O wants it.
struct Aligned(Vec<u8>);

impl Aligned {
    const BOUNDARY: usize = 4_096;

    fn new() -> Self {
        Self(vec![7; BLOCK + Self::BOUNDARY])
    }

    fn bytes(&mut self) -> &mut [u8] {
        let first = self.0.as_ptr().align_offset(Self::BOUNDARY);
        &mut self.0[first..first + BLOCK]
    }
}

/// A file that is on the disk, of `BLOCKS` blocks, opened past the page cache.
struct Direct {
    file: File,
    inode: u64,
    _folder: tempfile::TempDir,
}

impl Direct {
    /// `None` where the build's filesystem has no disk below it or refuses direct I/O.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let path = folder.path().join("file");
        let mut file = File::create(&path).expect("a file");
        for _ in 0..BLOCKS {
            file.write_all(&[7; BLOCK]).expect("room");
        }
        file.sync_all().expect("it is safe");
        let inode = file.metadata().expect("it is there").ino();
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(&path);
        let file = needed("direct I/O", file)?;
        Some(Self {
            file,
            inode,
            _folder: folder,
        })
    }
}

fn loaded() -> Option<Block> {
    needed("block I/O", Block::load())
}

fn account(block: &Block, operation: u16, is_it: impl Fn(Scope) -> bool) -> Option<Account> {
    let mut all = (1..=MOST_ACCOUNTS).filter_map(|place| block.account(place));
    all.find(|it| it.key.operation == operation && scope_of(it).is_some_and(&is_it))
}

fn of_file(block: &Block, operation: u16, file: &Direct) -> Option<Account> {
    let account = account(
        block,
        operation,
        |scope| matches!(scope, Scope::File { inode, .. } if inode == file.inode),
    );
    if account.is_none() {
        skipped("block I/O of files", "no disk below this filesystem");
    }
    account
}

/// Of `all` bytes, or nearly: while other tests work on maps, the kernel runs no program for interrupts on their CPU, and
/// the ends of some requests are not seen.
fn nearly(bytes: u64, all: u64) -> bool {
    (all - all / 8..=all).contains(&bytes)
}

#[test]
fn reads_in_order_and_in_disorder_are_told_apart() {
    let (Some(file), Some(block)) = (Direct::new(), loaded()) else {
        return;
    };
    let mut buffer = Aligned::new();
    let mut read = |at: u64| {
        let at = at % BLOCKS * BLOCK as u64;
        let read = file.file.read_exact_at(buffer.bytes(), at);
        read.expect("it is there");
    };
    (0..BLOCKS).for_each(&mut read);
    let Some(ordered) = of_file(&block, READ, &file) else {
        return;
    };
    // A file may be in several pieces on the disk, and a read of two pieces is two requests.
    assert!(
        nearly(ordered.bytes, BLOCKS * BLOCK as u64),
        "{}",
        ordered.bytes
    );
    assert!(ordered.sequential >= BLOCKS - 16, "{}", ordered.sequential);
    let of_size: u64 = ordered.requests_by_size[3];
    assert!(of_size >= BLOCKS - 16, "16 KiB and more: {of_size}");
    assert!(block.most_in_flight(&ordered) >= 1);
    for times in [&ordered.requests_by_queue, &ordered.requests_by_device] {
        assert_eq!(times.iter().sum::<u64>(), ordered.requests);
    }
    assert!(ordered.busy_ns > 0 && ordered.device_ns > 0);
    // 37 and 64 have no divisor in common.
    (0..BLOCKS).map(|it| it * 37).for_each(read);
    let both = of_file(&block, READ, &file).expect("it stays");
    assert!(
        nearly(both.bytes, 2 * BLOCKS * BLOCK as u64),
        "{}",
        both.bytes
    );
    assert!(both.sequential - ordered.sequential <= 8);
}

#[test]
fn writes_that_are_waited_for_are_told_from_others() {
    let (Some(file), Some(block)) = (Direct::new(), loaded()) else {
        return;
    };
    let mut buffer = Aligned::new();
    let mut write = |at: u64| {
        let written = file
            .file
            .write_all_at(buffer.bytes(), at % BLOCKS * BLOCK as u64);
        written.expect("room");
    };
    (0..BLOCKS).for_each(&mut write);
    let Some(alone) = of_file(&block, WRITE, &file) else {
        return;
    };
    assert!(
        nearly(alone.bytes, BLOCKS * BLOCK as u64),
        "{}",
        alone.bytes
    );
    assert_eq!(alone.synced, 0);
    for at in 0..BLOCKS {
        write(at);
        file.file.sync_data().expect("it is safe");
    }
    let synced = of_file(&block, WRITE, &file).expect("it stays");
    let pid = std::process::id();
    let flushes = |scope| account(&block, FLUSH, |it| it == scope);
    let Some(asked) = flushes(Scope::Unnamed(pid)) else {
        skipped("flushes", "this disk has no cache to be flushed");
        return;
    };
    assert!(asked.requests >= BLOCKS - 8, "{}", asked.requests);
    // The first sync may write metadata too, whose flush serves for both.
    assert!(synced.synced >= BLOCKS - 8, "{}", synced.synced);
    let own = flushes(Scope::Process(pid)).expect("they are counted for it");
    assert!(own.requests >= asked.requests);
}

#[test]
fn from_the_page_cache_a_file_is_known_too() {
    let (Some(file), Some(block)) = (Direct::new(), loaded()) else {
        return;
    };
    let path = format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&file.file)
    );
    let cached = OpenOptions::new().write(true).open(path).expect("it opens");
    for at in 0..BLOCKS {
        let written = cached.write_all_at(&[9; BLOCK], at * BLOCK as u64);
        written.expect("room");
        cached.sync_data().expect("it is safe");
    }
    let Some(written) = of_file(&block, WRITE, &file) else {
        return;
    };
    // Whoever writes back meanwhile: nobody else writes to the file.
    assert!(
        nearly(written.bytes, BLOCKS * BLOCK as u64),
        "{}",
        written.bytes
    );
    assert!(written.synced >= BLOCKS / 2, "{}", written.synced);
    assert!(written.sequential >= BLOCKS - 16, "{}", written.sequential);
}

#[test]
fn an_account_that_is_given_back_is_anothers() {
    let (Some(file), Some(block)) = (Direct::new(), loaded()) else {
        return;
    };
    let mut buffer = Aligned::new();
    let mut read = || file.file.read_exact_at(buffer.bytes(), 0).expect("there");
    read();
    let Some(first) = of_file(&block, READ, &file) else {
        return;
    };
    let is_it = |it: &Account| it.key.id == first.key.id && it.key.operation == READ;
    let mut places = 1..=MOST_ACCOUNTS;
    let place = places.find(|place| block.account(*place).is_some_and(|it| is_it(&it)));
    let place = place.expect("it is somewhere");
    block.forget(&first).expect("it is known");
    block.free(place).expect("it exists");
    assert_eq!(block.account(place).and_then(|it| scope_of(&it)), None);
    (0..8).for_each(|_| read());
    let second = of_file(&block, READ, &file).expect("it has a new one");
    let bytes = second.bytes;
    assert!(bytes > 0 && bytes <= 8 * BLOCK as u64, "{bytes}");
    assert_eq!(block.unplaced(), 0);
}
