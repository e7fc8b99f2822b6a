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
use std::path::Path;
use std::sync::mpsc::Sender;

use collectors::{Command, Sampler, SamplerEvent, Settings, Spare};
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

/// A sampler of the files below `root`, with these processes as its target.
fn sampler(root: &Path, pids: Vec<u32>) -> (Sampler, Sender<Spare>) {
    let settings = Settings {
        root: root.to_owned(),
        stack_rate: Some(49),
        ..Settings::default()
    };
    let environment = environment(&settings.root);
    let (sampler, commands, spare) =
        Sampler::new(&settings, &environment).expect("the folder is readable");
    let role = Role::Target;
    commands
        .send(Command::Assign { pids, role })
        .expect("the sampler lives");
    (sampler, spare)
}

/// What the sampler has handed over.
#[derive(Default)]
struct Seen {
    tables: BTreeSet<&'static str>,
    rows: usize,
    connection_rows: usize,
    words: usize,
}

impl Seen {
    fn take(&mut self, table: &'static Table, rows: &Rows) {
        self.tables.insert(table.name.as_ref());
        self.rows += rows.len();
        if table.name == "connection" {
            self.connection_rows += rows.len();
        }
        if let Some(column) = table.position("wait_event") {
            let values = rows.column(column);
            self.words += values.filter(|word| *word != model::MISSING).count();
        }
    }

    fn has_what_every_machine_has(&self) {
        assert!(self.rows > 1_000, "rows were taken: {}", self.rows);
        let tables = &self.tables;
        // The rest depends on a machine's devices and groups, and is counted where it is.
        for table in ["paging", "tcp", "softnet", "process", "recorder"] {
            assert!(tables.contains(table), "{table} is among {tables:?}");
        }
        assert!(
            self.has_connections(),
            "both ends were followed: {}",
            self.connection_rows
        );
    }

    fn has_connections(&self) -> bool {
        self.connection_rows > 10
    }
}

struct Tick {
    number: u64,
    during: Window,
    allocations: u64,
    is_gap: bool,
}

/// Ticks in which nobody came or went.
#[derive(Default)]
struct Quiet {
    ticks: u32,
    flushes: u32,
    walks: u32,
    most_allocations: u64,
}

impl Quiet {
    /// Takes in the ticks since rows were last flushed. Processes come and go on a shared machine, and a
    /// newcomer is rightly worth an allocation: what counts is ticks without any, after the first ones have
    /// sized the buffers.
    fn take(&mut self, ticks: &[Tick], news: &[Timestamp]) {
        let ends_quiet = ticks.last().is_some_and(|it| !it.is_gap && it.number > 100);
        for tick in ticks.iter().filter(|_| ends_quiet) {
            if !news.iter().any(|at| tick.during.contains(*at)) {
                self.ticks += 1;
                self.flushes += u32::from(tick.number.is_multiple_of(10));
                // Every 50 ticks groups are walked and memberships read afresh.
                self.walks += u32::from(tick.number.is_multiple_of(50));
                self.most_allocations = self.most_allocations.max(tick.allocations);
            }
        }
    }

    fn is_enough(&self) -> bool {
        self.ticks > 300 && self.flushes > 3 && self.walks > 0
    }
}

/// Takes the tick with this number. `rows` and `news` have room.
fn tick(
    number: u64,
    sampler: &mut Sampler,
    rows: &mut Vec<(&'static Table, Rows)>,
    news: &mut Vec<Timestamp>,
) -> Tick {
    let (begun, before) = (boottime(), COUNT.with(Cell::get));
    let mut is_gap = false;
    let goes_on = sampler.step(&mut |event| match event {
        SamplerEvent::Rows(table, harvested) => rows.push((table, harvested)),
        SamplerEvent::Entities(events) => news.extend(events.iter().map(|event| event.time)),
        // A new text is worth an allocation too.
        SamplerEvent::Strings(_)
        | SamplerEvent::Gap(_)
        | SamplerEvent::Contact(..)
        | SamplerEvent::Assigned(..)
        | SamplerEvent::Cost(_) => is_gap = true,
        SamplerEvent::Ended(_) => {}
    });
    assert!(goes_on);
    Tick {
        number,
        allocations: COUNT.with(Cell::get) - before,
        during: Window::new(begun, boottime()),
        is_gap,
    }
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
    let own = std::iter::once(std::process::id());
    let pids = own.chain(backends.iter().map(backend::Backend::pid));
    let (mut sampler, spare) = sampler(Path::new("/"), pids.collect());
    let (mut rows, mut news) = (Vec::with_capacity(64), Vec::with_capacity(64));
    let mut ticks = Vec::with_capacity(16);
    let (mut seen, mut quiet) = (Seen::default(), Quiet::default());
    for number in 1..12_000u64 {
        // How often connections are dumped depends on what a dump costs on this machine.
        if number >= 600 && quiet.is_enough() && seen.has_connections() {
            break;
        }
        client.write_all(b"x").expect("room");
        ticks.push(tick(number, &mut sampler, &mut rows, &mut news));
        for (table, mut rows) in rows.drain(..) {
            seen.take(table, &rows);
            rows.clear();
            spare.send((table, rows)).expect("the sampler lives");
        }
        if number.is_multiple_of(10) {
            quiet.take(&ticks, &news);
            ticks.clear();
            news.clear();
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    seen.has_what_every_machine_has();
    assert!(
        seen.words > 100 || backends.is_empty(),
        "words in memory were taken: {}",
        seen.words
    );
    let Quiet {
        ticks,
        flushes,
        walks,
        ..
    } = quiet;
    assert!(
        quiet.is_enough(),
        "there were quiet ticks: {ticks}, {flushes} that flushed rows, {walks} that walked over groups"
    );
    assert_eq!(
        quiet.most_allocations, 0,
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
    let (mut sampler, _spare) = sampler(root.path(), vec![7]);
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
