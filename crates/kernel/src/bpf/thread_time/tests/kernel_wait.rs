//! Kernel waits: the wait site, from the stack.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use sensors::kernel_wait::WAIT_SITES;
use sensors::wait_channel::WaitChannel;

use super::*;

/// Time at one wait site, ns.
fn of(counted: &Counted, wait_site: WaitChannel) -> i64 {
    let named = WAIT_SITES.iter().zip(counted.kernel_wait_ns);
    named
        .filter(|(it, _)| **it == wait_site)
        .map(|it| it.1)
        .sum()
}

fn shown(counted: &Counted) -> String {
    let named = WAIT_SITES.iter().zip(counted.kernel_wait_ns);
    let named: Vec<_> = named
        .filter(|(_, ns)| *ns != 0)
        .map(|(wait_site, ns)| format!("{wait_site:?} {ns}"))
        .collect();
    format!("{}; {}", named.join(", "), counted.shown())
}

/// Runs `act` twice on a thread, the first time to get the addresses on its stack named. Returns the second
/// run's account, in which all kernel waits must have a wait site.
fn kernel_waits_of(thread_time: &mut ThreadTime, act: impl Fn() + Sync) -> Counted {
    std::thread::scope(|scope| {
        let first = scope.spawn(&act);
        while !first.is_finished() {
            thread_time.read(false).expect("it can be read");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let (_, counted) = monitored(thread_time, || waits::measured(&act));
    let sum: i64 = counted.kernel_wait_ns.iter().sum();
    let classes: i64 = counted.ns[2..14].iter().sum();
    assert_eq!(sum, classes, "{}", shown(&counted));
    counted
}

/// Repeats `act` for as long as the other waits last.
fn for_long(act: impl Fn()) {
    let end = Instant::now() + waits::LONG;
    while Instant::now() < end {
        act();
    }
}

fn assert_mostly(name: &str, expected: i64, counted: &Counted) {
    let all: i64 = counted.kernel_wait_ns.iter().sum();
    println!("{name}: {}", shown(counted));
    assert!(all > 1_000_000, "{name}: it waited: {}", shown(counted));
    assert!(expected * 10 > all * 8, "{name}: {}", shown(counted));
}

#[test]
fn page_waits_and_block_io_have_distinct_wait_sites() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let file = OnDisk::new("pages", 64);
    let counted = kernel_waits_of(&mut thread_time, || waits::read(file.path()));
    assert_mostly("direct", of(&counted, WaitChannel::Block), &counted);
    let counted = kernel_waits_of(&mut thread_time, || waits::fault(file.path()));
    assert_mostly("fault", of(&counted, WaitChannel::Page), &counted);
}

#[test]
fn an_o_dsync_write_is_a_sync() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let file = OnDisk::new("safe", 1);
    let mut safe = OpenOptions::new();
    safe.write(true).custom_flags(libc::O_DSYNC);
    let safe = safe.open(file.path()).expect("it opens");
    let counted = kernel_waits_of(&mut thread_time, || {
        for_long(|| safe.write_all_at(&[1; 4096], 0).expect("room"));
    });
    let both = counted.of(&["io_sync", "kernel_sync"]);
    assert_mostly("O_DSYNC", both, &counted);
}

#[test]
fn a_fault_on_the_buffer_of_a_read_is_a_fault() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let (source, file) = (OnDisk::new("source", 1), OnDisk::new("missed", 64));
    let source = std::fs::File::open(source.path()).expect("it opens");
    let counted = kernel_waits_of(&mut thread_time, || waits::read_into(&source, file.path()));
    let fault = counted.of(&["io_fault"]);
    assert_mostly("read into what is not there", fault, &counted);
}

#[test]
fn waits_for_a_kernel_lock_have_its_wait_site() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let map_much = || {
        for_long(waits::map_and_fill);
    };
    let counted = kernel_waits_of(&mut thread_time, || {
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(map_much)));
            map_much();
        });
    });
    let lock = of(&counted, WaitChannel::KernelLock);
    assert_mostly("mmap by threads", lock, &counted);
}

/// A file system with a journal, in a file; removed when this is dropped.
struct Journalled {
    point: PathBuf,
    _file: OnDisk,
}

impl Journalled {
    fn new() -> Option<Self> {
        let file = OnDisk::new("journal", 64);
        let point = file.path().with_extension("mount");
        std::fs::create_dir(&point).ok()?;
        let run = |command: &mut Command| {
            let command = command.stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|it| it.success())
        };
        let made = run(Command::new("mkfs.ext4")
            .args(["-q", "-F"])
            .arg(file.path()))
            && run(Command::new("mount")
                .args(["-t", "ext4", "-o", "loop"])
                .args([file.path(), &point]));
        if !made {
            let _ = std::fs::remove_dir(&point);
            return None;
        }
        let _file = file;
        Some(Self { point, _file })
    }

    fn path(&self) -> &Path {
        &self.point
    }
}

impl Drop for Journalled {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.point).status();
        let _ = std::fs::remove_dir(&self.point);
    }
}

#[test]
fn a_sync_behind_the_journal_has_its_wait_site() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let Some(place) = Journalled::new() else {
        return skipped(
            "thread-time accounting",
            "no ext4 with a journal can be made and mounted",
        );
    };
    as_target(&mut thread_time, std::process::id());
    let sync = || {
        let name = format!("{:?}", std::thread::current().id());
        let path = place.path().join(name);
        let file = std::fs::File::create(path).expect("room");
        for_long(|| {
            file.write_all_at(&[1; 4096], 0).expect("room");
            file.set_len(4096).expect("room");
            file.sync_all().expect("it reaches the disk");
        });
    };
    let counted = kernel_waits_of(&mut thread_time, sync);
    let journal = of(&counted, WaitChannel::Journal);
    println!("journal: {}", shown(&counted));
    assert!(journal > 1_000_000, "{}", shown(&counted));
}
