//! What a boundary costs: `cargo run --release -p stealmeter --example cost`.
//!
//! CPU time of this thread, medians of many short batches that take turns, so that what others do to
//! the machine meets all rows alike. For a boundary around a real sleep it is the difference to the
//! same sleep without marks beside it, half for each of the two.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use stealmeter::Meter;

const BATCHES: usize = 300;
const CALLS: u32 = 1_000;
const SLEEPS: u32 = 20;

fn main() {
    let (mut ticking, mut updating) = (Meter::new(), Meter::new());
    let (mut awake, mut asleep, mut blind) = (Meter::new(), Meter::new(), Meter::clocks_only());
    let reader = awake.reader();
    let (mut clock, mut tick, mut read) = (Vec::new(), Vec::new(), Vec::new());
    let (mut no_sleep, mut update) = (Vec::new(), Vec::new());
    let (mut bare, mut marked, mut marked_blind) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        clock.push(batch(CALLS, || {
            let _ = black_box(clock_gettime(ClockId::CLOCK_MONOTONIC));
        }));
        tick.push(batch(CALLS, || ticking.tick()));
        read.push(batch(CALLS, || {
            black_box(reader.read());
        }));
        update.push(batch(CALLS, || updating.update()));
        no_sleep.push(batch(CALLS, || {
            awake.before_wait();
            awake.after_wait();
        }));
        bare.push(batch(SLEEPS, nap));
        marked.push(batch(SLEEPS, || {
            asleep.before_wait();
            nap();
            asleep.after_wait();
        }));
        marked_blind.push(batch(SLEEPS, || {
            blind.before_wait();
            nap();
            blind.after_wait();
        }));
    }
    let half = |both: &[f64]| both.iter().map(|ns| ns / 2.0).collect::<Vec<_>>();
    let marks = |with: &[f64]| {
        let pairs = with.iter().zip(&bare);
        pairs.map(|(with, bare)| (with - bare) / 2.0).collect()
    };
    println!("ns of CPU a call; median of {BATCHES} batches, and the middle half of them");
    for (what, samples) in [
        ("a look at the clock, for comparison", clock),
        ("tick: a round that does not sleep", tick),
        ("read, by another thread", read),
        ("update", update),
        ("before_wait or after_wait, nothing slept", half(&no_sleep)),
        ("before_wait or after_wait, slept", marks(&marked)),
        ("the same without schedstat", marks(&marked_blind)),
        ("the sleep itself, for comparison", bare.clone()),
    ] {
        let [low, middle, high] = quartiles(samples);
        println!("{middle:>8.0}  ({low:.0} to {high:.0})  {what}");
    }
}

fn nap() {
    thread::sleep(Duration::from_micros(20));
}

fn batch(rounds: u32, mut run: impl FnMut()) -> f64 {
    let before = cpu_ns();
    for _ in 0..rounds {
        run();
    }
    (cpu_ns() - before) as f64 / f64::from(rounds)
}

fn quartiles(mut samples: Vec<f64>) -> [f64; 3] {
    samples.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| samples[samples.len() * quarter / 4])
}

fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has this clock");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}
