//! Compares with independent clocks: known waits with the thread's own clocks, and under load with the
//! kernel's counters.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::ThreadTimeClass;
use rustix::process::{Pid, Signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use sensors::kernel_wait::WAIT_SITES;
use sensors::thread_time::{CLASSES, HOLDERS};

use super::waits::{self, Group, OnDisk, Own};
use super::*;
use crate::requirement::{needed, skipped};

mod asleep;
mod cpu_bins;
mod kernel_wait;
mod limits;
mod loops;
mod moves;
mod on_windows;
mod questions;
mod serving;
mod statements;
mod wait_stacks;

/// Only one test at a time: each needs the CPUs.
static ALONE: Mutex<()> = Mutex::new(());

pub fn loaded() -> Option<(ThreadTime, MutexGuard<'static, ()>)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let thread_time = needed(
        "thread-time accounting",
        ThreadTime::load(std::env::consts::ARCH),
    )?;
    Some((thread_time, alone))
}

fn read(thread_time: &mut ThreadTime, tid: u32) -> Record {
    // A reading leaves out an account that changes meanwhile.
    for _ in 0..100 {
        thread_time.read(false).expect("it can be read");
        if let Some(found) = thread_time.records().find(|it| it.tid == tid) {
            return found;
        }
    }
    panic!("{tid} is not among {:?}", thread_time.records().count());
}

/// Steal of all CPUs so far, ns: /proc/stat has it in ticks of 10 ms (proc(5)).
fn stolen_ns() -> i64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("there is one");
    let all = stat.lines().next().expect("it begins with all CPUs");
    let steal = all.split_whitespace().nth(8);
    steal.map_or(0, |ticks| {
        ticks.parse::<i64>().expect("a number") * 10_000_000
    })
}

/// Names of the classes (enum thread_time_class), as their columns have them.
fn names() -> impl Iterator<Item = &'static str> {
    let columns = ThreadTimeClass::ALL
        .into_iter()
        .map(ThreadTimeClass::column);
    columns.map(|column| column.trim_end_matches("_ns"))
}

/// Growth of a thread's account between two readings.
struct Counted {
    ns: [i64; CLASSES],
    kernel_wait_ns: [i64; WAIT_SITES.len()],
    queued_ns: [i64; HOLDERS],
    /// Time on CPU that the kernel does not count as run time: interrupts, steal.
    hidden_ns: i64,
    /// A missed switch was backfilled between the two readings: some time of the first was in the wrong
    /// class.
    is_corrected: bool,
}

impl Counted {
    fn between(before: &Record, after: &Record) -> Self {
        let (a, b) = (&before.account, &after.account);
        let grown = |(a, b): (&u64, &u64)| b.cast_signed() - a.cast_signed();
        let mut counted = Self {
            ns: [0; CLASSES],
            kernel_wait_ns: [0; WAIT_SITES.len()],
            queued_ns: [0; HOLDERS],
            hidden_ns: b.hidden_ns - a.hidden_ns,
            is_corrected: false,
        };
        let classes = a.ns.iter().zip(&b.ns).map(grown);
        counted
            .ns
            .iter_mut()
            .zip(classes)
            .for_each(|(to, ns)| *to = ns);
        let kernel_waits = a.kernel_wait_ns.iter().zip(&b.kernel_wait_ns).map(grown);
        counted
            .kernel_wait_ns
            .iter_mut()
            .zip(kernel_waits)
            .for_each(|(to, ns)| *to = ns);
        let queued = a.queued_ns.iter().zip(&b.queued_ns).map(grown);
        counted
            .queued_ns
            .iter_mut()
            .zip(queued)
            .for_each(|(to, ns)| *to = ns);
        // The present state is added up to the reader's clock, which may be slightly ahead of the
        // scheduler's.
        let mut all = counted.ns.iter().chain(&counted.queued_ns);
        counted.is_corrected = all.any(|ns| *ns < -20_000);
        counted
    }

    fn of(&self, classes: &[&str]) -> i64 {
        let named = names().zip(self.ns);
        named
            .filter(|(name, _)| classes.contains(name))
            .map(|(_, ns)| ns)
            .sum()
    }

    fn all(&self) -> i64 {
        self.ns.iter().sum::<i64>() + self.queued()
    }

    /// Neither on CPU nor waiting for one nor throttled.
    fn blocked(&self) -> i64 {
        self.ns[2..].iter().sum()
    }

    fn queued(&self) -> i64 {
        self.queued_ns.iter().sum()
    }

    /// How long the thread was blocked by its own clocks: these count hidden time neither as CPU time nor as
    /// a wait for a CPU, so it is subtracted.
    fn blocked_by(&self, own: &Own) -> i64 {
        own.blocked_ns() - self.hidden_ns
    }

    fn shown(&self) -> String {
        let named = names().zip(self.ns).filter(|(_, ns)| *ns != 0);
        let named: Vec<_> = named.map(|(name, ns)| format!("{name} {ns}")).collect();
        format!(
            "{}, queued {:?}, hidden {}",
            named.join(", "),
            self.queued_ns,
            self.hidden_ns
        )
    }
}

