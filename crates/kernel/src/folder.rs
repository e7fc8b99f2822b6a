//! Folders whose entries are numbers: processes, threads, open files.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::RawDir;

/// Calls `each` for every name in an open folder that is a number; does not allocate.
pub fn each_number_in(folder: &impl AsFd, mut each: impl FnMut(u32)) {
    let mut buffer = [MaybeUninit::<u8>::uninit(); 8192];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        if let Some(number) = entry
            .file_name()
            .to_str()
            .ok()
            .and_then(|name| name.parse().ok())
        {
            each(number);
        }
    }
}

/// The inode in a link such as `socket:[4711]`.
pub fn socket_inode(link: &[u8]) -> Option<u64> {
    let digits = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_have_inodes_that_count() {
        assert_eq!(socket_inode(b"socket:[4711]"), Some(4711));
        for other in [
            &b"pipe:[4711]"[..],
            b"socket:[",
            b"socket:[x]",
            b"/dev/null",
        ] {
            assert_eq!(socket_inode(other), None);
        }
    }
}
