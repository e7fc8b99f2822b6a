//! What several programs at the scheduler's switches cost as against one: two threads hand a byte to and fro
//! on one CPU while none, one or more are attached, in turns.
//!
//! The kernel's statistics time a program's own run and not the way to it, so what a switch costs is taken
//! from the CPU time of the two threads; the rate is beside it.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use analysis::stats::{Summary, hodges_lehmann};
use anyhow::{Context as _, Result, anyhow};
use kernel::limits::raise_nice;
use kernel::{AtSwitch, SwitchPrograms};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Numbers of attached programs; the first is the reference.
const COUNTS: [usize; 5] = [1, 0, 2, 3, 5];
const MOST: usize = 5;
const ROUNDS: usize = 30;
const TURN: Duration = Duration::from_millis(250);
/// What a saturated `pgbench -S` on two CPUs makes of each.
const SWITCHES_PER_S: f64 = 25_000.0;

pub(crate) fn measure() -> Result<()> {
    let mut programs = SwitchPrograms::load(MOST).map_err(|why| anyhow!("attachments: {why}"))?;
    for (which, what) in [
        (AtSwitch::Nothing, "empty"),
        (AtSwitch::Records, "finding records"),
    ] {
        compare(&mut programs, which, what)?;
        for count in [1, MOST] {
            attach(&mut programs, which, count)?;
            let costs = programs.costs(which, || drop(ping_pong()));
            for cost in costs.map_err(|why| anyhow!("attachments: {why}"))? {
                if cost.runs > 0 {
                    let each = cost.ns as f64 / cost.runs as f64;
                    println!(
                        "attachments: {what}: {count} attached: {each:.0} ns a run by the kernel's statistics"
                    );
                }
            }
        }
    }
    Ok(())
}

fn attach(programs: &mut SwitchPrograms, which: AtSwitch, count: usize) -> Result<()> {
    let attached = programs.attach(which, count);
    attached.map_err(|why| anyhow!("attachments: {why}"))
}

/// Prints CPU time and rate of switches by number of attached programs, and the differences within rounds.
fn compare(programs: &mut SwitchPrograms, which: AtSwitch, what: &str) -> Result<()> {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let mut turns = [(0.0, 0.0); COUNTS.len()];
        for turn in 0..COUNTS.len() {
            let place = (round + turn) % COUNTS.len();
            attach(programs, which, COUNTS[place])?;
            turns[place] = ping_pong()?;
        }
        rounds.push(turns);
    }
    for (place, count) in COUNTS.into_iter().enumerate() {
        let all = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            rounds.iter().map(|turns| of(&turns[place])).collect()
        };
        let ns = Summary::of(&all(|it| it.0)).context("rounds were run")?;
        let rate = Summary::of(&all(|it| it.1)).context("rounds were run")?;
        println!(
            "attachments: {what}: {count} attached: {:.0} ns of CPU a switch ({:.0} to {:.0}), {:.0} switches/s ({:.0} to {:.0}), {ROUNDS} rounds",
            ns.median, ns.minimum, ns.maximum, rate.median, rate.minimum, rate.maximum
        );
        if place == 0 {
            continue;
        }
        let ns: Vec<f64> = rounds.iter().map(|it| it[place].0 - it[0].0).collect();
        let rate = rounds
            .iter()
            .map(|it| (it[place].1 / it[0].1 - 1.0) * 100.0);
        let rate: Vec<f64> = rate.collect();
        let ns = hodges_lehmann(&ns).context("rounds were run")?;
        let rate = hodges_lehmann(&rate).context("rounds were run")?;
        println!(
            "attachments: {what}: {count} attached as against one: {:+.0} ns a switch (95 %: {:+.0} to {:+.0}), rate {:+.1} % ({:+.1} to {:+.1}); {:+.2} % of a CPU at {SWITCHES_PER_S} switches/s",
            ns.value,
            ns.interval.low,
            ns.interval.high,
            rate.value,
            rate.interval.low,
            rate.interval.high,
            ns.value * SWITCHES_PER_S / 1e7
        );
    }
    Ok(())
}

/// Two threads on one CPU, each waking the other: CPU time of a switch, ns, and switches per second.
fn ping_pong() -> Result<(f64, f64)> {
    let allowed = sched_getaffinity(None)?;
    let cpu = (0..CpuSet::MAX_CPU).rfind(|cpu| allowed.is_set(*cpu));
    let mut only = CpuSet::new();
    only.set(cpu.context("no CPU is allowed")?);
    let (mut here, mut there) = UnixStream::pair()?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut byte = [0];
            raise_nice();
            if sched_setaffinity(None, &only).is_ok() {
                while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
            }
        });
        let other = scope.spawn(move || -> Result<(f64, f64)> {
            raise_nice();
            sched_setaffinity(None, &only)?;
            let mut to_and_fro = || -> Result<()> {
                here.write_all(&[0])?;
                Ok(here.read_exact(&mut [0])?)
            };
            // From here on both threads are on their CPU.
            to_and_fro()?;
            let (began, cpu_began, mut switches) = (Instant::now(), cpu_ns(), 0.0);
            while began.elapsed() < TURN || switches < 1.0 {
                to_and_fro()?;
                switches += 2.0;
            }
            let cpu = (cpu_ns() - cpu_began) as f64;
            Ok((cpu / switches, switches / began.elapsed().as_secs_f64()))
        });
        other.join().expect("it does not panic")
    })
}

/// CPU time of this process, ns.
fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
