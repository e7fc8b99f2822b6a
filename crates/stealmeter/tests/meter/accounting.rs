//! The meter on a real thread, against the clocks and against the kernel's own counts.
//!
//! One loop goes through all that can happen to it for ten seconds, two for each kind, while another
//! thread reads a thousand times a second. No time is asserted here but as a share of what the clocks
//! of the same run say; a busy machine changes the classes, not whether the thread_times close.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use stealmeter::{Counters, Meter, Reader, RunQueue, Snapshot};

use crate::needs::skip;

const PHASE: Duration = Duration::from_secs(2);

/// What somebody else says of the time between two boundaries of the calling thread.
struct Witness {
    outer: Moment,
    inner: Moment,
    begin: Counters,
}

/// The clock, the CPU clock and the kernel's count of the waiting for a CPU, ns since then.
struct Moment {
    wall: Instant,
    cpu_ns: u64,
    run_delay_ns: u64,
}

impl Moment {
    fn now() -> Self {
        let cpu = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has it");
        Self {
            wall: Instant::now(),
            cpu_ns: nanoseconds(Duration::from(cpu)),
            run_delay_ns: run_delay_ns(),
        }
    }

    fn since(&self) -> [u64; 3] {
        let now = Self::now();
        [
            nanoseconds(now.wall - self.wall),
            now.cpu_ns - self.cpu_ns,
            now.run_delay_ns - self.run_delay_ns,
        ]
    }
}

impl Witness {
    fn begin(meter: &mut Meter) -> Self {
        let outer = Moment::now();
        meter.update();
        Self {
            outer,
            inner: Moment::now(),
            begin: meter.counters(),
        }
    }

    /// The counters since then, after they have been compared.
    #[track_caller]
    fn end(self, meter: &mut Meter) -> Counters {
        let inner = self.inner.since();
        meter.update();
        let outer = self.outer.since();
        let seen = meter.counters().since(&self.begin);
        let metered = [seen.wall_ns(), seen.cpu_ns, seen.run_queue_ns];
        let slack_ns = seen.wall_ns() / 1_000;
        for (index, what) in ["wall", "cpu", "run queue"].into_iter().enumerate() {
            let least_ns = inner[index].saturating_sub(slack_ns);
            let most_ns = outer[index] + slack_ns;
            assert!(
                (least_ns..=most_ns).contains(&metered[index]),
                "{what}: {seen:?}, and {} to {} ns by the kernel",
                inner[index],
                outer[index]
            );
        }
        seen
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("a test is shorter than 584 years")
}

/// The kernel's count for the calling thread.
fn run_delay_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let second = text.split_ascii_whitespace().nth(1);
    second.and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

fn spin(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A thousand times a second, until told to stop: nothing decreases, and the thread_times are closed.
fn read_all_the_time(reader: &Reader, stop: &AtomicBool) -> usize {
    let mut last = reader.read();
    let mut reads = 0;
    while !stop.load(Ordering::Relaxed) {
        let seen = reader.read();
        check(&last, &seen);
        last = seen;
        reads += 1;
        thread::sleep(Duration::from_millis(1));
    }
    reads
}

fn check(last: &Snapshot, seen: &Snapshot) {
    for ((class, then), (_, now)) in last
        .counters
        .classes()
        .into_iter()
        .zip(seen.counters.classes())
    {
        assert!(then <= now, "{class} ran backwards: {last:?}, {seen:?}");
    }
    assert!(last.at_ns <= seen.at_ns && last.boundaries <= seen.boundaries);
    if last.settled && seen.settled {
        // The wall time is that of the boundaries: nothing was added by reading.
        let metered_ns = seen.counters.wall_ns() - last.counters.wall_ns();
        assert_eq!(metered_ns, seen.at_ns - last.at_ns, "{last:?}, {seen:?}");
    }
}

/// Ends the threads of a test also when it panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn the_books_close_whatever_happens_to_the_loop() {
    let mut meter = Meter::new();
    let reader = meter.reader();
    if let Some(lack) = meter.lack() {
        return skip(lack);
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let reading = scope.spawn(|| read_all_the_time(&reader, &stop));
        let stopping = Stop(&stop);
        let whole = Witness::begin(&mut meter);
        busy(&mut meter);
        beside_a_competitor(&mut meter);
        waiting(&mut meter);
        on_one_cpu(|_| blocking(&mut meter));
        faulting(&mut meter);
        let seen = whole.end(&mut meter);
        assert!(seen.wall_ns() >= nanoseconds(5 * PHASE));
        drop(stopping);
        assert!(reading.join().expect("the reader's checks hold") > 100);
    });
    assert_eq!(reader.read().run_queue, RunQueue::Whole);
    drop(meter);
    assert!(reader.read().ended);
}

fn busy(meter: &mut Meter) {
    let witness = Witness::begin(meter);
    let begin = Instant::now();
    while begin.elapsed() < PHASE / 2 {
        spin(Duration::from_micros(50));
        meter.tick();
    }
    // A million boundaries, so that what noise leaves behind would add up.
    while begin.elapsed() < PHASE {
        meter.update();
    }
    let seen = witness.end(meter);
    // It never waited, and gave up the CPU hardly ever if at all.
    assert_eq!(seen.sleep_ns, 0);
    assert!(seen.blocked_ns < seen.wall_ns() / 100, "{seen:?}");
}

