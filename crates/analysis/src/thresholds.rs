//! Thresholds. A cause's own stand in its file; here are those which others than the cause are judged by,
//! and those of no cause, read from the one file that holds them.

use serde::Deserialize;

/// A number that decides an answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Threshold {
    /// Its name within the cause: `wait`.
    pub name: &'static str,
    /// The number that the program was built with, in `unit`.
    pub(crate) built: f64,
    /// What the number counts: `share of 1`, `per second`.
    pub unit: &'static str,
    /// What is compared with it.
    pub meaning: &'static str,
    /// Where it comes from: *proposed* is chosen by judgement, to be tuned on the lab.
    pub origin: &'static str,
}

impl Threshold {
    /// A proposed threshold in any unit.
    pub(crate) const fn new(
        name: &'static str,
        value: f64,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            built: value,
            unit,
            meaning,
            origin: "proposed",
        }
    }

    /// The number that is compared with, in `unit`.
    pub fn value(&self) -> f64 {
        self.built * scale(self.meaning)
    }

    /// A proposed share of 1.
    pub(crate) const fn share(name: &'static str, value: f64, meaning: &'static str) -> Self {
        Self::new(name, value, "share of 1", meaning)
    }
}

/// From here on CPUs are full: for `cpu.saturated` and whatever full CPUs explain.
pub(crate) const CPUS_BUSY: Threshold = Threshold {
    origin: "proposed, close to the knee of any queueing curve",
    ..Threshold::share("busy", 0.90, "Effective CPUs busy")
};
/// An idle target that is asked now and then has fewer threads at work than this.
pub(crate) const AT_WORK: Threshold = Threshold::new(
    "at_work",
    0.05,
    "threads at a time",
    "Threads of an idle target that work, or wait for anything but a lock or a time, are fewer",
);
/// Below it a target is idle.
pub(crate) const IDLE: Threshold = Threshold::new(
    "idle",
    0.01,
    "share of the time",
    "A target whose threads had work, or of which requests were in progress, for less of the time was idle",
);
/// Below it a wait for a CPU, while there is room on the CPUs, is what being woken costs; from twice as long on it is not,
/// and between the two a part of it is.
pub(crate) const WAKE_UP: Threshold = Threshold {
    origin: "proposed, the upper end of what a wake-up and a switch take on an idle virtual machine",
    ..Threshold::new(
        "wake_up",
        50_000.0,
        "ns",
        "One wait for a CPU, or time of a request that nobody accounts for, which needs no cause on CPUs that have room; from twice as long on all of it does",
    )
};
/// Below it a wait for a CPU that others fill is what it takes them to give way; from twice as long on it is not.
pub(crate) const AT_ONCE: Threshold = Threshold {
    origin: "proposed, twice what a switch takes from work of the class SCHED_IDLE",
    ..Threshold::new(
        "at_once",
        10_000.0,
        "ns",
        "One wait for a CPU which needs no cause where what fills the CPUs is others' and gives way; from twice as long on all of it does",
    )
};
/// From here on a part of the CPU is a neighbour's.
pub(crate) const HELD_BY_OTHERS: Threshold = Threshold::share(
    "held_by_others",
    0.50,
    "Part of the CPU that others held while the target waited",
);
/// From here on one of the others stands for them.
pub(crate) const CULPRIT: Threshold = Threshold::share(
    "culprit",
    0.50,
    "Part of the others' CPU time that the named one must hold",
);
/// From here on a disk is what is waited for, whatever makes it slow.
pub(crate) const DISK_COST: Threshold = Threshold::share(
    "cost",
    0.20,
    "Part of the response time spent waiting for a disk",
);
/// From here on reads fall steadily.
pub(crate) const FALLING: Threshold = Threshold::new(
    "trend",
    -0.5,
    "-1 to 1",
    "Kendall's tau of reads over time, per second or per request: how steadily they fall",
);
/// From here on a limit on reads will soon limit nothing.
pub(crate) const FADES: Threshold = Threshold {
    origin: "proposed, above what a working set that does not fit in the run makes",
    ..Threshold::new(
        "fades",
        2.5,
        "factor",
        "How much less is read for each request in the last third of the window than in the first, so that a limit on reads only delays the end of them",
    )
};
/// From here on a quota holds back.
pub(crate) const THROTTLED_TIME: Threshold = Threshold::share(
    "throttled_time",
    0.05,
    "Time for which it was held back, of the window",
);
/// From here on a crowd in line for a lock is behind a sync.
pub(crate) const SYNCED: Threshold = Threshold::share(
    "synced",
    0.50,
    "Part of the time for which some thread must be in fsync for a crowd to be waiting behind it",
);
/// From here on the network loses segments.
pub(crate) const RETRANSMITTED: Threshold = Threshold::new(
    "retransmitted",
    0.01,
    "share of those sent",
    "Segments sent again",
);
/// From here on a pool is full.
pub(crate) const POOL_FULL: Threshold = Threshold::share(
    "full",
    0.90,
    "Time for which the threads that answer requests were inside one or at work, or the connections to a peer had a call",
);
/// Two accounts of the time in line for one of a pool are the same if they are no further apart.
pub(crate) const AGREE: Threshold = Threshold::share(
    "agree",
    0.10,
    "How far two accounts of the time in line may be apart, of the response time",
);
/// Shares of two causes that are no further apart are the same, of the response time.
pub(crate) const LEAST_EFFECT: f64 = 0.02;
/// From here on a further thread of a pool whose threads are at work has a CPU.
pub(crate) const POOL_ROOM: Threshold = Threshold::new(
    "room",
    1.0,
    "CPUs",
    "CPUs that must be idle for a further thread of a pool whose threads are at work: with fewer the CPUs are short",
);
/// From here on a rate on full CPUs is met by queueing.
pub(crate) const QUEUEING_LAG: Threshold = Threshold::share(
    "lag",
    0.50,
    "Lag as part of the response time above which a rate on busy CPUs was reached by queueing",
);

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs)] // each is explained where its value stands, in thresholds.toml
        pub struct $name { $(pub $field: $kind),* }
    };
}

