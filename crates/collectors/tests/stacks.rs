//! Real samples of this process, whose functions are known. A file of its own: no other test runs in its process.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use kernel::requirement::needed;
use kernel::stacks::{CpuSamples, End, Frame, Record, Unwinder, symbols};

#[inline(never)]
fn innermost_that_burns(until: &AtomicBool) -> u64 {
    let mut sum = 0_u64;
    while !until.load(Ordering::Relaxed) {
        for number in 0..1_000 {
            sum = black_box(sum.wrapping_mul(31).wrapping_add(number));
        }
    }
    sum
}

#[inline(never)]
fn caller_of_that(until: &AtomicBool) -> u64 {
    black_box(innermost_that_burns(until)) + 1
}

type Stack = (End, Vec<Frame>);

/// Takes samples of a thread of this process since the last call: the thread of the test unwinds, and works as long as
/// it does.
fn take(samples: &mut CpuSamples, of: u32, unwinder: &mut Unwinder, all: &mut Vec<Stack>) {
    samples.read(|record| match record {
        Record::Sample(sample) if sample.tid == of => {
            let mut frames = Vec::new();
            let stack = sample.user.as_ref();
            let end = stack.map(|stack| unwinder.unwind(sample.pid, stack, &mut frames));
            all.extend(end.map(|end| (end, frames)));
        }
        Record::Mapped(pid) => unwinder.changed(pid),
        _ => {}
    });
}

/// The names of all frames, each file opened once.
fn names(unwinder: &Unwinder, all: &[Stack]) -> BTreeMap<(u32, u64), String> {
    let mut by_file: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for frame in all.iter().flat_map(|(_, frames)| frames) {
        if let Some(module) = frame.module {
            by_file.entry(module.0).or_default().push(frame.address);
        }
    }
    let mut names = BTreeMap::new();
    for (module, addresses) in by_file {
        let Some(file) = unwinder.file_of(kernel::stacks::ModuleId(module)) else {
            continue;
        };
        let found = symbols::of_file(file, &addresses, None);
        for (address, functions) in addresses.iter().zip(found) {
            let name = functions.into_iter().next().unwrap_or_default();
            names.insert((module, *address), name);
        }
    }
    names
}

#[test]
fn a_burning_function_is_found_with_its_callers_up_to_the_threads_start() {
    let count = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let cpus: Vec<u32> = (0..count).collect();
    let opened = CpuSamples::open(997, &cpus);
    let Some(mut samples) = needed("perf events of all CPUs", opened) else {
        return;
    };
    let mut unwinder = Unwinder::new(Path::new("/proc"));
    let (until, burns) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let own = rustix::thread::gettid().as_raw_nonzero().get();
            burns.store(own.cast_unsigned(), Ordering::Relaxed);
            black_box(caller_of_that(&until))
        });
        let begun = Instant::now();
        while all.len() < 300 && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(50));
            let of = burns.load(Ordering::Relaxed);
            take(&mut samples, of, &mut unwinder, &mut all);
        }
        until.store(true, Ordering::Relaxed);
    });
    let names = names(&unwinder, &all);
    let stacks: Vec<(End, String)> = all
        .iter()
        .map(|(end, frames)| {
            let name = |frame: &Frame| {
                let key = frame.module.map(|module| (module.0, frame.address));
                key.and_then(|key| names.get(&key))
                    .map_or("?", String::as_str)
            };
            let frames: Vec<&str> = frames.iter().map(name).collect();
            (*end, frames.join(";"))
        })
        .collect();
    // What comes behind is libc's, whose own start of threads has no name in a stripped file.
    let is_burning = |stack: &str| {
        stack.contains("stacks::innermost_that_burns;stacks::caller_of_that;")
            && stack.contains("thread_start;")
    };
    let burning = stacks.iter().filter(|(_, stack)| is_burning(stack)).count();
    let whole = stacks.iter().filter(|(end, _)| *end == End::Whole).count();
    let all = stacks.len();
    assert!(all >= 200, "{all} samples");
    assert!(
        burning * 10 >= all * 9,
        "{burning} of {all}: {:?}",
        &stacks[..3]
    );
    assert!(
        whole * 100 >= all * 98,
        "{whole} of {all} are whole: {stacks:?}"
    );
}
