//! Who opens files of a filesystem (fanotify(7)).

use std::mem::offset_of;
use std::path::Path;

use libc::fanotify_event_metadata;
use nix::errno::Errno;
use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
use rustix::fs::CWD;

/// Opens of files of one filesystem, by whichever mount.
pub struct FileOpens {
    group: Fanotify,
}

impl FileOpens {
    /// Listens from now on. `place` is any file or folder of the filesystem. It needs `CAP_SYS_ADMIN`, and a filesystem that
    /// numbers its files for export, as nearly all local ones do.
    pub fn of(place: &Path) -> Result<Self, Errno> {
        // A number for the file instead of a descriptor: an open file would keep its space after it is deleted.
        let numbers = InitFlags::from_bits_retain(libc::FAN_REPORT_FID);
        let flags =
            InitFlags::FAN_CLASS_NOTIF | InitFlags::FAN_NONBLOCK | InitFlags::FAN_CLOEXEC | numbers;
        let group = Fanotify::init(flags, EventFFlags::O_RDONLY)?;
        let whole = MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_FILESYSTEM;
        group.mark(whole, MaskFlags::FAN_OPEN, CWD, Some(place))?;
        Ok(Self { group })
    }

    /// Calls `each` with the process of each open since the last call, of at most about so many; returns how many there were.
    /// A process of a pid namespace that is not seen from here is 0.
    pub fn each(&self, most: usize, mut each: impl FnMut(u32)) -> usize {
        // Not by `read_events`, which allocates.
        let mut bytes = [0_u8; 4_096];
        let mut count = 0;
        while count < most
            && let Ok(read @ 1..) = rustix::io::read(&self.group, &mut bytes)
        {
            let mut left = &bytes[..read];
            while let Some((event, pid)) = first(left) {
                count += 1;
                each(pid);
                left = left.get(event..).unwrap_or_default();
            }
        }
        count
    }
}

/// The length of the first event, and its process (`struct fanotify_event_metadata`, linux/fanotify.h).
fn first(events: &[u8]) -> Option<(usize, u32)> {
    const LENGTH: usize = offset_of!(fanotify_event_metadata, event_len);
    const PID: usize = offset_of!(fanotify_event_metadata, pid);
    let word = |at: usize| Some(u32::from_ne_bytes(events.get(at..at + 4)?.try_into().ok()?));
    let length = word(LENGTH)?.max(size_of::<fanotify_event_metadata>() as u32);
    Some((length as usize, word(PID)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirement::needed;

    #[test]
    fn an_open_is_told_with_its_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "x").expect("it can be written");
        let opens = needed("who opens files", FileOpens::of(folder.path()));
        let Some(opens) = opens else { return };
        let own = || {
            let mut count = 0;
            opens.each(100_000, |pid| count += u32::from(pid == std::process::id()));
            count
        };
        own();
        std::fs::read(&file).expect("it is there");
        assert!(own() >= 1);
    }
}
