//! Duty cycle of the BPF programs on frequent events: switches and wake-ups.
//!
//! The programs stay attached as long as they take little of the CPUs. Where events are so frequent that the
//! measurement would slow the load down, they are attached only in on-windows of random length at random
//! times, so that nothing periodic hides between them. The counts of the on-windows are recorded unscaled,
//! with the on-windows beside them (table `coverage`).

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use model::Timestamp;

use crate::schedule::TICK_NS;

/// Costs of the programs to a saturated load, whose caches are full of its own work, ns (the kernel's statistics of the
/// programs beside `pgbench -S`, with the way to them): per switch or wake-up of any thread; per timeslice of a target or
/// generator thread, on top of that, with the calls at sockets in it; per request at either end, on top of counting it.
const EVENT_NS: f64 = 300.0;
const SLICE_NS: f64 = 1_500.0;
const REQUEST_NS: f64 = 450.0;
/// Share of the CPUs up to which the programs stay attached.
const MOST_SHARE: f64 = 0.02;
/// So long after the programs were not attached in time it is looked again, ns.
const AGAIN_NS: i64 = 20_000_000;
/// Average share that they take with a duty cycle, or more where `MOST_OFF_NS` says so. What they do to a load is several
/// times that: its caches have to be filled anew, and each attaching interrupts all CPUs.
const SHARE: f64 = 0.0025;
/// Length of an on-window, ns: uniform between the two. 100 ms, the period of CPU quotas and of many timers,
/// lies within the range and has no special role.
const SHORT_NS: [f64; 2] = [37e6, 163e6];
/// One on-window in forty has this length, so that slower repetitions show in one piece.
const LONG_NS: f64 = 1e9;
const LONG_PART: f64 = 1.0 / 40.0;
const MEAN_NS: f64 = (SHORT_NS[0] + SHORT_NS[1]) / 2.0 * (1.0 - LONG_PART) + LONG_NS * LONG_PART;
/// Longest off-window: with fewer on-windows too little is seen.
const MOST_OFF_NS: f64 = 3e9;
/// Probability that an on-window of the programs that time requests begins at a tick, and its longest
/// duration in ticks: they are attached a third of the time, twice a second. How many on-windows there are says more
/// about the mean of a load that comes and goes than how long they are.
const TIMING_BEGINS: f64 = 0.3;
const MOST_TIMING_TICKS: f64 = 2.0;
/// While the programs stay attached, their share is checked after this many ticks, and from `LEAST_TICKS` on
/// whether it is too large already: a heavy load is heavy from its start.
const LOOK_TICKS: u64 = 10;
const LEAST_TICKS: u64 = 3;
/// Weight of earlier on-windows in the running mean of the share.
const MEMORY: f64 = 0.7;

/// Counts of the programs so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EventCounts {
    pub(crate) events: u64,
    pub(crate) slices: u64,
    pub(crate) requests: u64,
}

impl EventCounts {
    fn cost_ns(self, before: Self) -> f64 {
        let grown = |now: u64, before: u64| now.saturating_sub(before) as f64;
        EVENT_NS * grown(self.events, before.events)
            + SLICE_NS * grown(self.slices, before.slices)
            + REQUEST_NS * grown(self.requests, before.requests)
    }
}

/// The sampler's next action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Attach the programs: an on-window begins.
    Attach,
    /// Detach the programs: an on-window ends, and its counts are read for the last time.
    Detach,
    /// Read: the programs are attached.
    Checkpoint,
    /// Nothing: the programs are detached.
    Idle,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Attached throughout, with the number of ticks until the next check of the share.
    Always(u64),
    On {
        until: Timestamp,
    },
    /// The end is set once the on-window has been read.
    Off {
        until: Option<Timestamp>,
    },
    /// The off-window is over, and the programs are on their way to their hooks; whether they are there is asked again
    /// then.
    Beginning {
        again: Timestamp,
    },
}