/// Within 2 % or 1 ms.
fn agree(own: i64, counted: i64) -> bool {
    (own - counted).abs() <= (own / 50).max(1_000_000)
}

/// Runs `act` on a monitored thread, which spins before and after, so that it waits for nothing else.
fn monitored(thread_time: &mut ThreadTime, act: impl FnOnce() -> Own + Send) -> (Own, Counted) {
    let (tid, step) = (AtomicU32::new(0), AtomicU32::new(0));
    let until = |wanted: u32| {
        while step.load(Ordering::SeqCst) != wanted {
            std::hint::spin_loop();
        }
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // A first event: the account begins.
            std::thread::yield_now();
            std::thread::sleep(Duration::from_millis(1));
            tid.store(
                rustix::thread::gettid().as_raw_nonzero().get() as u32,
                Ordering::SeqCst,
            );
            until(1);
            let own = act();
            step.store(2, Ordering::SeqCst);
            until(3);
            own
        });
        let is_over = |over: &dyn Fn() -> bool| {
            while !over() {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        is_over(&|| tid.load(Ordering::SeqCst) != 0);
        let tid = tid.load(Ordering::SeqCst);
        let before = read(thread_time, tid);
        step.store(1, Ordering::SeqCst);
        is_over(&|| step.load(Ordering::SeqCst) == 2 || worker.is_finished());
        let after = read(thread_time, tid);
        step.store(3, Ordering::SeqCst);
        let counted = Counted::between(&before, &after);
        (worker.join().expect("it did what it should"), counted)
    })
}

/// Runs `act` on a thread that reads its own account before and after, while it waits in no queue.
fn by_itself<T: Send>(
    thread_time: &mut ThreadTime,
    act: impl FnOnce() -> T + Send,
) -> (T, Counted) {
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // A first event: the account begins.
            std::thread::sleep(Duration::from_millis(1));
            let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
            let before = read(thread_time, tid);
            let done = act();
            let after = read(thread_time, tid);
            (done, Counted::between(&before, &after))
        });
        worker.join().expect("it did what it should")
    })
}

/// Repeats the measurement until the readings cover the same time as the thread's own clocks: on a busy
/// machine readings come late, and waits in between are in only one of the two. Also requires that the first
/// reading had no missed switch.
fn in_one_window(mut measure: impl FnMut() -> (Own, Counted)) -> (Own, Counted) {
    const TRIES: usize = 30;
    for _ in 0..TRIES {
        let (own, counted) = measure();
        let longer_ns = counted.all() - own.wall_ns;
        if longer_ns.abs() < 2_000_000 && !counted.is_corrected {
            return (own, counted);
        }
        println!(
            "looked at for {longer_ns} ns longer than it measured, {}",
            counted.shown()
        );
    }
    panic!("in {TRIES} tries it was never looked at in time");
}

pub fn as_target(thread_time: &mut ThreadTime, pid: u32) {
    as_target_within(thread_time, pid, Membership::default());
}

pub fn as_target_within(thread_time: &mut ThreadTime, pid: u32, membership: Membership) {
    let assigned = Assigned {
        role: Role::Target,
        place: None,
        statement: None,
        wait_event: 0,
        membership,
    };
    thread_time.assign(pid, assigned).expect("there is room");
    thread_time.publish();
}

#[test]
fn each_wait_class_agrees_with_the_threads_own_clocks() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    as_target(&mut thread_time, std::process::id());
    let file = OnDisk::new("waits", 64);
    let file = file.path();
    type Wait<'a> = Box<dyn Fn() + Send + Sync + 'a>;
    let waits: [(&str, &[&str], Wait<'_>); 8] = [
        ("futex", &["futex"], Box::new(waits::futex)),
        ("sleep", &["sleep"], Box::new(waits::sleep)),
        ("receive", &["input"], Box::new(waits::receive)),
        ("epoll", &["input"], Box::new(waits::epoll)),
        ("send", &["output"], Box::new(waits::send)),
        (
            "sync",
            &["io_sync", "kernel_sync"],
            Box::new(|| waits::sync(file)),
        ),
        ("read", &["io_read_write"], Box::new(|| waits::read(file))),
        ("fault", &["io_fault"], Box::new(|| waits::fault(file))),
    ];
    for (name, classes, wait) in waits {
        let (own, counted) = in_one_window(|| {
            monitored(&mut thread_time, || {
                // Whatever else wants the CPUs: the thread is to wait only for what it asks for.
                crate::limits::raise_priority();
                waits::measured(&wait)
            })
        });
        let (expected, found) = (counted.blocked_by(&own), counted.of(classes));
        println!("{name}: {expected} of its own, {}", counted.shown());
        assert!(expected > 20_000_000, "{name}: it waited: {own:?}");
        assert!(
            agree(expected, found),
            "{name}: {expected}, and {}",
            counted.shown()
        );
        let elsewhere = counted.blocked() - found;
        assert!(
            agree(0, elsewhere) || elsewhere * 50 < expected,
            "{name}: {}",
            counted.shown()
        );
    }
}

/// A child process, killed when this is dropped.
pub struct Started(pub Child);

