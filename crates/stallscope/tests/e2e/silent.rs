//! A server whose program and working directory are on a filesystem that answers no more: one of a
//! program (FUSE) that has stopped, as a network's would whose machine is away.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, Request,
};

use crate::fuse::{self, AT_ONCE, Mounted};
use crate::needs;
use crate::place::Place;
use crate::postgres;
use crate::process::Running;

const PROGRAM: INodeNo = INodeNo(2);
const VERSION: INodeNo = INodeNo(3);
/// Whoever asks waits so long, in a way that not even SIGKILL ends; then is refused, so that a test that
/// fails has an end.
const SILENCE: Duration = Duration::from_secs(5);

/// Two files, served until it falls silent.
#[derive(Clone)]
struct Disk {
    program: Arc<Vec<u8>>,
    silent: Arc<AtomicBool>,
    /// What was asked in the silence.
    asked: Arc<Mutex<Vec<&'static str>>>,
}

impl Disk {
    /// Whether the question is to be answered; who asks in the silence is noted.
    fn hears(&self, question: &'static str) -> bool {
        let silent = self.silent.load(Ordering::Relaxed);
        if silent {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(question);
        }
        !silent
    }

    fn content(&self, inode: INodeNo) -> &[u8] {
        match inode {
            PROGRAM => &self.program,
            VERSION => b"15\n",
            _ => b"",
        }
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let kind = match inode {
            INodeNo::ROOT => FileType::Directory,
            _ => FileType::RegularFile,
        };
        fuse::attributes(inode, kind, 0o755, self.content(inode).len())
    }
}

fn later(refuse: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        std::thread::sleep(SILENCE);
        refuse();
    });
}

impl Filesystem for Disk {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if !self.hears("lookup") {
            return later(|| reply.error(Errno::EIO));
        }
        match name.to_str() {
            Some("postgres") => reply.entry(&AT_ONCE, &self.attributes(PROGRAM), Generation(0)),
            Some("PG_VERSION") => reply.entry(&AT_ONCE, &self.attributes(VERSION), Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        if !self.hears("getattr") {
            return later(|| reply.error(Errno::EIO));
        }
        reply.attr(&AT_ONCE, &self.attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if !self.hears("open") {
            return later(|| reply.error(Errno::EIO));
        }
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
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
        // Pages of the program may be wanted by its own end.
        reply.data(fuse::part(self.content(inode), offset, size));
    }
}

#[test]
fn a_server_whose_disk_answers_no_more_is_recorded_all_the_same() {
    let _alone = postgres::alone();
    if !needs::program("sleep") {
        return;
    }
    let place = Place::new();
    let sleep = Command::new("sh").args(["-c", "command -v sleep"]).output();
    let sleep = String::from_utf8(sleep.expect("sh runs").stdout).expect("a plain path");
    let disk = Disk {
        program: Arc::new(std::fs::read(sleep.trim()).expect("it can be read")),
        silent: Arc::default(),
        asked: Arc::default(),
    };
    let Some(mounted) = Mounted::mount("silent", disk.clone(), &[MountOption::RO]) else {
        return;
    };
    let mut server = Command::new("./postgres");
    server.current_dir(mounted.path()).arg("60");
    let server = Running::start(server);
    disk.silent.store(true, Ordering::Relaxed);
    record(&place, &server, "mounted");
    // Its path now leads to another disk than its files are on.
    let detached = Command::new("umount")
        .arg("-l")
        .arg(mounted.path())
        .status();
    assert!(detached.is_ok_and(|status| status.success()));
    record(&place, &server, "detached");
    let asked = disk.asked.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(asked.is_empty(), "{asked:?}");
}

/// Records it, and finds that it was seen and its program left alone.
fn record(place: &Place, server: &Running, name: &str) {
    let target = format!("pid:{}", server.pid());
    let folder = format!("{name}.stall");
    let arguments = ["record", "--target", &target, "--for", "2s", "-o", &folder];
    place.run(&arguments).status(0);
    let recording = recording::Reader::open(&place.path().join(Path::new(&folder)));
    let recording = recording.expect("it can be read");
    let gaps = &recording.meta.gaps;
    let mut said = gaps.iter().map(|gap| gap.reason.to_string());
    assert!(
        said.any(|reason| reason.contains("which is not asked, since asking could block")),
        "{gaps:?}"
    );
    let threads = recording.timeline.table("thread").expect("it was seen");
    assert!(!threads.is_empty());
}