/// Decides when on-windows begin and end.
pub(crate) struct DutyCycle {
    traces_all: bool,
    cpus: f64,
    state: State,
    /// When the state began.
    since: Timestamp,
    /// Whether there was a tick. Counts before the first one belong to the setup of the recording.
    has_begun: bool,
    /// Counts when the on-window began, or at the last check of the share.
    counts: EventCounts,
    /// Share of the CPUs that the programs take while they are attached.
    share: f64,
    random: RandomState,
    draws: u64,
    /// Remaining ticks of an on-window of the programs that time requests.
    timing_ticks: u64,
    /// Attached time so far, ns, without the present on-window.
    on_ns: i64,
}

impl DutyCycle {
    /// The programs are attached since `since`; with `traces_all` they stay attached whatever they take.
    pub(crate) fn new(since: Timestamp, traces_all: bool) -> Self {
        Self {
            traces_all,
            cpus: std::thread::available_parallelism().map_or(1, usize::from) as f64,
            state: State::Always(LOOK_TICKS),
            since,
            has_begun: false,
            counts: EventCounts::default(),
            share: 0.0,
            random: RandomState::new(),
            draws: 0,
            timing_ticks: 0,
            on_ns: 0,
        }
    }

    /// Sampling begins now: the time before belongs to the setup.
    pub(crate) fn begin(&mut self, now: Timestamp) {
        self.since = now;
    }

    /// Whether the programs that only time requests are to be attached until the next tick. Under a heavy
    /// load they have on-windows of their own, in the other programs' off-windows: with all of them attached
    /// a request takes a seventh longer.
    pub(crate) fn times_requests(&mut self) -> bool {
        match self.state {
            State::Always(_) => return true,
            // In what is left of the off-window they would be attached to be detached at once.
            State::On { .. } | State::Beginning { .. } => self.timing_ticks = 0,
            State::Off { .. } if self.timing_ticks > 0 => self.timing_ticks -= 1,
            State::Off { .. } => {
                if self.draw() < TIMING_BEGINS {
                    self.timing_ticks = 1 + (self.draw() * MOST_TIMING_TICKS) as u64;
                }
            }
        }
        self.timing_ticks > 0
    }

    /// The next time to act between two ticks.
    pub(crate) fn edge(&self) -> Option<Timestamp> {
        match self.state {
            State::Always(_) => None,
            State::On { until } => Some(until),
            State::Off { until } => until,
            State::Beginning { again } => Some(again),
        }
    }

