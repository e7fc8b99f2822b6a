//! What a boundary costs: `cargo run --release -p stealmeter --example cost`.
//!
//! CPU time of this thread, the best of many short batches that take turns, so that what others do to
//! the machine meets all rows alike. On a boundary around a real sleep it is the difference to the
//! same sleep without marks, half for each of the two.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use stealmeter::Meter;

const BATCHES: usize = 200;

struct Row {
    what: &'static str,
    rounds: u32,
    /// How many boundaries a round has.
    each: u32,
    run: Box<dyn FnMut()>,
    best_ns: f64,
}

impl Row {
    fn new(what: &'static str, (rounds, each): (u32, u32), run: impl FnMut() + 'static) -> Self {
        Self {
            what,
            rounds,
            each,
            run: Box::new(run),
            best_ns: f64::INFINITY,
        }
    }

    fn batch(&mut self) {
        let before = cpu_ns();
        for _ in 0..self.rounds {
            (self.run)();
        }
        let spent = (cpu_ns() - before) as f64 / f64::from(self.rounds);
        self.best_ns = self.best_ns.min(spent);
    }
}

fn main() {
    let mut rows = rows();
    for _ in 0..BATCHES {
        for row in &mut rows {
            row.batch();
        }
    }
    let cost = |name: &str| {
        let row = rows.iter().find(|row| row.what == name);
        row.map_or(f64::NAN, |row| row.best_ns)
    };
    println!("ns of CPU per call or boundary; best of {BATCHES} batches");
    for row in rows.iter().filter(|row| row.each > 0) {
        let bare = if row.rounds == SLEEPS.0 {
            cost(BARE_SLEEP)
        } else {
            0.0
        };
        println!(
            "{:>8.0}  {}",
            (row.best_ns - bare) / f64::from(row.each),
            row.what
        );
    }
    println!("{:>8.0}  ({BARE_SLEEP})", cost(BARE_SLEEP));
}

const CALLS: (u32, u32) = (1_000, 1);
const PAIRS: (u32, u32) = (500, 2);
const SLEEPS: (u32, u32) = (20, 2);
const BARE_SLEEP: &str = "a sleep of 20 us without marks, for comparison";

fn rows() -> Vec<Row> {
    let (mut ticking, mut updating) = (Meter::new(), Meter::new());
    let (mut awake, mut asleep, mut blind) = (Meter::new(), Meter::new(), Meter::clocks_only());
    let reader = awake.reader();
    let nap = || thread::sleep(Duration::from_micros(20));
    vec![
        Row::new(
            "clock_gettime(CLOCK_MONOTONIC), for comparison",
            CALLS,
            || {
                let _ = black_box(clock_gettime(ClockId::CLOCK_MONOTONIC));
            },
        ),
        Row::new("tick: a round that does not sleep", CALLS, move || {
            ticking.tick()
        }),
        Row::new("read by another thread", CALLS, move || {
            black_box(reader.read());
        }),
        Row::new("before_wait, after_wait: nothing slept", PAIRS, move || {
            awake.before_wait();
            awake.after_wait();
        }),
        Row::new("update", CALLS, move || updating.update()),
        Row::new(BARE_SLEEP, (SLEEPS.0, 0), nap),
        Row::new("before_wait, after_wait: slept", SLEEPS, move || {
            asleep.before_wait();
            nap();
            asleep.after_wait();
        }),
        Row::new(
            "before_wait, after_wait: slept, without schedstat",
            SLEEPS,
            move || {
                blind.before_wait();
                nap();
                blind.after_wait();
            },
        ),
    ]
}

fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has this clock");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}
