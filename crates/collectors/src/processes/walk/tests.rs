//! The walk's values of each process lie between those of /proc just before and just after.

mod threads;

use std::collections::HashMap;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::EntityId;
use rustix::process::Signal;
use sensors::{Facts, ProcessStat, ProcessUsage};

use super::super::Processes;
use super::super::meter::{Counted, Identity};
use super::*;
use crate::cgroups::Cgroups;
use crate::output::Output;
use crate::probe::Scratch;
use crate::tick::Tick;
use kernel::hierarchies::Hierarchies;
use kernel::requirement::needed;

const ROUNDS: usize = 20;

/// Processes and threads that compute, write, start and exit, until this is dropped.
struct Load {
    goes_on: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
    children: Vec<Child>,
}

impl Load {
    fn start() -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let works: [fn(); 3] = [
            || {
                std::hint::black_box((0..1_000_000u64).sum::<u64>());
            },
            // Threads that exit, so that their times pass to the process.
            || {
                let ended =
                    std::thread::spawn(|| std::hint::black_box((0..50_000u64).sum::<u64>()));
                let _ = ended.join();
            },
            // System time, and bytes to storage.
            || {
                let mut file = tempfile::tempfile().expect("a file");
                file.write_all(&[7; 65_536]).expect("room");
                std::thread::sleep(Duration::from_millis(2));
            },
        ];
        let threads = works.map(|work| {
            let on = Arc::clone(&goes_on);
            std::thread::spawn(move || {
                while on.load(Ordering::Relaxed) {
                    work();
                }
            })
        });
        let shells = [
            "while :; do /bin/true; done",
            "while :; do i=$((i + 1)); done",
        ];
        let children = shells.map(|script| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).stdin(Stdio::null());
            kernel::signal_at_parents_end(&mut shell, Signal::KILL);
            shell.spawn().expect("a shell")
        });
        Self {
            goes_on,
            threads: threads.into(),
            children: children.into(),
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.goes_on.store(false, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Values of one process in /proc.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shown {
    stat: Vec<u8>,
    io: Vec<u8>,
    /// Exact time on CPU of its first thread, ns.
    first_run_ns: u64,
}

impl Shown {
    fn of(pid: u32) -> Option<Self> {
        let read = |name| std::fs::read(format!("/proc/{pid}/{name}")).ok();
        let schedstat = String::from_utf8(read("schedstat")?).ok()?;
        Some(Self {
            first_run_ns: schedstat.split(' ').next()?.parse().ok()?,
            stat: read("stat")?,
            io: read("io")?,
        })
    }

    fn bytes(&self, key: &str) -> i64 {
        let text = str::from_utf8(&self.io).expect("ASCII");
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.expect("a line of it")
            .trim()
            .parse()
            .expect("a number")
    }
}

/// Pids in /proc, or tids in one process's folder.
fn numbers(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|it| it.file_name().to_str()?.parse().ok());
    numbers.collect()
}

fn all_shown() -> HashMap<u32, Shown> {
    let pids = numbers("/proc").into_iter();
    pids.filter_map(|pid| Some((pid, Shown::of(pid)?)))
        .collect()
}

#[derive(Default, Debug)]
struct Compared {
    still: usize,
    moved: usize,
    torn: usize,
}

/// Whether a value lies between those in ticks from before and after; each of `parts` summands was rounded
/// down.
#[track_caller]
fn between(what: &str, pid: u32, ns: i64, shown: (i64, i64), parts: i64) {
    let tick = Facts::default().tick_ns;
    let (least, most) = (shown.0 * tick, (shown.1 + parts) * tick);
    assert!(
        (least..most).contains(&ns),
        "{what} of {pid}: {ns} is not in {least}..{most}"
    );
}

/// Compares one process of the walk with /proc before and after.
fn compare(counts: &Counts, before: &Shown, after: &Shown, compared: &mut Compared) {
    let facts = Facts {
        page_bytes: rustix::param::page_size() as i64,
        ..Facts::default()
    };
    let stats = [before, after].map(|it| sensors::parse_stat(&it.stat).expect("a stat file"));
    let [first, last] = &stats;
    let pid = counts.pid;
    let started = (counts.start_ns / facts.tick_ns as u64) as i64;
    if first.start != last.start || started != last.start {
        assert_ne!(first.start, last.start, "{pid} began at {started}");
        return;
    }
    if counts.torn != 0 {
        compared.torn += 1;
        return;
    }
    let table = Output::default().recorded_of(sensors::Scope::Process)[0].table;
    let row = Counted::new(Identity::of(counts), EntityId(0), table).row(counts, facts);
    has_the_times(counts, &row, &stats);
    assert!(counts.run_ns >= before.first_run_ns, "{pid}: {counts:?}");
    let [.., read, written] = row;
    for (key, bytes) in [("read_bytes:", read), ("write_bytes:", written)] {
        let shown = before.bytes(key)..=after.bytes(key);
        assert!(
            shown.contains(&bytes),
            "{key} {bytes} of {pid}, not {shown:?}"
        );
    }
    if before == after {
        compared.still += 1;
        is_the_process_at_rest(counts, &row, last, facts);
    } else {
        compared.moved += 1;
    }
}

/// Columns of a process's row.
type Row = [i64; ProcessUsage::WIDTH];

/// That the times lie between those in /proc.
fn has_the_times(counts: &Counts, row: &Row, stats: &[ProcessStat<'_>; 2]) {
    let pid = counts.pid;
    let [user, system, children, ..] = *row;
    let sum = |it: (i64, i64)| it.0 + it.1;
    let [first, last] = stats;
    let all = (sum(first.times), sum(last.times));
    between("all its time", pid, user + system, all, 2);
    let ended = (sum(first.child_times), sum(last.child_times));
    between("its children's", pid, children, ended, 2);
    // How /proc will split the time that was added since its last reading cannot be predicted.
    let added = all.1 - all.0 + 2;
    let (users, systems) = first.times;
    between("user time", pid, user, (users, users + added), 1);
    between("system time", pid, system, (systems, systems + added), 1);
    let run_ns = i64::try_from(counts.run_ns).expect("less than 292 years");
    between("its time on a CPU", pid, run_ns, all, 2);
}

/// That everything is as /proc shows it, where nothing has changed meanwhile.
fn is_the_process_at_rest(counts: &Counts, row: &Row, shown: &ProcessStat<'_>, facts: Facts) {
    let pid = counts.pid;
    let [user, system, _, threads, resident, ..] = *row;
    assert_eq!(
        (i64::from(counts.parent), threads, resident),
        (
            shown.parent,
            shown.threads,
            shown.resident_pages * facts.page_bytes
        ),
        "{pid}"
    );
    let (users, systems) = shown.times;
    between("user time at rest", pid, user, (users, users), 1);
    between("system time at rest", pid, system, (systems, systems), 1);
    let name = counts.name.map(u64::to_ne_bytes);
    let name = name.as_flattened().split(|byte| *byte == 0).next();
    // /proc shows more than the name of a kernel thread.
    const KERNELS: u32 = 2;
    assert!(
        name == Some(shown.name) || counts.parent == KERNELS,
        "{name:?} of {pid}"
    );
}

/// The walk, or `None` if it is not available.
fn loaded() -> Option<Walk> {
    needed("the walk over all threads", Walk::load())
}

#[test]
fn walked_processes_agree_with_proc() {
    let Some(mut walk) = loaded() else {
        return;
    };
    let load = Load::start();
    let mut compared = Compared::default();
    let mut before = all_shown();
    for _ in 0..ROUNDS {
        assert!(walk.read("process", &mut Gaps::default()));
        let walked: HashMap<u32, Counts> = walk
            .processes()
            .map(|(_, counts)| (counts.pid, counts))
            .collect();
        let after = all_shown();
        for (pid, last) in &after {
            let Some(first) = before.get(pid) else {
                continue;
            };
            let counts = walked.get(pid);
            let counts = counts.unwrap_or_else(|| panic!("{pid} was left out: {last:?}"));
            compare(counts, first, last, &mut compared);
        }
        before = after;
    }
    println!("{compared:?}");
    assert!(compared.still > ROUNDS * 10, "{compared:?}");
    assert!(compared.moved > ROUNDS * 3, "{compared:?}");
    assert!(compared.torn < compared.moved / 10, "{compared:?}");
    // /proc does not show the ticks themselves; a process that never leaves its own code has only user time.
    let pid = load.children[1].id();
    for _ in 0..1_000 {
        assert!(walk.read("process", &mut Gaps::default()));
        let its = walk.processes().find(|(_, it)| it.pid == pid);
        let (_, counts) = its.expect("it goes on");
        if counts.run_ns > 200_000_000 {
            let ticks = counts.user_ns + counts.system_ns;
            assert!(counts.system_ns < counts.user_ns, "{counts:?}");
            assert!(
                (counts.run_ns / 2..counts.run_ns * 2).contains(&ticks),
                "{counts:?}"
            );
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it had no CPU for 20 s");
}

#[test]
fn sums_torn_by_an_exit_are_marked_and_others_never_decrease() {
    const MANY: usize = 200;
    const ENOUGH: usize = 5;
    let Some(mut walk) = loaded() else {
        return;
    };
    let goes_on = Arc::new(AtomicBool::new(true));
    let sleepers = (0..MANY).map(|_| {
        let on = Arc::clone(&goes_on);
        std::thread::spawn(move || {
            while on.load(Ordering::Relaxed) {
                std::thread::park();
            }
        })
    });
    let sleepers: Vec<_> = sleepers.collect();
    let on = Arc::clone(&goes_on);
    let mortals = std::thread::spawn(move || {
        while on.load(Ordering::Relaxed) {
            let _ = std::thread::spawn(|| std::hint::black_box((0..9_000u64).sum::<u64>())).join();
        }
    });
    let (mut torn, mut run_ns) = (0, 0);
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while torn < ENOUGH && std::time::Instant::now() < deadline {
        assert!(walk.read("process", &mut Gaps::default()));
        let its = walk
            .processes()
            .find(|(_, it)| it.pid == std::process::id());
        let (_, counts) = its.expect("it goes on");
        if counts.torn != 0 {
            torn += 1;
            continue;
        }
        assert!(counts.run_ns >= run_ns, "{run_ns} before {counts:?}");
        run_ns = counts.run_ns;
    }
    goes_on.store(false, Ordering::Relaxed);
    sleepers.iter().for_each(|it| it.thread().unpark());
    let ended = sleepers.into_iter().chain([mortals]);
    ended.for_each(|it| it.join().expect("it ends"));
    assert!(torn >= ENOUGH, "{torn}");
}

#[test]
fn every_process_in_proc_has_rows_even_if_the_walk_hides_it() {
    let Some(walk) = loaded() else {
        return;
    };
    let root = std::path::Path::new("/");
    let mut out = Output::default();
    let mut processes = Processes::new(root, Some(walk), &mut out).expect("/proc is there");
    let mut scratch = Scratch::new(Facts::default());
    let mut cgroups = Cgroups::new(Hierarchies::default(), Vec::new());
    let before = numbers("/proc");
    let now = boottime();
    processes.scan(now, &mut cgroups, &mut scratch, &mut out);
    processes.sample(&Tick::of_everything(), &mut scratch, &mut out);
    let rows = &out.tables[processes.process_sensor.table].rows;
    let walked: Vec<EntityId> = rows.iter().map(|(_, entity, _)| entity).collect();
    let after = numbers("/proc");
    let there: Vec<u32> = before
        .into_iter()
        .filter(|pid| after.contains(pid))
        .collect();
    let missing = there.iter().filter(|pid| {
        let entity = processes.entity(**pid);
        entity.is_none_or(|it| !walked.contains(&it))
    });
    let missing: Vec<&u32> = missing.collect();
    // A thread of one of them may have exited during the walk.
    assert!(
        there.len() > 10 && missing.len() <= 1,
        "{missing:?} of {there:?}"
    );
    assert!(!missing.contains(&&1), "the first process");
}