impl Started {
    pub fn new(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::null());
        crate::signal_at_parents_end(command, Signal::KILL);
        Self(command.spawn().expect("it can be started"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that wants a CPU all the time.
fn hog(cpu: usize) -> Started {
    let script = format!("taskset -pc {cpu} $$ > /dev/null; while :; do :; done");
    Started::new(Command::new("sh").args(["-c", &script]))
}

fn to_cpu(thread: Option<Pid>, cpu: usize) {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(thread, &cpus).expect("there are two");
}

/// Whether blocked time and run-queue delay agree with the thread's own clocks.
fn is_right(own: &Own, counted: &Counted) -> bool {
    agree(own.delay_ns, counted.queued()) && agree(counted.blocked_by(own), counted.blocked())
}

#[test]
fn run_queue_delay_is_divided_by_the_role_on_cpu() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let burn = || {
        waits::measured(|| {
            to_cpu(None, 1);
            waits::burn(Duration::from_millis(600));
            // No wait for a CPU between here and the reading.
            crate::limits::raise_priority();
        })
    };
    // The hog has to start first: children that start later inherit the target's role.
    let hog = hog(1);
    as_target(&mut thread_time, std::process::id());
    std::thread::sleep(Duration::from_millis(100));
    let (own, counted) = in_one_window(|| monitored(&mut thread_time, burn));
    println!("another's: {own:?}, {}", counted.shown());
    assert!(own.delay_ns > 100_000_000, "they shared: {own:?}");
    assert!(is_right(&own, &counted), "{own:?}, {}", counted.shown());
    // Other tests of this process run at times.
    let background = counted.queued_ns[role_number(Role::Background) as usize];
    assert!(background > counted.queued() / 2, "{}", counted.shown());
    drop(hog);
    let (own, counted) = in_one_window(|| {
        std::thread::scope(|scope| {
            let hog = scope.spawn(burn);
            let seen = monitored(&mut thread_time, burn);
            hog.join().expect("it burned");
            seen
        })
    });
    println!("its own: {own:?}, {}", counted.shown());
    assert!(is_right(&own, &counted), "{own:?}, {}", counted.shown());
}

#[test]
fn delay_caused_by_background_threads_adds_up_to_the_targets_delay() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let (target, other) = (hog(1), hog(1));
    as_target(&mut thread_time, target.0.id());
    let waited_and_charged = |thread_time: &mut ThreadTime| {
        thread_time.read(true).expect("it can be read");
        let found = thread_time.records().find(|it| it.tid == target.0.id());
        let waited =
            found.expect("it runs").account.queued_ns[role_number(Role::Background) as usize];
        let delay_caused = |it: BackgroundThread| it.delay_caused_ns as i64;
        let all: i64 = thread_time.background().map(delay_caused).sum();
        let mut hog = thread_time
            .background()
            .filter(|it| it.tgid == other.0.id());
        [waited as i64, all, hog.next().map_or(0, delay_caused)]
    };
    std::thread::sleep(Duration::from_millis(200));
    let before = waited_and_charged(&mut thread_time);
    std::thread::sleep(Duration::from_millis(800));
    let after = waited_and_charged(&mut thread_time);
    let [waited, charged, hog] = [0, 1, 2].map(|it| after[it] - before[it]);
    println!("{charged} of {waited} charged, {hog} of it to the hog");
    assert!(
        waited > 100_000_000 && hog > charged / 10,
        "{hog} of {waited}"
    );
    // The last moments of processes that have exited meanwhile are charged to no process.
    let uncharged = waited - charged;
    assert!(
        agree(0, uncharged.min(0)) && uncharged < waited / 5,
        "{charged} of {waited}"
    );
}

/// A process whose first thread exits at once, while its second one burns CPU for `long`.
fn outlived_by_its_second_thread(long: Duration) {
    // SAFETY: glibc's memory is consistent in the child, which needs no lock that another thread may hold.
    let child = unsafe { libc::fork() };
    if child == 0 {
        std::thread::spawn(move || {
            waits::burn(long);
            // SAFETY: ends the child, which has nothing to clean up.
            unsafe { libc::_exit(0) }
        });
        // SAFETY: ends only this thread; nothing borrows from its stack.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
    assert!(child > 0, "one more process is available");
    // SAFETY: the child is ours, and its status is not requested.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
}

#[test]
fn times_of_threads_that_outlive_the_first_are_inherited_by_the_parent() {
    let Some((mut thread_time, _alone)) = loaded() else {
        return;
    };
    let on_cpu_ns = |thread_time: &mut ThreadTime| -> u64 {
        thread_time.read(true).expect("it can be read");
        let threads = thread_time.background();
        let own = threads.filter(|it| it.tgid == std::process::id());
        own.map(|it| it.on_cpu_ns).sum()
    };
    let before = on_cpu_ns(&mut thread_time);
    outlived_by_its_second_thread(Duration::from_millis(300));
    let after = on_cpu_ns(&mut thread_time);
    println!("{before} and {after} ns");
    assert!(after > before + 50_000_000, "{before} and {after} ns");
}
