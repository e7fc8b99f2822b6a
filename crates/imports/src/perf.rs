//! What `perf script` prints of `perf sched record`: switches and wake-ups, made into each thread's time on a CPU and in line for
//! one.

use std::collections::BTreeMap;

use model::{Entity, EntityKind, Quality, sentence};

use crate::draft::{Cell, Draft, Interval};
use crate::{Imported, NotUnderstood};

const AGAIN: &str = "make it again: LC_ALL=C perf script -F comm,tid,cpu,time,event,trace";
/// Each switch makes two rows or more.
const MOST_EVENTS: usize = 1_000_000;
const NS_PER_S: i64 = 1_000_000_000;

const RUN: Cell<'static> = Cell {
    table: "thread",
    column: "run_ns",
    source: "perf script, sched_switch",
    quality: Quality::Sampled,
};

const WAIT: Cell<'static> = Cell {
    table: "thread",
    column: "wait_ns",
    source: "perf script, sched_wakeup and sched_switch",
    quality: Quality::Sampled,
};

const SLICES: Cell<'static> = Cell {
    table: "thread",
    column: "slices",
    source: "perf script, sched_switch",
    quality: Quality::Sampled,
};

/// A thread as an event names it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Named<'a> {
    comm: &'a str,
    tid: u32,
}

impl Named<'_> {
    fn entity(self) -> Entity {
        Entity::new(EntityKind::Thread, self.comm, format!("tid:{}", self.tid))
    }
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Debug)]
enum What<'a> {
    /// A CPU went on with another thread. The one before still could run, or not.
    Switch {
        from: Named<'a>,
        is_runnable: bool,
        to: Named<'a>,
    },
    /// A thread can run from now on.
    Wakeup(Named<'a>),
}

/// An event's line.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Event<'a> {
    cpu: u32,
    time: i64,
    what: What<'a>,
}

#[derive(Default)]
struct Trace {
    draft: Draft,
    /// Since when each CPU has had the thread that it has.
    since: BTreeMap<u32, i64>,
    /// Since when threads that do not run could.
    runnable: BTreeMap<u32, i64>,
    newest: i64,
    events: usize,
    lost: usize,
}

pub(crate) fn read(text: &str) -> Result<Imported, NotUnderstood> {
    let mut trace = Trace::default();
    for (index, line) in text.lines().enumerate() {
        if line.contains("LOST") && line.contains("events") {
            trace.lost += 1;
        }
        if !is_line(line) {
            continue;
        }
        let Some(event) = event(line) else {
            return Err(NotUnderstood::at(
                index + 1,
                "[CPU], a time, and a switch or a wake-up of the scheduler",
                AGAIN,
            ));
        };
        trace.events += 1;
        if trace.events > MOST_EVENTS {
            let expected = format!("at most {MOST_EVENTS} events");
            return Err(NotUnderstood::at(
                index + 1,
                expected,
                "print a part of them: perf script --time FROM,TO",
            ));
        }
        if event.time < trace.newest {
            return Err(NotUnderstood::at(
                index + 1,
                "a time that is not before that of the line above",
                AGAIN,
            ));
        }
        trace.newest = event.time;
        trace.take(event);
    }
    trace.notes();
    trace.draft.finish("perf")
}

/// Whether a line is a switch or a wake-up.
pub(crate) fn is_line(line: &str) -> bool {
    ["sched_switch:", "sched_wakeup:", "sched_wakeup_new:"]
        .iter()
        .any(|event| line.contains(event))
}

fn event(line: &str) -> Option<Event<'_>> {
    let (head, rest) = line.split_once("]")?;
    let cpu = head.rsplit_once('[')?.1.parse().ok()?;
    let (time, rest) = rest.split_once(':')?;
    let time = nanoseconds(time.trim())?;
    let (name, what) = rest.split_once("sched_")?.1.split_once(':')?;
    let what = what.trim();
    let what = match name {
        "switch" => switch(what)?,
        _ => What::Wakeup(woken(what)?),
    };
    Some(Event { cpu, time, what })
}

