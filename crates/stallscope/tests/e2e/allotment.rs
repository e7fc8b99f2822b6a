//! A file system with a quota: kept in this test's memory and shown through FUSE, as few kernels have
//! quotas. What would go beyond the allotment is refused as the kernel does it, with EDQUOT.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::fuse::{self, AT_ONCE, Mounted};

/// What a folder takes, bytes.
const FOLDER_BYTES: usize = 4_096;

/// Mounts a folder in which only so many bytes may be kept; `None` where this machine does not let us,
/// which is said.
pub fn mount(bytes: usize) -> Option<Mounted> {
    Mounted::mount("quota", Shelf::of(bytes), &[])
}

/// All there is, behind one lock.
struct Shelf(Mutex<Items>);

struct Items {
    allotment: usize,
    /// By inode number.
    all: BTreeMap<u64, Item>,
    next: u64,
}

struct Item {
    /// `None` for what was removed and may still be open.
    place: Option<(u64, Vec<u8>)>,
    /// `None` for a folder.
    content: Option<Vec<u8>>,
}

impl Item {
    fn bytes(&self) -> usize {
        match (&self.place, &self.content) {
            (None, _) => 0,
            (_, None) => FOLDER_BYTES,
            (_, Some(content)) => content.len(),
        }
    }
}

impl Items {
    fn find(&self, folder: INodeNo, name: &OsStr) -> Result<u64, Errno> {
        let is_it = |item: &Item| {
            let place = item.place.as_ref();
            place.is_some_and(|(at, named)| *at == folder.0 && named == name.as_encoded_bytes())
        };
        let mut all = self.all.iter();
        let found = all.find(|(_, item)| is_it(item));
        found.map(|(number, _)| *number).ok_or(Errno::ENOENT)
    }

    /// How many bytes more there may be.
    fn room(&self) -> usize {
        let taken = self.all.values().map(Item::bytes).sum();
        self.allotment.saturating_sub(taken)
    }

    fn add(
        &mut self,
        folder: INodeNo,
        name: &OsStr,
        content: Option<Vec<u8>>,
    ) -> Result<FileAttr, Errno> {
        if content.is_none() && self.room() < FOLDER_BYTES {
            return Err(Errno::EDQUOT);
        }
        let number = self.next;
        self.next += 1;
        let place = Some((folder.0, name.as_encoded_bytes().to_vec()));
        self.all.insert(number, Item { place, content });
        self.attributes(number)
    }

    fn remove(&mut self, folder: INodeNo, name: &OsStr) -> Result<(), Errno> {
        let number = self.find(folder, name)?;
        let is_inside = |item: &Item| item.place.as_ref().is_some_and(|(at, _)| *at == number);
        if self.all.values().any(is_inside) {
            return Err(Errno::ENOTEMPTY);
        }
        self.item(number)?.place = None;
        Ok(())
    }

    fn item(&mut self, number: u64) -> Result<&mut Item, Errno> {
        self.all.get_mut(&number).ok_or(Errno::ENOENT)
    }

    fn content(&mut self, number: u64) -> Result<&mut Vec<u8>, Errno> {
        self.item(number)?.content.as_mut().ok_or(Errno::EISDIR)
    }

    /// Makes a file longer, as far as there is room, or shorter.
    fn resize(&mut self, number: u64, bytes: usize) -> Result<(), Errno> {
        let room = self.room();
        let content = self.content(number)?;
        if bytes > content.len() + room {
            return Err(Errno::EDQUOT);
        }
        content.resize(bytes, 0);
        Ok(())
    }

    /// Writes what there is room for, and refuses when that is nothing.
    fn write(&mut self, number: u64, offset: usize, data: &[u8]) -> Result<usize, Errno> {
        let most = self.content(number)?.len() + self.room();
        let end = most.min(offset + data.len());
        if end <= offset {
            return Err(Errno::EDQUOT);
        }
        if end > self.content(number)?.len() {
            self.resize(number, end)?;
        }
        self.content(number)?[offset..end].copy_from_slice(&data[..end - offset]);
        Ok(end - offset)
    }

    fn attributes(&mut self, number: u64) -> Result<FileAttr, Errno> {
        let item = self.item(number)?;
        let (kind, perm) = kind(item);
        Ok(fuse::attributes(INodeNo(number), kind, perm, item.bytes()))
    }
}

fn kind(item: &Item) -> (FileType, u16) {
    match item.content {
        None => (FileType::Directory, 0o755),
        Some(_) => (FileType::RegularFile, 0o644),
    }
}

impl Shelf {
    fn of(allotment: usize) -> Self {
        let root = Item {
            place: Some((0, Vec::new())),
            content: None,
        };
        Self(Mutex::new(Items {
            allotment,
            all: BTreeMap::from([(INodeNo::ROOT.0, root)]),
            next: INodeNo::ROOT.0 + 1,
        }))
    }

    fn items(&self) -> MutexGuard<'_, Items> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(errno) => reply.error(errno),
    }
}

impl Filesystem for Shelf {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut items = self.items();
        let found = items.find(parent, name);
        match found.and_then(|number| items.attributes(number)) {
            Ok(attributes) => reply.entry(&AT_ONCE, &attributes, Generation(0)),
            Err(errno) => reply.error(errno),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.items().attributes(inode.0) {
            Ok(attributes) => reply.attr(&AT_ONCE, &attributes),
            Err(errno) => reply.error(errno),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut items = self.items();
        let resized = size.map_or(Ok(()), |size| items.resize(inode.0, size as usize));
        match resized.and_then(|()| items.attributes(inode.0)) {
            Ok(attributes) => reply.attr(&AT_ONCE, &attributes),
            Err(errno) => reply.error(errno),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        match self.items().add(parent, name, None) {
            Ok(attributes) => reply.entry(&AT_ONCE, &attributes, Generation(0)),
            Err(errno) => reply.error(errno),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.items().add(parent, name, Some(Vec::new())) {
            Ok(attributes) => reply.created(
                &AT_ONCE,
                &attributes,
                Generation(0),
                FileHandle(0),
                FopenFlags::FOPEN_DIRECT_IO,
            ),
            Err(errno) => reply.error(errno),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.items().remove(parent, name), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.items().remove(parent, name), reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut items = self.items();
        let moved = items.find(parent, name).and_then(|number| {
            // What had the name is replaced.
            let _ = items.remove(newparent, newname);
            items.item(number)?.place = Some((newparent.0, newname.as_encoded_bytes().to_vec()));
            Ok(())
        });
        answer(moved, reply);
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.items().content(inode.0) {
            Ok(content) => reply.data(fuse::part(content, offset, size)),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.items().write(inode.0, offset as usize, data) {
            Ok(written) => reply.written(written as u32),
            Err(errno) => reply.error(errno),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
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
        // A number is a place in the list as well: what is removed moves nobody.
        for (number, item) in self.items().all.range(offset + 1..) {
            if let Some((at, name)) = &item.place
                && *at == inode.0
                && reply.add(
                    INodeNo(*number),
                    *number,
                    kind(item).0,
                    OsStr::from_bytes(name),
                )
            {
                break;
            }
        }
        reply.ok();
    }
}
