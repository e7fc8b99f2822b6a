//! Waits of every class, made on purpose by a thread that knows their duration from its own clocks: wall time
//! less CPU time less run-queue delay.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Duration of each kind of wait.
pub(super) const LONG: Duration = Duration::from_millis(200);

/// A thread's own clocks over an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Own {
    pub(super) wall_ns: i64,
    pub(super) cpu_ns: i64,
    /// Run-queue delay, time throttled by a quota included.
    pub(super) delay_ns: i64,
}

impl Own {
    /// Time in which the thread could not have run, plus its hidden time on CPU.
    pub(super) fn blocked_ns(self) -> i64 {
        self.wall_ns - self.cpu_ns - self.delay_ns
    }

    fn now(clock: Instant) -> Self {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("it is there");
        // schedstat's run time is as of the last tick, so the CPU clock is used.
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let delay = text.split_whitespace().nth(1).expect("a delay");
        Self {
            wall_ns: clock.elapsed().as_nanos() as i64,
            cpu_ns: cpu.tv_sec * 1_000_000_000 + cpu.tv_nsec,
            delay_ns: delay.parse().expect("a number"),
        }
    }
}

/// The calling thread's clocks over `act`.
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
    // SAFETY: the futex word and the timeout live through the call; no thread wakes it.
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

/// Writes into a full pipe until another thread reads from it.
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

/// A file on a disk, removed when this is dropped.
pub struct OnDisk(PathBuf);

