//! What a call stack costs: unwinding per frame, of real samples of what runs beside this, as a
//! saturated server. Each sample is unwound once so that its files are known, and then again and again.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use kernel::stacks::{CpuSamples, End, Record, Unwinder};

const LOAD: Duration = Duration::from_secs(10);
/// Samples a second and CPU.
const RATE: u32 = 199;
/// How often a sample is unwound for its time to be known.
const TIMES: u32 = 50;

#[derive(Default)]
struct Sums {
    samples: u64,
    whole: u64,
    frames: u64,
    bytes: u64,
    first_ns: u64,
    again_ns: u64,
}

pub(crate) fn measure() -> Result<()> {
    let count = std::thread::available_parallelism()?.get() as u32;
    let cpus: Vec<u32> = (0..count).collect();
    let opened = CpuSamples::open(RATE, &cpus);
    let mut samples = opened.map_err(|why| anyhow!("perf events: {why}"))?;
    let mut unwinder = Unwinder::new(Path::new("/proc"));
    let (mut sums, own) = (Sums::default(), std::process::id());
    let (mut frames, begun) = (Vec::new(), Instant::now());
    while begun.elapsed() < LOAD {
        std::thread::sleep(samples.reading_period());
        samples.read(|record| match record {
            Record::Sample(sample) if sample.pid != own => {
                let Some(stack) = &sample.user else {
                    return;
                };
                let mut unwind = || {
                    frames.clear();
                    let begun = Instant::now();
                    let end = unwinder.unwind(sample.pid, stack, &mut frames);
                    (end, begun.elapsed().as_nanos() as u64)
                };
                let (end, first_ns) = unwind();
                sums.first_ns += first_ns;
                sums.again_ns += (0..TIMES).map(|_| unwind().1).sum::<u64>();
                sums.samples += 1;
                sums.whole += u64::from(end == End::Whole);
                sums.frames += frames.len() as u64;
                sums.bytes += stack.bytes.len() as u64;
            }
            Record::Exec(pid) | Record::Mapped(pid) => unwinder.changed(pid),
            Record::Exited(pid) => unwinder.exited(pid),
            _ => {}
        });
    }
    say(&sums, unwinder.table_bytes());
    Ok(())
}

fn say(sums: &Sums, table_bytes: usize) {
    let per = |sum: u64, of: u64| sum as f64 / of.max(1) as f64;
    println!(
        "stacks: {} of user space, {:.1} frames and {:.1} KiB copied each, {:.2} % whole; unwinding {:.0} ns a frame, \
         {:.1} us a stack, the first time {:.1} us with reading what its files say; tables of {:.1} MB",
        sums.samples,
        per(sums.frames, sums.samples),
        per(sums.bytes, sums.samples) / 1024.0,
        per(sums.whole, sums.samples) * 100.0,
        per(sums.again_ns, sums.frames * u64::from(TIMES)),
        per(sums.again_ns, sums.samples * u64::from(TIMES)) / 1e3,
        per(sums.first_ns, sums.samples) / 1e3,
        table_bytes as f64 / 1e6,
    );
}
