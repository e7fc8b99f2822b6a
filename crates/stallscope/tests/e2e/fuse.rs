//! File systems that a test serves itself, through FUSE: what they share.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, FileAttr, FileType, Filesystem, INodeNo, MountOption, Session,
};
use tempfile::TempDir;

use crate::needs;

/// Nothing is remembered by the kernel: each look is a question.
pub const AT_ONCE: Duration = Duration::ZERO;
/// A page, the unit in which such a file is best read.
const PAGE: u32 = 4_096;

/// One that is mounted, on a folder of its own. Gone when dropped.
pub struct Mounted {
    // Unmounted before its folder is removed.
    _session: BackgroundSession,
    folder: TempDir,
}

impl Mounted {
    /// Mounts it; `None` where this machine does not let us, which is said.
    pub fn mount(name: &str, served: impl Filesystem, options: &[MountOption]) -> Option<Self> {
        if !needs::root() {
            return None;
        }
        if !Path::new("/dev/fuse").exists() {
            needs::skip("there is no /dev/fuse");
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix(&format!("stallscope-{name}-"))
            .tempdir();
        let folder = folder.expect("a temporary folder can be made");
        let mut config = Config::default();
        config.mount_options = options.to_vec();
        config
            .mount_options
            .push(MountOption::FSName(name.to_owned()));
        match Session::new(served, folder.path(), &config).and_then(Session::spawn) {
            Ok(session) => Some(Self {
                _session: session,
                folder,
            }),
            Err(error) => {
                needs::skip(&format!(
                    "a FUSE file system cannot be mounted here: {error}"
                ));
                None
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// What there is to say of a file or folder of root's.
pub fn attributes(inode: INodeNo, kind: FileType, perm: u16, bytes: usize) -> FileAttr {
    let size = bytes as u64;
    FileAttr {
        ino: inode,
        size,
        blocks: size.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: PAGE,
        flags: 0,
    }
}

/// What a reading of so many bytes gets.
pub fn part(content: &[u8], offset: u64, size: u32) -> &[u8] {
    let rest = content.get(offset as usize..).unwrap_or_default();
    &rest[..rest.len().min(size as usize)]
}
