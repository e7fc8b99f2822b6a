//! The counters: five classes of a thread's time, in nanoseconds.
//!
//! Every nanosecond of the metered time is in one class, so that their sum is the metered wall time.
//! None of them ever decreases.

/// Where the time of a thread went, ns each, since its meter began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counters {
    /// On a CPU, by `CLOCK_THREAD_CPUTIME_ID`.
    pub cpu_ns: u64,
    /// Ready to run and not running: others had the CPU, or the group's quota was used up. By the
    /// kernel's `run_delay` (second field of schedstat).
    pub run_queue_ns: u64,
    /// Asleep in a wait of the loop, between `before_wait` and `after_wait`.
    pub sleep_ns: u64,
    /// Asleep elsewhere: blocking calls, locks, page faults that read from a disk, a stopped
    /// process. Holds what would be `hidden_ns` where the thread gave up the CPU in the same stretch.
    pub blocked_ns: u64,
    /// Neither on a CPU nor waiting for one by the kernel's word, in a stretch in which the thread
    /// never gave up the CPU: interrupts and a hypervisor, where the kernel tells them apart.
    pub hidden_ns: u64,
}

impl Counters {
    /// The metered wall time, ns on `CLOCK_MONOTONIC`: the sum of the five.
    pub fn wall_ns(&self) -> u64 {
        self.array().iter().sum()
    }

    /// All but sleep, ns: the time for which the loop was at work, or wanted to be.
    pub fn awake_ns(&self) -> u64 {
        self.wall_ns() - self.sleep_ns
    }

    /// What others took, ns: the thread could have run, and did not.
    pub fn steal_ns(&self) -> u64 {
        self.run_queue_ns + self.hidden_ns
    }

    /// What came since `earlier`, a reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let (now, then) = (self.array(), earlier.array());
        Self::from_array(std::array::from_fn(|class| {
            now[class].saturating_sub(then[class])
        }))
    }

    /// The classes in the order in which they are declared, with their names.
    pub fn classes(&self) -> [(&'static str, u64); 5] {
        const NAMES: [&str; 5] = ["cpu", "run_queue", "sleep", "blocked", "hidden"];
        let values = self.array();
        std::array::from_fn(|class| (NAMES[class], values[class]))
    }

    pub(crate) fn array(&self) -> [u64; 5] {
        [
            self.cpu_ns,
            self.run_queue_ns,
            self.sleep_ns,
            self.blocked_ns,
            self.hidden_ns,
        ]
    }

    pub(crate) fn from_array(values: [u64; 5]) -> Self {
        let [cpu_ns, run_queue_ns, sleep_ns, blocked_ns, hidden_ns] = values;
        Self {
            cpu_ns,
            run_queue_ns,
            sleep_ns,
            blocked_ns,
            hidden_ns,
        }
    }
}