/// Runs something on one CPU: some kernels count the sleep of a thread that they move as waiting.
fn on_one_cpu(run: impl FnOnce(&CpuSet)) {
    let free = sched_getaffinity(Pid::from_raw(0)).expect("a thread may ask where it may run");
    let cpu = (0..CpuSet::count()).find(|cpu| free.is_set(*cpu) == Ok(true));
    let mut one = CpuSet::new();
    one.set(cpu.expect("there is a CPU"))
        .expect("its number was counted");
    pin(&one);
    run(&one);
    pin(&free);
}

fn pin(set: &CpuSet) {
    sched_setaffinity(Pid::from_raw(0), set).expect("it may run there");
}

/// The kernel's count of the waiting is what the meter must show.
fn beside_a_competitor(meter: &mut Meter) {
    let stop = AtomicBool::new(false);
    on_one_cpu(|one| {
        thread::scope(|scope| {
            scope.spawn(|| {
                pin(one);
                while !stop.load(Ordering::Relaxed) {
                    spin(Duration::from_millis(1));
                }
            });
            let _stop = Stop(&stop);
            let witness = Witness::begin(meter);
            spin(PHASE);
            let seen = witness.end(meter);
            assert!(seen.run_queue_ns > seen.wall_ns() / 10, "{seen:?}");
        });
    });
}

fn waiting(meter: &mut Meter) {
    let witness = Witness::begin(meter);
    let begin = Instant::now();
    while begin.elapsed() < PHASE {
        meter.before_wait();
        thread::sleep(Duration::from_millis(5));
        meter.after_wait();
        spin(Duration::from_millis(1));
    }
    let seen = witness.end(meter);
    assert!(seen.sleep_ns > 0, "{seen:?}");
    assert!(seen.blocked_ns < seen.wall_ns() / 100, "{seen:?}");
}

fn blocking(meter: &mut Meter) {
    let witness = Witness::begin(meter);
    let begin = Instant::now();
    let mut slept_ns = 0;
    while begin.elapsed() < PHASE {
        thread::sleep(Duration::from_millis(5));
        slept_ns += 5_000_000;
        meter.tick();
    }
    let seen = witness.end(meter);
    assert_eq!(seen.sleep_ns, 0, "it never waited as a loop does");
    // Whatever came on top of what it asked for is the kernel's timer or the run queue.
    assert!(
        seen.blocked_ns >= slept_ns / 1_000 * 999,
        "{seen:?}, slept {slept_ns} ns"
    );
}

/// Writes that wait for the disk, and fresh memory.
fn faulting(meter: &mut Meter) {
    let witness = Witness::begin(meter);
    let begin = Instant::now();
    let mut file = tempfile::tempfile().expect("a temporary file");
    while begin.elapsed() < PHASE {
        let fresh = vec![1_u8; 4 << 20];
        file.write_all(&fresh[..64 << 10]).expect("room for 64 KiB");
        file.sync_data().expect("a disk");
        meter.tick();
    }
    assert_eq!(witness.end(meter).sleep_ns, 0);
}

#[test]
fn a_meter_that_is_handed_over_counts_its_new_thread_only() {
    let mut meter = Meter::new();
    meter.update();
    let before = meter.counters();
    thread::sleep(Duration::from_millis(50));
    let (meter, after) = thread::spawn(move || {
        // Nothing of the time before this boundary, of neither thread, is counted.
        meter.after_wait();
        assert_eq!(meter.counters(), before);
        let begin = Instant::now();
        spin(Duration::from_millis(20));
        meter.update();
        let bound_ns = nanoseconds(begin.elapsed()) + 50_000_000;
        let own = meter.counters().since(&before);
        assert!(own.cpu_ns > 0 && own.wall_ns() < bound_ns, "{own:?}");
        let after = meter.counters();
        (meter, after)
    })
    .join()
    .expect("the thread's checks hold");
    let reader = meter.reader();
    // Dropped here, by a thread that it is not of: nothing is added.
    drop(meter);
    assert_eq!(reader.read().counters, after);
}

#[test]
fn without_schedstat_the_books_close_and_the_lack_is_said() {
    let mut meter = Meter::clocks_only();
    let reader = meter.reader();
    let begin = Instant::now();
    meter.update();
    let start = meter.counters();
    while begin.elapsed() < Duration::from_millis(300) {
        meter.before_wait();
        thread::sleep(Duration::from_millis(2));
        meter.after_wait();
        spin(Duration::from_millis(1));
    }
    let inner_ns = nanoseconds(begin.elapsed());
    meter.update();
    let seen = meter.counters().since(&start);
    assert!(seen.sleep_ns > 0 && seen.wall_ns() / 999 * 1_000 >= inner_ns / 1_000 * 999);
    assert_eq!(reader.read().run_queue, RunQueue::Part);
    assert_eq!(meter.lack(), Some("it was not asked for"));
}
