//! In steady state a tick allocates nothing: counted by an allocator that counts.
//!
//! A file of its own, since the allocator is the whole process's; it counts by thread.
#![allow(unsafe_code)]

mod backend;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;

use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::environment;
use model::{Role, Rows, Table, Timestamp, Window};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Both ends of a connection.
fn loopback() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let local = listener.local_addr().expect("an address");
    let client = TcpStream::connect(local).expect("a connection");
    (client, listener.accept().expect("its other end").0)
}

#[test]
fn a_second_in_steady_state_allocates_nothing() {
    // The target is this process: a thread that sleeps and wakes, so that rows change at every tick.
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    let (mut client, _server) = loopback();
    // And one that shows a word in its memory, and one whose word is never found, as long as it is alone.
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let start = |before_14| backend::Backend::start(folder.path(), before_14, 0x0600_0000);
    let backends: Vec<_> = [false, true].into_iter().filter_map(start).collect();
    let settings = Settings {
        root: PathBuf::from("/"),
        harden: false,
        traces_all: false,
        workload: None,
    };
    let environment = environment(&settings.root);
    let (mut sampler, commands, spare) =
        Sampler::new(&settings, &environment).expect("/proc is readable");
    commands
        .send(Command::Assign {
            pids: std::iter::once(std::process::id())
                .chain(backends.iter().map(backend::Backend::pid))
                .collect(),
            role: Role::Target,
        })
        .expect("the sampler lives");
    let mut handed_over: Vec<(&'static Table, Rows)> = Vec::with_capacity(64);
    let mut rows_seen = 0;
    let mut tables = BTreeSet::new();
    let (mut connection_rows, mut words_seen) = (0, 0);
    // The ticks since rows were last flushed, and when somebody came or went meanwhile.
    let (mut ticks, mut news) = (Vec::with_capacity(16), Vec::with_capacity(64));
    let (mut quiet, mut quiet_flushes, mut quiet_walks, mut worst) = (0, 0, 0, 0);
    for tick in 1..12_000u64 {
        if tick >= 600 && quiet > 300 && quiet_flushes > 3 && quiet_walks > 0 {
            break;
        }
        client.write_all(b"x").expect("room");
        let (begun, before) = (boottime(), COUNT.with(Cell::get));
        let mut is_gap = false;
        let goes_on = sampler.step(&mut |event| match event {
            SamplerEvent::Rows(table, rows) => {
                rows_seen += rows.len();
                connection_rows += if table.name == "connection" {
                    rows.len()
                } else {
                    0
                };
                if let Some(column) = table.position("wait_event") {
                    let values = rows.column(column);
                    words_seen += values.filter(|word| *word != model::MISSING).count();
                }
                handed_over.push((table, rows));
            }
            SamplerEvent::Entities(events) => news.extend(events.iter().map(|event| event.time)),
            SamplerEvent::Gap(_) | SamplerEvent::Contact(..) | SamplerEvent::Assigned(..) => {
                is_gap = true;
            }
            SamplerEvent::Ended(_) => {}
        });
        assert!(goes_on);
        let counted = COUNT.with(Cell::get) - before;
        ticks.push((tick, Window::new(begun, boottime()), counted));
        for (table, mut rows) in handed_over.drain(..) {
            tables.insert(table.name.as_ref());
            rows.clear();
            spare.send((table, rows)).expect("the sampler lives");
        }
        if tick % 10 == 0 {
            // Processes come and go on a shared machine, and a newcomer is rightly worth an allocation: what
            // counts is ticks without any, after the first ones have sized the buffers.
            let ends_quiet = !is_gap && tick > 100;
            for (tick, during, counted) in ticks.drain(..).filter(|_| ends_quiet) {
                if !news.iter().any(|at| during.contains(*at)) {
                    quiet += 1;
                    quiet_flushes += u64::from(tick % 10 == 0);
                    // Every 50 ticks groups are walked and memberships read afresh.
                    quiet_walks += u64::from(tick % 50 == 0);
                    worst = worst.max(counted);
                }
            }
            ticks.clear();
            news.clear();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(rows_seen > 1_000, "rows were taken: {rows_seen}");
    // What every machine has; the rest depends on its devices and groups, and is counted where it is.
    for table in ["paging", "tcp", "softnet", "process", "recorder"] {
        assert!(tables.contains(table), "{table} is among {tables:?}");
    }
    assert!(
        connection_rows > 10,
        "both ends were followed: {connection_rows}"
    );
    assert!(
        words_seen > 100 || backends.is_empty(),
        "words in memory were taken: {words_seen}"
    );
    assert!(
        quiet > 300 && quiet_flushes > 3 && quiet_walks > 0,
        "there were quiet ticks: {quiet}, {quiet_flushes} that flushed rows, {quiet_walks} that walked over groups"
    );
    assert_eq!(
        worst, 0,
        "allocations in a tick that took rows, or flushed them, and met nobody new"
    );
}

fn boottime() -> Timestamp {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Timestamp::from_ns(now.tv_sec * 1_000_000_000 + now.tv_nsec)
}

#[test]
fn exits_before_the_first_look_and_growing_numbers_allocate_nothing() {
    let root = tempfile::tempdir().expect("a temporary folder can be made");
    let process = root.path().join("proc/7");
    let task = process.join("task/7");
    std::fs::create_dir_all(&task).expect("made");
    for gone in ["proc/8", "proc/9", "proc/7/task/8"] {
        std::fs::create_dir(root.path().join(gone)).expect("made");
    }
    let stat = format!("7 (worker) S 1{}\n", " 0".repeat(48));
    for (folder, file, text) in [
        (&process, "stat", stat.as_str()),
        (&task, "stat", &stat),
        (&task, "schedstat", "1 2 3\n"),
    ] {
        std::fs::write(folder.join(file), text).expect("written");
    }
    let settings = Settings {
        root: root.path().to_owned(),
        harden: false,
        traces_all: false,
        workload: None,
    };
    let environment = environment(&settings.root);
    let (mut sampler, commands, _spare) =
        Sampler::new(&settings, &environment).expect("the folder is readable");
    let role = Role::Target;
    commands
        .send(Command::Assign {
            pids: vec![7],
            role,
        })
        .expect("the sampler lives");
    let mut rows = 0;
    let mut step = || {
        let before = COUNT.with(Cell::get);
        sampler.step(&mut |event| {
            if let SamplerEvent::Rows(table, harvested) = event
                && table.name == "thread"
            {
                rows += harvested.len();
            }
        });
        COUNT.with(Cell::get) - before
    };
    for _ in 1..=10 {
        step();
    }
    // None of these ticks hands rows on: what that costs depends on their giving back.
    std::fs::write(task.join("schedstat"), "1000000000 2000000000 3000\n").expect("written");
    let counted: Vec<u64> = (11..=19).map(|_| step()).collect();
    step();
    assert!(rows > 1, "the numbers were taken: {rows}");
    assert_eq!(counted, [0; 9]);
}
