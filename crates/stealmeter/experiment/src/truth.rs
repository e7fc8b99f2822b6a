//! Where threads were, from what the scheduler did: on a CPU, on a run queue, or away.
//!
//! Pure: events in their order, and windows, in; sums out. Nothing that a meter reads enters here.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::script::{Event, Left};

/// A stretch of CLOCK_MONOTONIC, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

impl Window {
    pub(crate) fn length_ns(self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    fn holds(self, at_ns: u64) -> bool {
        (self.from_ns..self.to_ns).contains(&at_ns)
    }

    /// How much of a stretch lies in it.
    fn part_ns(self, from_ns: u64, to_ns: u64) -> u64 {
        let (from_ns, to_ns) = (from_ns.max(self.from_ns), to_ns.min(self.to_ns));
        to_ns.saturating_sub(from_ns)
    }
}

/// Where a thread was, ns each; together the window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Times {
    pub(crate) on_cpu_ns: u64,
    /// Runnable and not running.
    pub(crate) run_queue_ns: u64,
    pub(crate) asleep_ns: u64,
    pub(crate) blocked_ns: u64,
    /// How often it was put on a run queue after it was away.
    pub(crate) wakeups: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    OnCpu,
    RunQueue,
    Asleep,
    Blocked,
}

/// A thread that stays on one CPU, and the window in which it is looked at.
#[derive(Debug)]
pub(crate) struct Monitored {
    thread: i32,
    cpu: usize,
    window: Window,
    /// Where it is, as far as anything was seen of it.
    place: Option<Place>,
    /// Who has the CPU.
    holder: Option<i32>,
    /// Since when all that is so.
    since_ns: u64,
    times: Times,
    waited_ns: BTreeMap<i32, u64>,
    names: BTreeMap<i32, String>,
}

/// A thread that had the CPU while the watched one was in the run queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Holder {
    /// 0 is nobody: the CPU was idle.
    pub(crate) thread: i32,
    pub(crate) name: String,
    pub(crate) ns: u64,
}

impl Monitored {
    pub(crate) fn new(thread: i32, cpu: usize, window: Window) -> Self {
        Self {
            thread,
            cpu,
            window,
            place: None,
            holder: None,
            since_ns: 0,
            times: Times::default(),
            waited_ns: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    /// The next event of the machine.
    pub(crate) fn see(&mut self, event: &Event) {
        match event {
            Event::Switch {
                cpu,
                at_ns,
                left,
                state,
                got,
                got_name,
            } => {
                self.advance(*at_ns);
                if *left == self.thread {
                    let place = match state {
                        Left::Runnable => Place::RunQueue,
                        Left::Asleep => Place::Asleep,
                        Left::Blocked => Place::Blocked,
                    };
                    self.move_to(place, Place::OnCpu);
                }
                if *got == self.thread {
                    self.move_to(Place::OnCpu, Place::RunQueue);
                }
                if *cpu == self.cpu {
                    self.names.entry(*got).or_insert_with(|| got_name.clone());
                    self.holder = Some(*got);
                }
            }
            Event::Wakeup { at_ns, thread } if *thread == self.thread => {
                self.advance(*at_ns);
                // Woken before it was gone: it goes on, or the switch says that it is runnable.
                if !matches!(self.place, Some(Place::OnCpu | Place::RunQueue)) {
                    self.move_to(Place::RunQueue, Place::Asleep);
                }
            }
            Event::Wakeup { .. } | Event::Lost(_) => {}
        }
    }

    /// Where the thread was in its window, and whom it waited for in the run queue, the longest first.
    /// What it is in at the last event it stays in.
    pub(crate) fn end(mut self) -> Result<(Times, Vec<Holder>)> {
        if self.place.is_none() {
            bail!(
                "perf saw nothing of thread {}: in another PID namespace than its own it cannot",
                self.thread
            );
        }
        self.advance(u64::MAX);
        let holders = self.waited_ns.iter().map(|(&thread, &ns)| Holder {
            thread,
            name: self.names.get(&thread).cloned().unwrap_or_default(),
            ns,
        });
        let mut holders: Vec<Holder> = holders.collect();
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.ns));
        Ok((self.times, holders))
    }

    /// Books the time up to an event.
    fn advance(&mut self, at_ns: u64) {
        let ns = self.window.part_ns(self.since_ns, at_ns);
        self.since_ns = at_ns;
        if let Some(place) = self.place {
            self.times.add(place, ns);
        }
        if let (Some(Place::RunQueue), Some(holder)) = (self.place, self.holder) {
            *self.waited_ns.entry(holder).or_default() += ns;
        }
    }

    /// The first event also tells where the thread was before.
    fn move_to(&mut self, place: Place, before: Place) {
        if self.place.is_none() {
            self.times
                .add(before, self.window.part_ns(0, self.since_ns));
        }
        if place == Place::RunQueue && before != Place::OnCpu {
            self.times.wakeups += u64::from(self.window.holds(self.since_ns));
        }
        self.place = Some(place);
    }
}

impl Times {
    fn add(&mut self, place: Place, ns: u64) {
        let sum = match place {
            Place::OnCpu => &mut self.on_cpu_ns,
            Place::RunQueue => &mut self.run_queue_ns,
            Place::Asleep => &mut self.asleep_ns,
            Place::Blocked => &mut self.blocked_ns,
        };
        *sum += ns;
    }

