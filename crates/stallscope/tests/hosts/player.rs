//! Serves a fixture host as a live one: through FUSE, by this test's own process, so that files answer
//! the errors that a kernel's do, and change while they are held open.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, Request,
};

use crate::fuse::{self, AT_ONCE, Mounted};
use crate::tree::{Id, Node, Tree, refused};

/// The kernel's text files give so much at a read, and whole lines (seq_read_iter in fs/seq_file.c).
const PAGE: usize = 4_096;

/// Shows a host, from its beginning on; `None` where this machine does not let us, which is said.
pub fn play(host: &Path) -> Option<Mounted> {
    let stage = Stage {
        tree: Tree::load(host),
        began: Instant::now(),
        handles: AtomicU64::new(1),
        read: Mutex::default(),
    };
    Mounted::mount("host", stage, &[MountOption::RO])
}

struct Stage {
    tree: Tree,
    began: Instant,
    handles: AtomicU64,
    /// What an open file showed when it was last read from its start: the rest of one reading belongs
    /// to that.
    read: Mutex<HashMap<u64, Vec<u8>>>,
}

impl Stage {
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn node(&self, inode: INodeNo) -> &Node {
        &self.tree.nodes[id_of(inode)]
    }

    fn child(&self, folder: INodeNo, name: &OsStr) -> Option<Id> {
        let now = self.now();
        let is_it = |id: &&Id| {
            let node = &self.tree.nodes[**id];
            node.name == name.as_bytes() && node.is_there(now)
        };
        self.node(folder).children.iter().find(is_it).copied()
    }

    fn attributes(&self, id: Id) -> FileAttr {
        let node = &self.tree.nodes[id];
        let folders = node
            .children
            .iter()
            .filter(|child| self.tree.nodes[**child].folder);
        let (perm, nlink) = if node.folder {
            (0o555, 2 + folders.count() as u32)
        } else {
            (0o444, 1)
        };
        FileAttr {
            nlink,
            // What a kernel's file will say is not known before.
            ..fuse::attributes(inode_of(id), kind(node), perm, 0)
        }
    }

    fn reading(
        &self,
        inode: INodeNo,
        handle: FileHandle,
        range: (usize, usize),
    ) -> Result<Vec<u8>, i32> {
        let (node, now) = (self.node(inode), self.now());
        if let Some(errno) = refused(node.dies, now).or(refused(node.refuses_read, now)) {
            return Err(errno);
        }
        let (offset, size) = range;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if offset == 0 {
            read.insert(handle.0, node.text(now));
        }
        let text = read.get(&handle.0).map_or(&[][..], Vec::as_slice);
        let rest = text.get(offset..).unwrap_or_default();
        let most = size.min(PAGE);
        if rest.len() <= most {
            return Ok(rest.to_vec());
        }
        let line = rest[..most].iter().rposition(|byte| *byte == b'\n');
        Ok(rest[..line.map_or(most, |end| end + 1)].to_vec())
    }
}

impl Filesystem for Stage {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.child(parent, name) {
            Some(id) => reply.entry(&AT_ONCE, &self.attributes(id), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&AT_ONCE, &self.attributes(id_of(inode)));
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match refused(self.node(inode).refuses_open, self.now()) {
            Some(errno) => reply.error(Errno::from_i32(errno)),
            None => {
                let handle = self.handles.fetch_add(1, Ordering::Relaxed);
                reply.opened(FileHandle(handle), FopenFlags::FOPEN_DIRECT_IO);
            }
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.reading(inode, handle, (offset as usize, size as usize)) {
            Ok(text) => reply.data(&text),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.remove(&handle.0);
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let (node, now) = (self.node(inode), self.now());
        if !node.is_there(now) {
            return reply.error(Errno::ENOENT);
        }
        let dots = [".", ".."].map(|name| (inode, FileType::Directory, name.as_bytes()));
        let children = node.children.iter().map(|id| {
            let child = &self.tree.nodes[*id];
            (
                inode_of(*id),
                kind(child),
                child.name.as_slice(),
                child.is_there(now),
            )
        });
        let dots = dots.map(|(inode, kind, name)| (inode, kind, name, true));
        let all = dots.into_iter().chain(children).enumerate();
        for (index, (inode, kind, name, there)) in all.skip(offset as usize) {
            if there && reply.add(inode, index as u64 + 1, kind, OsStr::from_bytes(name)) {
                break;
            }
        }
        reply.ok();
    }
}

fn kind(node: &Node) -> FileType {
    if node.folder {
        FileType::Directory
    } else {
        FileType::RegularFile
    }
}

fn id_of(inode: INodeNo) -> Id {
    inode.0 as Id - 1
}

/// The root is 1 by the protocol.
fn inode_of(id: Id) -> INodeNo {
    INodeNo(id as u64 + 1)
}
