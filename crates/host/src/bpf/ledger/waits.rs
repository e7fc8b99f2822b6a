//! Waits of every class, made on purpose by a thread that knows how long they were by its own clock:
//! wall time less CPU time less run-queue delay of the one kind of wait that it does.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long each kind of wait is made.
pub(super) const LONG: Duration = Duration::from_millis(200);

/// What a thread knows of a stretch of its own time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Own {
    pub(super) wall_ns: i64,
    pub(super) cpu_ns: i64,
    /// Run-queue delay, time withheld by a quota included.
    pub(super) delay_ns: i64,
}

impl Own {
    /// Time in which the thread could not have run.
    pub(super) fn blocked_ns(self) -> i64 {
        self.wall_ns - self.cpu_ns - self.delay_ns
    }

    fn now(clock: Instant) -> Self {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("it is there");
        let mut words = text
            .split_whitespace()
            .map(|it| it.parse().expect("a number"));
        Self {
            wall_ns: clock.elapsed().as_nanos() as i64,
            cpu_ns: words.next().expect("a run time"),
            delay_ns: words.next().expect("a delay"),
        }
    }
}

/// Measures what is done by the clocks of the thread that does it.
pub(super) fn measured(act: impl FnOnce()) -> Own {
    let clock = Instant::now();
    let before = Own::now(clock);
    act();
    let after = Own::now(clock);
    Own {
        wall_ns: after.wall_ns - before.wall_ns,
        cpu_ns: after.cpu_ns - before.cpu_ns,
        delay_ns: after.delay_ns - before.delay_ns,
    }
}

pub(super) fn futex() {
    let word = 0_u32;
    let until = libc::timespec {
        tv_sec: 0,
        tv_nsec: LONG.as_nanos() as i64,
    };
    // SAFETY: the word and the time live through the call; nobody wakes it.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            &raw const word,
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            0,
            &raw const until,
        );
    }
}

pub(super) fn sleep() {
    std::thread::sleep(LONG);
}

pub(super) fn receive() {
    let (mut here, _there) = UnixStream::pair().expect("a pair");
    here.set_read_timeout(Some(LONG)).expect("it has one");
    assert!(here.read(&mut [0]).is_err(), "nothing comes");
}

pub(super) fn epoll() {
    use rustix::event::epoll;
    let set: OwnedFd = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a set");
    let long = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: LONG.as_nanos() as i64,
    };
    let mut events = [const { std::mem::MaybeUninit::uninit() }; 1];
    epoll::wait(&set, &mut events, Some(&long)).expect("nothing comes");
}

/// Writes into a pipe that is full, until somebody takes it out.
pub(super) fn send() {
    let (read, write) = rustix::pipe::pipe().expect("a pipe");
    let (mut read, mut write) = (File::from(read), File::from(write));
    // A pipe holds 64 KiB (pipe(7)).
    write.write_all(&[0; 65_536]).expect("room");
    let taker = std::thread::spawn(move || {
        std::thread::sleep(LONG);
        read.read_exact(&mut [0; 65_537]).expect("all of it");
    });
    write.write_all(&[0]).expect("room in the end");
    drop(taker);
}

/// A file on a disk, gone when it is dropped.
pub(super) struct OnDisk(PathBuf);

impl OnDisk {
    pub(super) fn new(name: &str, megabytes: usize) -> Self {
        let program = std::env::current_exe().expect("this is a program");
        let folder = program.parent().expect("in a folder");
        let path = folder.join(format!("ledger-{name}-{}", std::process::id()));
        let mut file = File::create(&path).expect("it can be written");
        for _ in 0..megabytes {
            file.write_all(&vec![7; 1 << 20]).expect("room");
        }
        file.sync_all().expect("it reaches the disk");
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn sync(file: &Path) {
    let file = OpenOptions::new().write(true).open(file).expect("it opens");
    let end = Instant::now() + LONG;
    while Instant::now() < end {
        file.write_all_at(&[1; 4096], 0).expect("room");
        file.sync_data().expect("it reaches the disk");
    }
}

/// Reads around the page cache.
pub(super) fn read(file: &Path) {
    let mut direct = OpenOptions::new();
    direct.read(true).custom_flags(libc::O_DIRECT);
    let file = direct.open(file).expect("it opens");
    let size = file.metadata().expect("it has one").len();
    let mut buffer = vec![0_u8; 8192];
    let start = buffer.as_ptr().align_offset(4096);
    let end = Instant::now() + LONG;
    for page in (0..).map(|turn: u64| turn * 37 * 4096 % size) {
        let page = page / 4096 * 4096;
        file.read_at(&mut buffer[start..start + 4096], page)
            .expect("it is there");
        if Instant::now() >= end {
            break;
        }
    }
}

/// Touches pages of a file that are not in memory.
pub(super) fn fault(file: &Path) {
    let file = File::open(file).expect("it opens");
    let size = file.metadata().expect("it has one").len() as usize;
    // SAFETY: the file is not shortened as long as this lasts; it is only read.
    let mapped = unsafe {
        libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
        let mapped = libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        assert_ne!(mapped, libc::MAP_FAILED);
        libc::madvise(mapped, size, libc::MADV_RANDOM);
        mapped.cast::<u8>()
    };
    touch(mapped, size);
    // SAFETY: what was mapped above.
    unsafe { libc::munmap(mapped.cast(), size) };
}

fn touch(mapped: *const u8, size: usize) {
    let end = Instant::now() + LONG;
    let pages = size / 4096;
    for turn in 0..pages * 8 {
        // SAFETY: inside of the mapping.
        std::hint::black_box(unsafe { mapped.add(turn * 37 % pages * 4096).read_volatile() });
        if Instant::now() >= end {
            break;
        }
    }
}

pub(super) fn burn(long: Duration) {
    let end = Instant::now() + long;
    while Instant::now() < end {}
}

/// A group of a v1 hierarchy, gone when it is dropped.
pub(super) struct Group(PathBuf);

impl Group {
    pub(super) fn new(controller: &str, limits: &[(&str, &str)]) -> Option<Self> {
        let mounts = std::fs::read("/proc/self/mountinfo").ok()?;
        let found = crate::hierarchies::Hierarchies::from_mountinfo(&mounts, Path::new("/"));
        let folder = &found.v1.get(controller)?.point;
        let folder = folder.join(format!("stallscope-ledger-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        for (file, limit) in limits {
            std::fs::write(group.0.join(file), limit).ok()?;
        }
        Some(group)
    }

    /// Puts the calling thread into it.
    pub(super) fn enter(&self) {
        std::fs::write(self.0.join("tasks"), "0").expect("root may");
    }

    /// Puts a process into it.
    pub(super) fn take(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("root may");
    }

    /// Puts the calling thread into the hierarchy's first group.
    pub(super) fn leave(&self) {
        let root = self.0.parent().expect("it stands in one");
        std::fs::write(root.join("tasks"), "0").expect("root may");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let end = Instant::now() + Duration::from_secs(2);
        while std::fs::remove_dir(&self.0).is_err() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
