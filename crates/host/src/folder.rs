//! Folders whose entries are numbers: processes, threads, open files.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::RawDir;

/// Calls `each` for every name in an open folder that is a number; does not allocate.
pub(crate) fn each_number_in(folder: &impl AsFd, mut each: impl FnMut(u32)) {
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
