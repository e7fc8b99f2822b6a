//! CPU per full sample without programs in the kernel, of the sampler and of bare reads of the files that it
//! keeps open: the same descriptors, in turns, by the thread's own CPU time. And what a tick costs with
//! them, where they are allowed.
//!
//! All tasks are the target's, so that every sensor has all of them to read, and a second lies
//! between two samples, so that nearly every thread has moved and nothing can be left out.

use std::time::Duration;

use analysis::stats::Summary;
use anyhow::{Context, Result};
use collectors::{Command, Sampler, SamplerEvent, Settings, Spare};
use model::Role;
use rustix::io::pread;
use rustix::time::{ClockId, clock_gettime};
use std::sync::mpsc::Sender;

use crate::held::Crowd;

const GROUPS: [usize; 3] = [10, 200, 1_000];
const ROUNDS: usize = 9;
/// The same files; through another root no program in the kernel is asked.
pub(crate) const BY_FILES: &str = "/proc/self/root";
/// In ticks of 100 ms: every sensor is due.
pub(crate) const FULL: u64 = 50;
/// How much a default run reads per second is told by so many ticks.
const TICKS: u32 = 100;
const TICK: Duration = Duration::from_millis(100);
/// A target as databases have them: so many of the crowd's processes.
const TARGET: usize = 30;

pub(crate) fn measure() -> Result<()> {
    kernel::raise_descriptor_limit()?;
    for groups in GROUPS {
        let crowd = Crowd::gather(groups)?;
        full(groups, &crowd)?;
        steady(groups, &crowd)?;
    }
    Ok(())
}

/// A sampler with these processes as its target.
pub(crate) fn sampler(root: &str, target: &[u32]) -> Result<(Sampler, Sender<Spare>)> {
    let settings = Settings {
        root: root.into(),
        ..Settings::default()
    };
    let (sampler, tell, give) = Sampler::new(&settings, &kernel::environment(&settings.root))?;
    let pids = target.to_vec();
    let role = Role::Target;
    tell.send(Command::Assign { pids, role })
        .context("the sampler lives")?;
    Ok((sampler, give))
}

fn full(groups: usize, crowd: &Crowd) -> Result<()> {
    let (mut sampler, give) = sampler(BY_FILES, &crowd.pids)?;
    let mut buffer = vec![0; 1 << 16];
    let mut files = 0;
    let (mut ours, mut bare, mut rows) = (Vec::new(), Vec::new(), 0);
    for round in 0..ROUNDS + 2 {
        let mut turn = |is_ours| {
            std::thread::sleep(Duration::from_secs(1));
            let mut harvested = Vec::new();
            let began = thread_cpu_ns();
            if is_ours {
                sampler.advance(FULL, &mut |event| harvested.push(event));
                let spent = thread_cpu_ns() - began;
                rows = give_back(harvested, &give);
                spent
            } else {
                files = 0;
                sampler.each_file(|file| {
                    files += 1;
                    let _ = std::hint::black_box(pread(file, &mut buffer, 0));
                });
                thread_cpu_ns() - began
            }
        };
        let first_ours = round % 2 == 0;
        let (one, other) = (turn(first_ours), turn(!first_ours));
        // The first ones open everything, and size the buffers.
        if round >= 2 {
            let (own, plain) = if first_ours {
                (one, other)
            } else {
                (other, one)
            };
            ours.push(own as f64 / 1e6);
            bare.push(plain as f64 / 1e6);
        }
    }
    let ratios: Vec<f64> = ours.iter().zip(&bare).map(|(a, b)| a / b).collect();
    let [ours, bare, ratio] = [ours, bare, ratios].map(|it| Summary::of(&it));
    let (ours, bare) = ours.zip(bare).context("samples were taken")?;
    let ratio = ratio.context("samples were taken")?;
    println!(
        "sampling, full, {groups} groups, {} tasks of the target: {:.2} ms, {rows} rows; bare pread of the same {files} files \
         {:.2} ms; ratio {:.2} ({:.2} to {:.2})",
        Crowd::TASKS,
        ours.median,
        bare.median,
        ratio.median,
        ratio.minimum,
        ratio.maximum,
    );
    Ok(())
}

/// What a tick costs at the default periods.
fn steady(groups: usize, crowd: &Crowd) -> Result<()> {
    let (mut sampler, give) = sampler("/", &crowd.pids[..TARGET])?;
    let mut spent = 0;
    for tick in 0..TICKS + 20 {
        std::thread::sleep(TICK);
        let mut harvested = Vec::new();
        let began = thread_cpu_ns();
        sampler.step(&mut |event| harvested.push(event));
        if tick >= 20 {
            spent += thread_cpu_ns() - began;
        }
        give_back(harvested, &give);
    }
    println!(
        "sampling, default, {groups} groups, {TARGET} of {} processes the target's: {:.0} us a tick, {:.2} % of a CPU",
        Crowd::PROCESSES,
        spent as f64 / f64::from(TICKS) / 1e3,
        spent as f64 / (f64::from(TICKS) * TICK.as_secs_f64() * 1e9) * 100.0
    );
    Ok(())
}

/// Gives the buffers back as a recorder does; the number of rows.
pub(crate) fn give_back(harvested: Vec<SamplerEvent>, give: &Sender<Spare>) -> usize {
    let mut count = 0;
    for event in harvested {
        if let SamplerEvent::Rows(table, mut rows) = event {
            count += rows.len();
            rows.clear();
            // Refused only when the sampler has ended.
            let _ = give.send((table, rows));
        }
    }
    count
}

pub(crate) fn thread_cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
