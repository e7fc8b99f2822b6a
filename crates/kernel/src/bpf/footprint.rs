//! Kernel memory of programs and their maps, by the kernel's own figures.
//!
//! A map that grows on demand counts at its present size. The kernel's figure of a map does not include task
//! and socket storage: task storage is estimated here, socket storage is left out, because the number of
//! sockets is unknown.

use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};

use libbpf_rs::Object;
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::path::DecInt;

/// Bound of the size of a map's or program's file in fdinfo.
const MOST: usize = 2_048;

/// Bytes of an object's maps and programs; `None` if the kernel does not report them.
pub(super) fn of(object: &Object) -> Option<u64> {
    let mut sum = 0;
    for map in object.maps() {
        sum += locked(map.as_fd())?;
    }
    // Programs whose hook this kernel does not have are not loaded.
    for program in object.progs().filter(|it| it.autoload()) {
        sum += locked(program.as_fd())?;
    }
    Some(sum)
}

/// Bytes of a task storage map, if every thread of this machine has a value of `bytes`.
pub(super) fn of_threads(bytes: u32) -> Option<u64> {
    let mut buffer = [0; MOST];
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = open("/proc/loadavg", flags, Mode::empty()).ok()?;
    let read = rustix::io::read(file, &mut buffer).ok()?;
    Some(threads(&buffer[..read])? * in_kernel(bytes))
}

/// A thread's storage, value and links, rounded up to the sizes of the kernel's allocator
/// (kernel/bpf/memalloc.c), plus its list head.
fn in_kernel(bytes: u32) -> u64 {
    const LINKS: u64 = 64;
    const LIST: u64 = 256;
    (u64::from(bytes) + LINKS).next_power_of_two() + LIST
}

/// "0.00 0.01 0.05 2/1234 5678": 1234 threads.
fn threads(loadavg: &[u8]) -> Option<u64> {
    let field = loadavg.split(|byte| *byte == b' ').nth(3)?;
    let slash = field.iter().position(|byte| *byte == b'/')?;
    number(&field[slash + 1..])
}

fn locked(descriptor: BorrowedFd<'_>) -> Option<u64> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = open("/proc/self/fdinfo", flags, Mode::empty()).ok()?;
    let name = DecInt::new(descriptor.as_raw_fd());
    let file = openat(folder, name, flags, Mode::empty()).ok()?;
    let mut buffer = [0; MOST];
    let read = rustix::io::read(file, &mut buffer).ok()?;
    memlock(&buffer[..read])
}

/// The value of the line `memlock:`.
fn memlock(fdinfo: &[u8]) -> Option<u64> {
    let mut lines = fdinfo.split(|byte| *byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(b"memlock:"))?;
    number(value.trim_ascii())
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fdinfo_and_loadavg_are_parsed() {
        let map = b"pos:\t0\nflags:\t02000002\nmap_type:\t2\nmax_entries:\t64\nmemlock:\t8192\nmap_id:\t7\n";
        assert_eq!(memlock(map), Some(8_192));
        assert_eq!(memlock(b"pos:\t0\nflags:\t02\n"), None, "a plain file");
        assert_eq!(threads(b"0.20 0.18 0.12 1/1480 11206\n"), Some(1_480));
        assert_eq!(threads(b""), None);
    }

    #[test]
    fn storage_comes_in_the_allocators_sizes() {
        assert_eq!(
            [100, 192, 900, 960].map(in_kernel),
            [512, 512, 1_280, 1_280]
        );
    }
}