    /// Neither on a CPU nor in want of one.
    pub(crate) fn away_ns(&self) -> u64 {
        self.asleep_ns + self.blocked_ns
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::parse;
    use super::*;

    const WINDOW: Window = Window {
        from_ns: 100,
        to_ns: 200,
    };

    /// Thread 5 on CPU 1.
    fn watched(lines: &[String]) -> Monitored {
        let mut watched = Monitored::new(5, 1, WINDOW);
        for line in lines {
            let event = parse(line)
                .expect("it is known")
                .expect("it says something");
            watched.see(&event);
        }
        watched
    }

    fn switch(at_ns: u64, left: i32, state: &str, got: i32) -> String {
        format!(
            "[001] 0.{at_ns:09}: sched:sched_switch: prev_comm=t{left} prev_pid={left} prev_prio=120 \
             prev_state={state} ==> next_comm=t{got} next_pid={got} next_prio=120"
        )
    }

    fn wakeup(at_ns: u64, thread: i32) -> String {
        format!(
            "[000] 0.{at_ns:09}: sched:sched_wakeup: comm=t pid={thread} prio=120 target_cpu=001"
        )
    }

    #[track_caller]
    fn times(lines: &[String], expected: [u64; 4]) {
        let (times, _) = watched(lines).end().expect("it was seen");
        let found = [
            times.on_cpu_ns,
            times.run_queue_ns,
            times.asleep_ns,
            times.blocked_ns,
        ];
        assert_eq!(found, expected, "{lines:#?}");
        let wall_ns = times.on_cpu_ns + times.run_queue_ns + times.away_ns();
        assert_eq!(wall_ns, WINDOW.length_ns());
    }

    #[test]
    fn asleep_woken_waiting_running_pushed_away() {
        let lines = [
            switch(90, 5, "S", 0),
            wakeup(120, 5),
            switch(130, 0, "R", 5),
            switch(160, 5, "R+", 6),
            switch(190, 6, "S", 5),
        ];
        times(&lines, [40, 40, 20, 0]);
    }

    #[test]
    fn the_first_event_tells_what_was_before_it() {
        times(&[switch(150, 5, "D", 0)], [50, 0, 0, 50]);
        times(&[switch(150, 6, "S", 5)], [50, 50, 0, 0]);
        times(&[wakeup(150, 5)], [0, 50, 50, 0]);
    }

    #[test]
    fn events_outside_of_the_window_count_for_what_lasts_into_it() {
        times(&[switch(10, 6, "S", 5)], [100, 0, 0, 0]);
        times(&[switch(10, 5, "S", 6), wakeup(300, 5)], [0, 0, 100, 0]);
    }

    #[test]
    fn woken_before_it_was_gone_it_waits_only_when_it_says_so() {
        let goes_on = [switch(10, 6, "S", 5), wakeup(150, 5)];
        times(&goes_on, [100, 0, 0, 0]);
        let waits = [
            switch(10, 6, "S", 5),
            wakeup(150, 5),
            switch(151, 5, "R", 6),
            wakeup(160, 5),
        ];
        times(&waits, [51, 49, 0, 0]);
    }

    #[test]
    fn wakeups_within_the_window_are_counted() {
        let lines = [
            switch(80, 5, "S", 0),
            wakeup(90, 5),
            switch(110, 0, "R", 5),
            switch(120, 5, "S", 0),
            wakeup(130, 5),
            wakeup(131, 5),
            switch(140, 0, "R", 5),
            switch(150, 5, "R", 6),
        ];
        let (times, _) = watched(&lines).end().expect("it was seen");
        assert_eq!(times.wakeups, 1);
    }

    #[test]
    fn others_change_nothing() {
        let lines = [
            switch(90, 5, "S", 6),
            wakeup(110, 7),
            switch(120, 6, "S", 7),
        ];
        times(&lines, [0, 0, 100, 0]);
    }

    #[test]
    fn a_thread_that_was_never_seen_is_an_error() {
        assert!(watched(&[wakeup(150, 6)]).end().is_err());
    }

    #[test]
    fn as_perf_writes_it() {
        // perf 6.1 on Linux 6.18: a loop that is woken every 10 ms beside a hog, on a busy machine.
        // The sums were also worked out by another program.
        const TEXT: &str = include_str!("../fixtures/beside-a-hog.perf-script.txt");
        let window = Window {
            from_ns: 49_072_013_018_150,
            to_ns: 49_072_066_855_242,
        };
        let mut watched = Monitored::new(32169, 0, window);
        for line in TEXT.lines() {
            let event = parse(line).expect("it is known");
            watched.see(&event.expect("each line says something"));
        }
        let (times, waited) = watched.end().expect("it was seen");
        let expected = Times {
            on_cpu_ns: 1_830_398,
            run_queue_ns: 20_407_564,
            asleep_ns: 31_599_130,
            blocked_ns: 0,
            wakeups: 4,
        };
        assert_eq!(times, expected);
        let waited_ns: u64 = waited.iter().map(|holder| holder.ns).sum();
        assert_eq!(waited_ns, times.run_queue_ns);
        assert_eq!((waited[0].name.as_str(), waited[0].thread), ("tsc", 32155));
    }

    #[test]
    fn whom_it_waited_for() {
        let lines = [
            switch(90, 5, "S", 0),
            switch(100, 0, "R", 6),
            wakeup(110, 5),
            switch(140, 6, "R+", 7),
            switch(145, 7, "S", 5),
            switch(160, 5, "S", 7),
        ];
        let (_, holders) = watched(&lines).end().expect("it was seen");
        let waited: Vec<_> = holders
            .iter()
            .map(|it| (it.thread, it.name.as_str(), it.ns))
            .collect();
        assert_eq!(waited, [(6, "t6", 30), (7, "t7", 5)]);
    }
}
