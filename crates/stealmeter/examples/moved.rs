//! Whether this kernel counts sleep as waiting for a CPU: `cargo run --release -p stealmeter --example moved`.
//!
//! A thread works 5 ms and sleeps 100, again and again, beside a busy thread on each CPU. First it is
//! left alone on one CPU, then another thread moves it to and fro while it sleeps. It cannot have
//! waited for a CPU for longer than its sleep took beyond 100 ms; where the kernel says so, it is wrong.
//! `docs/steal.md` says why it happens from Linux 6.12 on.
#![allow(clippy::print_stdout)]

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::{Pid, gettid};

const SLEEPS: u32 = 100;
const SLEEP: Duration = Duration::from_millis(100);
/// What may pass between a look at the clock and one at the file, beside busy threads.
const DOUBT: Duration = Duration::from_millis(10);

static ASLEEP: AtomicBool = AtomicBool::new(false);
static DONE: AtomicBool = AtomicBool::new(false);

fn main() -> nix::Result<()> {
    let own = gettid();
    let allowed = sched_getaffinity(own)?;
    let allowed = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu) == Ok(true));
    let cpus: Vec<usize> = allowed.take(2).collect();
    let [first, second] = cpus[..] else {
        println!("it takes two CPUs to be moved");
        return Ok(());
    };
    let hogs = [first, second].map(|cpu| thread::spawn(move || hog(cpu)));
    pin(own, first)?;
    println!(
        "on one CPU: {} of {SLEEPS} sleeps are wrong",
        wrong_sleeps()
    );
    let mover = thread::spawn(move || move_while_asleep(own, [first, second]));
    println!(
        "moved asleep: {} of {SLEEPS} sleeps are wrong",
        wrong_sleeps()
    );
    DONE.store(true, Ordering::Relaxed);
    for thread in hogs.into_iter().chain([mover]) {
        thread.join().expect("it does not panic")?;
    }
    Ok(())
}

fn pin(thread: Pid, cpu: usize) -> nix::Result<()> {
    let mut only = CpuSet::new();
    only.set(cpu)?;
    sched_setaffinity(thread, &only)
}

fn hog(cpu: usize) -> nix::Result<()> {
    pin(gettid(), cpu)?;
    while !DONE.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    Ok(())
}

fn move_while_asleep(sleeper: Pid, cpus: [usize; 2]) -> nix::Result<()> {
    for cpu in cpus.into_iter().cycle() {
        if DONE.load(Ordering::Relaxed) {
            break;
        }
        if ASLEEP.load(Ordering::Relaxed) {
            pin(sleeper, cpu)?;
        }
        thread::sleep(Duration::from_micros(300));
    }
    Ok(())
}

fn wrong_sleeps() -> usize {
    let wrong = (0..SLEEPS).filter(|_| {
        let work = Instant::now();
        while work.elapsed() < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        let (began, waited) = (Instant::now(), run_delay());
        ASLEEP.store(true, Ordering::Relaxed);
        thread::sleep(SLEEP);
        ASLEEP.store(false, Ordering::Relaxed);
        let waited = run_delay() - waited;
        waited > began.elapsed() - SLEEP + DOUBT
    });
    wrong.count()
}

fn run_delay() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let second = text.split_ascii_whitespace().nth(1);
    Duration::from_nanos(second.and_then(|ns| ns.parse().ok()).unwrap_or(0))
}
