//! The meter of a loop's thread, and the readers of other threads.
//!
//! The loop marks where it begins and ends to wait. At such a boundary the stretch of time that ends
//! is booked. Nobody else writes, and readers cause nothing: how often they read changes no counter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::boundaries::Boundaries;
use crate::counters::Counters;
use crate::published::Published;
use crate::thread::{self, OwnThread};
use crate::thread_times::ThreadTimes;

/// How stale a loop that never waits lets its readers' counters become, ns: at 2 us a boundary it
/// costs 0.02 % of a CPU.
const REFRESH_NS: u64 = 10_000_000;

/// Counts where the time of the thread that marks its boundaries goes.
///
/// It is of the thread that calls: handed over to another, or inherited by the child of a fork, it
/// begins anew there at the first boundary. Its counters go on from where they were; the time up to
/// that boundary is in no counter.
#[derive(Debug)]
pub struct Meter {
    thread: OwnThread,
    course: Boundaries,
    thread_times: ThreadTimes,
    booked: u64,
    torn: u64,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    words: Published<8>,
    flags: AtomicU8,
}

const RUN_QUEUE_IN_PART: u8 = 1;
const ENDED: u8 = 2;

/// Reads the counters of a meter from any thread, without a lock and in a bounded number of steps.
#[derive(Clone, Debug)]
pub struct Reader(Arc<Shared>);

/// The counters as of a boundary, and what is to be known about them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The counters.
    pub counters: Counters,
    /// Of which boundary they are, ns on `CLOCK_MONOTONIC`: the last one that the loop marked. What
    /// came after it is in no class yet, since its class is known only when it ends.
    pub at_ns: u64,
    /// Whether the loop went to wait at that boundary.
    pub waiting: bool,
    /// How many boundaries were booked.
    pub boundaries: u64,
    /// How many could not be, because the thread left the CPU during each attempt to read its times.
    /// Their stretch was booked with the next one.
    pub torn: u64,
    /// How much of the waiting for a CPU is in `run_queue_ns`.
    pub run_queue: RunQueue,
    /// Whether all is of one boundary. If not, the writer was in the middle of publishing for as long
    /// as the reader tried, and each counter is of one of two boundaries that follow each other.
    pub settled: bool,
    /// Whether the meter is gone: nothing will change any more.
    pub ended: bool,
}

/// How much of the waiting for a CPU is counted as such.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunQueue {
    /// All of it.
    Whole,
    /// Only that of stretches in which the thread did not sleep: the kernel's count of it cannot be
    /// read ([`Meter::lack`]). The rest of it is in `sleep_ns` and `blocked_ns`.
    Part,
}

impl Meter {
    /// A meter of the calling thread, at work from now on.
    pub fn new() -> Self {
        Self::of(OwnThread::open())
    }

    /// A meter that does not look at schedstat: cheaper where the thread sleeps, and its
    /// `run_queue_ns` holds [a part](RunQueue::Part).
    pub fn clocks_only() -> Self {
        Self::of(OwnThread::clocks_only())
    }

    fn of(thread: OwnThread) -> Self {
        let meter = Self {
            course: first_boundary(&thread, false),
            thread,
            thread_times: ThreadTimes::default(),
            booked: 0,
            torn: 0,
            shared: Arc::new(Shared {
                words: Published::new(),
                flags: AtomicU8::new(0),
            }),
        };
        meter.publish();
        meter
    }

    /// The loop is about to make a call that may put it to sleep.
    pub fn before_wait(&mut self) {
        self.boundary(true);
    }

    /// That call has returned.
    pub fn after_wait(&mut self) {
        self.boundary(false);
    }

    /// The loop went round without waiting: brings the counters up to date if that was not done for
    /// 10 ms, and costs a look at the clock otherwise.
    pub fn tick(&mut self) {
        if thread::wall_ns().saturating_sub(self.course.since_ns()) >= REFRESH_NS {
            self.update();
        }
    }

    /// Brings the counters up to date.
    pub fn update(&mut self) {
        self.boundary(self.course.waiting());
    }

    /// The counters as of the last boundary.
    pub fn counters(&self) -> Counters {
        self.thread_times.counters
    }

    /// Why `run_queue_ns` holds only [a part](RunQueue::Part) of the waiting for a CPU.
    pub fn lack(&self) -> Option<&str> {
        self.thread.lack()
    }

    /// Something that reads the counters from elsewhere, also after the meter is gone.
    pub fn reader(&self) -> Reader {
        Reader(Arc::clone(&self.shared))
    }

    fn boundary(&mut self, waiting: bool) {
        if !self.thread.is_calling() {
            return self.begin_anew(waiting);
        }
        let (now, holds) = thread::read(&self.thread, Some(self.course.last()));
        if !now.can_follow(self.course.last()) {
            // Another thread of the same number: the first in a PID namespace of its own.
            return self.begin_anew(waiting);
        }
        if !holds {
            self.torn += 1;
            return self.course.put_off(now.wall_ns, waiting);
        }
        self.thread_times.book(&self.course.draw(now, waiting));
        self.booked += 1;
        self.publish();
    }

    fn begin_anew(&mut self, waiting: bool) {
        self.thread = self.thread.reopen();
        self.course = first_boundary(&self.thread, waiting);
        self.publish();
    }

    fn publish(&self) {
        let last = self.course.last();
        if last.run_delay_ns.is_none() {
            let flags = &self.shared.flags;
            flags.fetch_or(RUN_QUEUE_IN_PART, Ordering::Relaxed);
        }
        let at = last.wall_ns << 1 | u64::from(self.course.waiting());
        let [cpu, run_queue, sleep, blocked, hidden] = self.thread_times.counters.array();
        self.shared.words.publish(&[
            cpu,
            run_queue,
            sleep,
            blocked,
            hidden,
            self.booked,
            self.torn,
            at,
        ]);
    }
}

fn first_boundary(thread: &OwnThread, waiting: bool) -> Boundaries {
    // Held or not: what it may be off by is what the thread was off its CPU in a moment, once.
    let (reading, _) = thread::read(thread, None);
    Boundaries::begin(reading, waiting)
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // What another thread drops has no time of its own to add.
        if self.thread.is_calling() {
            self.update();
        }
        self.shared.flags.fetch_or(ENDED, Ordering::Release);
    }
}

impl Reader {
    /// The counters as of the loop's last boundary.
    ///
    /// Of one reader's snapshots no counter ever decreases, and in each of them the classes add up to
    /// the wall time.
    pub fn read(&self) -> Snapshot {
        let flags = self.0.flags.load(Ordering::Acquire);
        let (words, settled) = self.0.words.read();
        // Counters that lack a part may have come after the first look.
        let in_part = (flags | self.0.flags.load(Ordering::Acquire)) & RUN_QUEUE_IN_PART != 0;
        let [cpu, run_queue, sleep, blocked, hidden, boundaries, torn, at] = words;
        Snapshot {
            counters: Counters::from_array([cpu, run_queue, sleep, blocked, hidden]),
            at_ns: at >> 1,
            waiting: at & 1 == 1,
            boundaries,
            torn,
            run_queue: if in_part {
                RunQueue::Part
            } else {
                RunQueue::Whole
            },
            settled,
            ended: flags & ENDED != 0,
        }
    }
}

impl Snapshot {
    /// How long ago the boundary was, ns: what the loop has been waiting or working for since, and
    /// what no class has yet.
    pub fn open_ns(&self) -> u64 {
        thread::wall_ns().saturating_sub(self.at_ns)
    }
}