section!(/// What must hold for anything to be said.
    Floors { share: f64 });
section!(/// For what is ruled out.
    RuledOut { steal: f64, pressure: f64 });
section!(/// For requests that the kernel saw.
    Requests { pipelined: f64 });
section!(/// For stalls.
    Stalls { stopped: f64, resumed: f64, slow: f64, recovered: f64, longest_slow: f64, shortest: f64, response_times: f64, expected: f64, witnesses: f64, lasted: f64 });
section!(/// For doubts about the measurement.
    Gates { own_cost: f64, steady_seconds: f64, missed_periods: u32, excess: f64, disagree: f64, apart: f64 });
section!(/// For the end of the warm-up.
    WarmUp { effect: f64, most: f64 });
section!(/// For telling phases apart.
    Phases { effect: f64, noise: f64, settled: usize, congested: f64 });
section!(/// Every threshold of the diagnosis that is no cause's.
Thresholds {
    floors: Floors,
    ruled_out: RuledOut,
    requests: Requests,
    stalls: Stalls,
    gates: Gates,
    warm_up: WarmUp,
    phases: Phases,
});

impl Default for Thresholds {
    /// The thresholds that the program was built with.
    fn default() -> Self {
        let file = file();
        #[cfg(feature = "sensitivity")]
        let file = crate::scaled::numbers(file);
        file.try_into()
            .expect("thresholds.toml is checked by a test")
    }
}

/// The file of the thresholds that are no cause's.
pub(crate) fn file() -> toml::Table {
    toml::from_str(include_str!("../thresholds.toml"))
        .expect("thresholds.toml is checked by a test")
}

/// What the threshold of that meaning is multiplied with: 1, but for an experiment with another number.
fn scale(_meaning: &str) -> f64 {
    #[cfg(feature = "sensitivity")]
    return crate::scaled::scale(_meaning);
    #[cfg(not(feature = "sensitivity"))]
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_is_there_and_none_is_unknown() {
        let thresholds = Thresholds::default();
        assert!(thresholds.floors.share < thresholds.ruled_out.pressure);
    }
}