impl OnDisk {
    pub fn new(name: &str, megabytes: usize) -> Self {
        let program = std::env::current_exe().expect("this is a program");
        let folder = program.parent().expect("in a folder");
        let path = folder.join(format!("thread-time-{name}-{}", std::process::id()));
        let mut file = File::create(&path).expect("it can be written");
        for _ in 0..megabytes {
            file.write_all(&vec![7; 1 << 20]).expect("room");
        }
        file.sync_all().expect("it reaches the disk");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        for what in ["limited", "go"] {
            let _ = std::fs::remove_file(self.0.with_extension(what));
        }
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

/// Reads past the page cache (O_DIRECT).
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

/// Leaves numbers for the other process in a file beside the one that both know.
pub(super) fn post(file: &OnDisk, what: &str, numbers: &[i64]) {
    leave(file.path(), what, numbers);
}

fn leave(file: &Path, what: &str, numbers: &[i64]) {
    let text: Vec<_> = numbers.iter().map(i64::to_string).collect();
    let (draft, name) = (file.with_extension("draft"), file.with_extension(what));
    std::fs::write(&draft, text.join(" ")).expect("room");
    std::fs::rename(draft, name).expect("it is there");
}

/// Waits for the numbers that the other process leaves.
pub(super) fn await_numbers(file: &OnDisk, what: &str) -> Vec<i64> {
    let name = file.path().with_extension(what);
    let end = Instant::now() + Duration::from_secs(60);
    let text = loop {
        assert!(
            Instant::now() < end,
            "the other process says nothing of its {what}"
        );
        match std::fs::read_to_string(&name) {
            Ok(text) => break text,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let _ = std::fs::remove_file(name);
    let numbers = text.split_whitespace();
    numbers.map(|it| it.parse().expect("a number")).collect()
}

/// Runs in the other process: touches more of a file than may stay in memory; before and after, it waits for
/// nothing.
pub(super) fn refault(file: &Path) {
    let spin_until = |what| {
        let flag = file.with_extension(what);
        while !flag.exists() {
            std::hint::spin_loop();
        }
    };
    spin_until("limited");
    crate::limits::raise_priority();
    let mapped = Mapping::of(file);
    // An evicted page counts as a refault only if it was used again and again before (mm/workingset.c).
    let (again, mut block) = (File::open(file).expect("it opens"), vec![0; 65_536]);
    // Blocked in reads and in faults, ns.
    let mut use_it = |long: Duration| {
        let (mut blocked, end) = ([0, 0], Instant::now() + long);
        while Instant::now() < end {
            let reads = measured(|| {
                for place in (0..mapped.bytes as u64).step_by(block.len()) {
                    (0..3).for_each(|_| drop(again.read_at(&mut block, place)));
                }
            });
            let faults = measured(|| mapped.touch(1, long));
            blocked[0] += reads.blocked_ns();
            blocked[1] += faults.blocked_ns();
        }
        blocked
    };
    use_it(Duration::from_secs(2));
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    leave(file, "tid", &[tid.into()]);
    spin_until("go");
    leave(file, "own", &use_it(4 * LONG));
    // Burns CPU until it is killed.
    burn(Duration::from_secs(60));
}

/// Touches pages of a file that are not in memory.
pub(super) fn fault(file: &Path) {
    let mapped = Mapping::of(file);
    // SAFETY: advice does not change the contents of memory.
    unsafe {
        let random = libc::MADV_RANDOM;
        libc::madvise(mapped.first.cast_mut().cast(), mapped.bytes, random);
    }
    mapped.touch(37, LONG);
}

/// Reads into memory that maps an uncached file, so that the read faults.
pub(super) fn read_into(source: &File, file: &Path) {
    let mapped = Mapping::of(file);
    let end = Instant::now() + LONG;
    for page in (0..mapped.bytes as u64 / 4096).map(|it| it * 37 % (mapped.bytes as u64 / 4096)) {
        // SAFETY: inside the mapping; a private page belongs to this process alone.
        let page = unsafe { mapped.first.add(page as usize * 4096) };
        // SAFETY: there is room for a byte.
        let read = unsafe { libc::pread(source.as_raw_fd(), page.cast_mut().cast(), 1, 0) };
        assert_eq!(read, 1);
        if Instant::now() >= end {
            break;
        }
    }
}

/// Maps memory, touches it and unmaps it.
pub(super) fn map_and_fill() {
    const BYTES: usize = 4 << 20;
    // SAFETY: a new mapping at any address, unmapped before another thread can use it.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let first = libc::mmap(std::ptr::null_mut(), BYTES, access, flags, -1, 0);
        assert_ne!(first, libc::MAP_FAILED);
        libc::munmap(first, BYTES);
    }
}

/// A mapped file, for reading.
struct Mapping {
    first: *const u8,
    bytes: usize,
}

impl Mapping {
    /// Drops the file from the page cache before it maps it.
    fn of(file: &Path) -> Self {
        let file = File::open(file).expect("it opens");
        let bytes = file.metadata().expect("it has one").len() as usize;
        // SAFETY: a new mapping at any address; the file is not truncated while it lasts.
        let first = unsafe {
            libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        assert_ne!(first, libc::MAP_FAILED);
        Self {
            first: first.cast::<u8>(),
            bytes,
        }
    }

    /// Touches each page once with this stride between two, for at most `long`.
    fn touch(&self, stride: usize, long: Duration) {
        let end = Instant::now() + long;
        let pages = self.bytes / 4096;
        for turn in 0..pages {
            // SAFETY: inside the mapping.
            let page = unsafe { self.first.add(turn * stride % pages * 4096) };
            // SAFETY: as above.
            std::hint::black_box(unsafe { page.read_volatile() });
            if Instant::now() >= end {
                break;
            }
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `of`.
        unsafe { libc::munmap(self.first.cast_mut().cast(), self.bytes) };
    }
}

pub fn burn(long: Duration) {
    let end = Instant::now() + long;
    while Instant::now() < end {}
}

/// As `burn`; returns for how long the thread did not run, in gaps of at least `least`, and in gaps shorter
/// than that but longer than a millisecond.
pub(super) fn burn_withheld(long: Duration, least: Duration) -> [Duration; 2] {
    const SHORTEST: Duration = Duration::from_millis(1);
    let (mut last, mut withheld) = (Instant::now(), [Duration::ZERO; 2]);
    let end = last + long;
    while last < end {
        let now = Instant::now();
        if now - last >= SHORTEST {
            withheld[usize::from(now - last < least)] += now - last;
        }
        last = now;
    }
    withheld
}

/// A group of a cgroup v1 hierarchy, removed when this is dropped.
pub struct Group(PathBuf);

impl Group {
    pub fn new(controller: &str, limits: &[(&str, &str)]) -> Option<Self> {
        let mounts = std::fs::read("/proc/self/mountinfo").ok()?;
        let found = crate::hierarchies::Hierarchies::from_mountinfo(&mounts, Path::new("/"));
        let folder = &found.v1.get(controller)?.point;
        let folder = folder.join(format!("stallscope-thread-time-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        for (file, limit) in limits {
            std::fs::write(group.0.join(file), limit).ok()?;
        }
        Some(group)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Puts the calling thread into the group.
    pub(super) fn enter(&self) {
        std::fs::write(self.0.join("tasks"), "0").expect("root may");
    }

    /// Puts a process into the group.
    pub fn take(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("root may");
    }

    /// Puts the calling thread into the hierarchy's root group.
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