    /// What to do at a tick; `counts` are as of the last reading, `last` marks the last tick.
    pub(crate) fn tick(&mut self, now: Timestamp, counts: EventCounts, last: bool) -> Action {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.on_ns += now.ns_since(self.since);
            self.look_again(now, counts);
            return Action::Checkpoint;
        }
        match self.state {
            State::Always(left) if !last && (left == 0 || self.is_expensive(left, now, counts)) => {
                if !self.traces_all && self.taken(now, counts) > MOST_SHARE {
                    return Action::Detach;
                }
                self.on_ns += now.ns_since(self.since);
                self.look_again(now, counts);
                Action::Checkpoint
            }
            State::Always(left) => {
                self.state = State::Always(left.saturating_sub(1));
                Action::Checkpoint
            }
            // An on-window that began between two ticks also ends there; if the sampler overslept the end, it
            // ends now.
            State::On { until } if until <= now && !last => Action::Detach,
            State::On { .. } => Action::Checkpoint,
            State::Off { until } if until.is_some_and(|until| until <= now) && !last => {
                Action::Attach
            }
            State::Beginning { again } if again <= now && !last => Action::Attach,
            State::Off { .. } | State::Beginning { .. } => Action::Idle,
        }
    }

    /// The programs stopped counting at `at` and have been read since.
    pub(crate) fn detached(&mut self, at: Timestamp, counts: EventCounts) {
        let share = self.taken(at, counts);
        let is_first = matches!(self.state, State::Always(_));
        self.share = if is_first {
            share
        } else {
            self.share + (share - self.share) * (1.0 - MEMORY)
        };
        self.on_ns += at.ns_since(self.since);
        // Between half and one and a half times the mean.
        let off_ns = MEAN_NS * (self.share / SHARE - 1.0).max(0.0) * (0.5 + self.draw());
        self.state = State::Off {
            until: Some(at + off_ns.min(MOST_OFF_NS) as i64),
        };
        self.since = at;
    }

    /// The programs are not attached yet: the on-window begins later.
    pub(crate) fn put_off(&mut self, now: Timestamp) {
        let again = now + AGAIN_NS;
        self.state = State::Beginning { again };
    }

    /// The programs count again since `at`; `counts` are those from before.
    pub(crate) fn attached(&mut self, at: Timestamp, counts: EventCounts) {
        if self.share > MOST_SHARE {
            let length_ns = if self.draw() < LONG_PART {
                LONG_NS
            } else {
                SHORT_NS[0] + (SHORT_NS[1] - SHORT_NS[0]) * self.draw()
            };
            self.state = State::On {
                until: at + length_ns as i64,
            };
            self.since = at;
            self.counts = counts;
        } else {
            self.look_again(at, counts);
        }
    }

    fn look_again(&mut self, now: Timestamp, counts: EventCounts) {
        self.state = State::Always(LOOK_TICKS);
        self.since = now;
        self.counts = counts;
    }

    /// Whether it is clear before `LOOK_TICKS` have passed that off-windows are needed.
    fn is_expensive(&self, left: u64, now: Timestamp, counts: EventCounts) -> bool {
        let ticks = LOOK_TICKS - left + 1;
        ticks >= LEAST_TICKS && self.taken(now, counts) > MOST_SHARE
    }

    /// Share of the CPUs that the programs took since the state began.
    fn taken(&self, now: Timestamp, counts: EventCounts) -> f64 {
        // A reading right after another would say nothing, hence the lower bound.
        let ns = now.ns_since(self.since).max(TICK_NS / 100);
        counts.cost_ns(self.counts) / (ns as f64 * self.cpus)
    }

    /// A random number from 0 to 1.
    fn draw(&mut self) -> f64 {
        self.draws += 1;
        let mut hasher = self.random.build_hasher();
        hasher.write_u64(self.draws);
        hasher.finish() as f64 / u64::MAX as f64
    }

    /// Attached time so far, ns.
    pub(crate) fn on_ns(&self, now: Timestamp) -> i64 {
        match self.state {
            State::Off { .. } | State::Beginning { .. } => self.on_ns,
            State::Always(_) | State::On { .. } => self.on_ns + now.ns_since(self.since).max(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: i64 = TICK_NS;

    /// A simulated load with a given rate of events, counted in on-windows only.
    struct Load {
        cycle: DutyCycle,
        now: Timestamp,
        counts: EventCounts,
        is_on: bool,
        /// Durations of the on-windows and off-windows that have ended, ns.
        windows: [Vec<i64>; 2],
        changed: Timestamp,
    }

    impl Load {
        fn new() -> Self {
            let now = Timestamp::from_ns(7 * TICK);
            Self {
                cycle: DutyCycle {
                    cpus: 2.0,
                    ..DutyCycle::new(now, false)
                },
                now,
                counts: EventCounts::default(),
                is_on: true,
                windows: [Vec::new(), Vec::new()],
                changed: now,
            }
        }

        /// Advances to the next tick, with the edges before it.
        fn tick(&mut self, a_second: f64) -> Action {
            let tick = Timestamp::from_ns((self.now.as_ns() / TICK + 1) * TICK);
            while let Some(edge) = self.cycle.edge().filter(|edge| *edge < tick) {
                self.at(edge, a_second);
            }
            self.at(tick, a_second)
        }

        fn at(&mut self, at: Timestamp, a_second: f64) -> Action {
            if self.is_on {
                let seconds = at.ns_since(self.now) as f64 / 1e9;
                let more = |each: f64| (seconds * a_second * each) as u64;
                self.counts.events += more(1.0);
                self.counts.slices += more(0.5);
                self.counts.requests += more(0.5);
            }
            self.now = at;
            let action = self.cycle.tick(at, self.counts, false);
            match action {
                Action::Attach => self.cycle.attached(at, self.counts),
                Action::Detach => self.cycle.detached(at, self.counts),
                Action::Checkpoint | Action::Idle => return action,
            }
            self.windows[usize::from(!self.is_on)].push(at.ns_since(self.changed));
            self.changed = at;
            self.is_on = action == Action::Attach;
            action
        }

        fn ticks(&mut self, count: usize, a_second: f64) -> Vec<Action> {
            (0..count).map(|_| self.tick(a_second)).collect()
        }
    }

    #[test]
    fn a_load_that_programs_hardly_slow_down_is_always_traced() {
        let mut load = Load::new();
        let actions = load.ticks(300, 25_000.0);
        assert!(actions.iter().all(|it| *it == Action::Checkpoint));
        assert_eq!(load.cycle.on_ns(load.now), 300 * TICK);
    }

    #[test]
    fn a_load_that_programs_slow_down_is_traced_in_on_windows_within_the_share() {
        let mut load = Load::new();
        // 7.65 % of two CPUs.
        load.ticks(40_000, 120_000.0);
        let part = load.cycle.on_ns(load.now) as f64 / (40_000.0 * TICK as f64);
        assert!((0.038..0.05).contains(&part), "{part}");
        let [on, off] = &load.windows;
        assert!(on.len() > 900, "{}", on.len());
        let short = on.iter().skip(1).filter(|it| **it < 200_000_000);
        assert!(
            short
                .clone()
                .all(|it| (37_000_000..=163_000_000).contains(it))
        );
        let long = on.len() - 1 - short.count();
        assert!((8..60).contains(&long), "{long} of {}", on.len());
        assert!(off.iter().all(|it| *it <= MOST_OFF_NS as i64));
    }

    #[test]
    fn on_windows_begin_anywhere_between_two_ticks() {
        let mut load = Load::new();
        load.ticks(3_000, 200_000.0);
        let mut at = 7 * TICK;
        let [on, off] = &load.windows;
        let mut quarters = [0; 4];
        for (on, off) in on.iter().zip(off) {
            at += on + off;
            quarters[(at % TICK * 4 / TICK) as usize] += 1;
        }
        assert!(quarters.iter().all(|it| *it > 15), "{quarters:?}");
    }

    #[test]
    fn a_load_that_begins_heavily_is_not_always_traced_for_long() {
        for idle in 0..25 {
            let mut load = Load::new();
            load.ticks(idle, 0.0);
            let actions = load.ticks(8, 200_000.0);
            let first = actions.iter().position(|it| *it == Action::Detach);
            assert!(first.is_some_and(|it| it <= 5), "{idle}: {actions:?}");
        }
    }

    #[test]
    fn when_the_load_is_over_it_is_always_traced_again() {
        let mut load = Load::new();
        load.ticks(100, 200_000.0);
        let actions = load.ticks(250, 1_000.0);
        assert!(actions.contains(&Action::Idle), "not at once");
        assert!(actions[200..].iter().all(|it| *it == Action::Checkpoint));
    }

    #[test]
    fn while_the_programs_are_on_their_way_to_their_hooks_no_requests_are_timed() {
        let mut load = Load::new();
        load.ticks(100, 200_000.0);
        while load.is_on {
            load.tick(200_000.0);
        }
        let on_ns = load.cycle.on_ns(load.now);
        let mut now = load.now;
        for _ in 0..100 {
            load.cycle.put_off(now);
            assert!(!load.cycle.times_requests());
            let again = load.cycle.edge().expect("it is asked again");
            assert_eq!(load.cycle.tick(again - 1, load.counts, false), Action::Idle);
            assert_eq!(load.cycle.tick(again, load.counts, true), Action::Idle);
            assert_eq!(load.cycle.tick(again, load.counts, false), Action::Attach);
            now = again;
        }
        assert_eq!(load.cycle.on_ns(now), on_ns);
        load.cycle.attached(now, load.counts);
        assert!(load.cycle.on_ns(now + TICK) > on_ns);
    }

    #[test]
    fn with_trace_all_it_is_always_traced() {
        let mut load = Load::new();
        load.cycle.traces_all = true;
        let actions = load.ticks(300, 2_000_000.0);
        assert!(actions.iter().all(|it| *it == Action::Checkpoint));
    }
}
