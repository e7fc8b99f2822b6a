//! CPU time of reading what every process has used and the pressure of every group, by programs in the kernel
//! and by the kernel's files: two samplers in turns, on the same crowd, by the thread's own CPU time.

use std::time::Duration;

use analysis::stats::Summary;
use anyhow::{Context, Result};

use crate::held::Crowd;
use crate::sampling::{BY_FILES, FULL, give_back, sampler, thread_cpu_ns};

const GROUPS: usize = 200;
const ROUNDS: usize = 15;
/// The first ones open everything, and size the buffers.
const SETTLING: usize = 3;
/// What it may cost by programs in the kernel.
const TARGET_MS: f64 = 1.0;

pub(crate) fn measure() -> Result<()> {
    kernel::raise_descriptor_limit()?;
    let _crowd = Crowd::gather(GROUPS)?;
    let mut samplers = [sampler("/", &[])?, sampler(BY_FILES, &[])?];
    let mut spent = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + SETTLING {
        for turn in 0..2 {
            let which = (round + turn) % 2;
            let (sampler, give) = &mut samplers[which];
            let mut harvested = Vec::new();
            // Looks for who is new, and hands the rows on.
            sampler.advance(FULL, &mut |event| harvested.push(event));
            give_back(harvested, give);
            // Nearly every thread moves meanwhile.
            std::thread::sleep(Duration::from_secs(1));
            let began = thread_cpu_ns();
            sampler.sample_tasks_and_pressure();
            let ms = (thread_cpu_ns() - began) as f64 / 1e6;
            if round >= SETTLING {
                spent[which].push(ms);
            }
        }
    }
    for (what, spent) in ["programs in the kernel", "files"].into_iter().zip(spent) {
        let ms = Summary::of(&spent).context("samples were taken")?;
        println!(
            "tasks: {} tasks in {} processes and the pressure of {GROUPS} groups by {what}: {:.2} ms of CPU a sample \
             ({:.2} to {:.2}, {} in turns); by programs at most {TARGET_MS} ms are wanted",
            Crowd::TASKS,
            Crowd::PROCESSES,
            ms.median,
            ms.minimum,
            ms.maximum,
            spent.len(),
        );
    }
    Ok(())
}