/// `1234.567890`, without the detour over a float.
fn nanoseconds(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.')?;
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let below: i64 = format!("{fraction:0<9}").parse().ok()?;
    let seconds: i64 = seconds.parse().ok()?;
    seconds.checked_mul(NS_PER_S)?.checked_add(below)
}

/// `prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120`, or `a:1 [120] S ==> b:2 [120]`.
fn switch(text: &str) -> Option<What<'_>> {
    let (from, to) = text.split_once(" ==> ")?;
    let (from, state) = match from.strip_prefix("prev_comm=") {
        Some(from) => {
            let (comm, rest) = from.split_once(" prev_pid=")?;
            let (tid, rest) = rest.split_once(' ')?;
            let state = rest.split_once("prev_state=")?.1;
            let tid = tid.parse().ok()?;
            (Named { comm, tid }, state)
        }
        None => {
            let (named, state) = from.rsplit_once("] ")?;
            (in_short(named)?, state)
        }
    };
    let to = match to.strip_prefix("next_comm=") {
        Some(to) => {
            let (comm, rest) = to.split_once(" next_pid=")?;
            let tid = rest.split(' ').next()?.parse().ok()?;
            Named { comm, tid }
        }
        None => in_short(to)?,
    };
    let is_runnable = state.starts_with('R');
    Some(What::Switch {
        from,
        is_runnable,
        to,
    })
}

/// `comm=a pid=1 prio=120 target_cpu=000`, or `a:1 [120] CPU:000`.
fn woken(text: &str) -> Option<Named<'_>> {
    match text.strip_prefix("comm=") {
        Some(rest) => {
            let (comm, rest) = rest.split_once(" pid=")?;
            let tid = rest.split(' ').next()?.parse().ok()?;
            Some(Named { comm, tid })
        }
        None => in_short(text),
    }
}

/// `a:1 [120` and what follows: a name may hold colons, and numbers stand behind the last one.
fn in_short(text: &str) -> Option<Named<'_>> {
    let (named, _) = text.split_once(" [")?;
    let (comm, tid) = named.rsplit_once(':')?;
    Some(Named {
        comm,
        tid: tid.parse().ok()?,
    })
}

impl Trace {
    fn take(&mut self, event: Event<'_>) {
        let time = event.time;
        match event.what {
            What::Wakeup(woken) => {
                self.runnable.entry(woken.tid).or_insert(time);
            }
            What::Switch {
                from,
                is_runnable,
                to,
            } => {
                // Who had a CPU when the trace began has had it since an instant that nobody knows.
                if let Some(since) = self.since.insert(event.cpu, time) {
                    self.slice(from, since, time);
                }
                self.runnable.remove(&from.tid);
                if is_runnable {
                    self.runnable.insert(from.tid, time);
                }
                if let Some(since) = self.runnable.remove(&to.tid) {
                    self.grow(WAIT, to, since, time);
                }
            }
        }
    }

    fn slice(&mut self, named: Named<'_>, start: i64, end: i64) {
        self.grow(RUN, named, start, end);
        if named.tid != 0 {
            let interval = Interval { start, end };
            self.draft.grow(SLICES, &named.entity(), interval, 1.0);
        }
    }

    /// The idle task of a CPU neither runs nor waits.
    fn grow(&mut self, cell: Cell<'_>, named: Named<'_>, start: i64, end: i64) {
        if named.tid != 0 {
            let interval = Interval { start, end };
            let amount = interval.length();
            self.draft.grow(cell, &named.entity(), interval, amount);
        }
    }

    fn notes(&mut self) {
        self.draft.note(
            "process",
            sentence!(
                "Threads have numbers and names: which process each is part of is not in the file"
            ),
        );
        self.draft.note(
            "thread_time",
            sentence!("thread_time is not in the file: what threads wait for in their sleep"),
        );
        self.draft.note(
            "*",
            sentence!("Times of the file are counted since boot: the time of day is not known"),
        );
        if self.lost > 0 {
            self.draft.note("thread", sentence!("perf lost events in {} places: times of threads are too short or too long there", self.lost));
        }
    }
}
