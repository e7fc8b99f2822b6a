//! `verify thread-times`: how long the target's threads ran and waited for a CPU, against a trace of the scheduler by
//! the kernel's tracer; and what they were blocked in under the duty cycle, against a run in which everything is traced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use model::{LedgerClass, Report, ReportSubject, Role, Timestamp, Window};

use super::VerifyArguments;
use super::recorded::Recorded;
use super::request_times::{Case, each_case, line_of};
use super::tally::Tally;
use super::witness::now;
use crate::print::say;
use crate::processes::{self, Process};
use crate::stage::Stage;

/// Two counts of one time may differ by this part of it, and by this part of all the threads' time.
const TOLERANCE: f64 = 0.02;
const FLOOR: f64 = 0.002;
/// How far a class's share of the threads' time may be from that of the traced run: the two are different runs.
const SHARES: f64 = 0.05;
/// The trace begins so long after the load, and is so long.
const BEGINS: Duration = Duration::from_secs(4);
const TRACED: Duration = Duration::from_secs(6);
/// A CPU's buffer: a saturated load has some 100,000 events of 60 bytes a second.
const BUFFER_KB: &str = "131072";
/// Where instances of the kernel's tracer are made.
const TRACER: &str = "/sys/kernel/tracing/instances";

/// Runs all loads; the status is 1 where a figure is off.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    let mut tally = Tally::default();
    let mount = format!("no {TRACER}; mount it: mount -t tracefs tracefs /sys/kernel/tracing");
    if tally.can_run((!Path::new(TRACER).is_dir()).then_some(mount)) {
        each_case(&arguments.only, 1, &mut tally, |stage, case| {
            run(arguments, stage, case)
        })?;
        say!("{tally} agree");
    }
    Ok(tally.status())
}

fn run(arguments: &VerifyArguments, stage: &Stage, case: &Case) -> Result<bool> {
    stage.script("load.sql", case.script)?;
    let line = line_of(case, arguments.seconds, "");
    let (recorded, trace) = Recorded::beside(arguments, stage, &[], &line, || {
        std::thread::sleep(BEGINS);
        Trace::of(stage.started()?.pid())
    })?;
    let report = recorded.explained(whole_seconds(trace.window, recorded.report.origin))?;
    let [ran, waited] = trace.times(report.window);
    let target = target(&report)?;
    let ours = [
        time(target, &[LedgerClass::OnCpu]),
        time(target, &[LedgerClass::CpuWait, LedgerClass::Throttled]),
    ];
    let wall = wall(target);
    let near = |ours: f64, traced: f64| (ours - traced).abs() <= TOLERANCE * ours + FLOOR * wall;
    let all = Recorded::run(arguments, stage, &["--trace-all"], &line)?;
    let (class, apart) = furthest(self::target(&recorded.report)?, self::target(&all.report)?);
    let holds = near(ours[0], ran) && near(ours[1], waited) && apart.abs() <= SHARES;
    say!(
        "{} {:10} ran {:.3} s, traced {:.3}: {:+.2} %; waited for a CPU {:.3} s, traced {:.3}: {:+.2} %; furthest from --trace-all: {class:?} {:+.1} points of the threads' time",
        if holds { "ok " } else { "OFF" },
        case.name,
        ours[0] / 1e9,
        ran / 1e9,
        (ours[0] / ran - 1.0) * 100.0,
        ours[1] / 1e9,
        waited / 1e9,
        (ours[1] / waited - 1.0) * 100.0,
        apart * 100.0
    );
    Ok(holds)
}

/// The whole seconds of the recording that lie in the window: a report is of these.
fn whole_seconds(window: Window, origin: Timestamp) -> Window {
    let seconds = |at: Timestamp| at.ns_since(origin) as f64 / 1e9;
    let at = |seconds: f64| origin + (seconds * 1e9) as i64;
    Window::new(
        at(seconds(window.start).ceil()),
        at(seconds(window.end).floor()),
    )
}

fn target(report: &Report) -> Result<&ReportSubject> {
    let mut targets = report.subjects.iter();
    let target = targets.find(|it| it.role == Role::Target);
    target.context("the report has no target")
}

fn wall(target: &ReportSubject) -> f64 {
    target.threads.as_ref().map_or(0.0, |it| it.wall_ns as f64)
}

fn time(target: &ReportSubject, classes: &[LedgerClass]) -> f64 {
    let items = target.threads.iter().flat_map(|it| &it.items);
    let of = items.filter(|it| classes.contains(&it.class));
    of.map(|it| it.ns as f64).sum()
}

/// The class whose share of the threads' time differs most, and by how much.
fn furthest(sampled: &ReportSubject, traced: &ReportSubject) -> (Option<LedgerClass>, f64) {
    let both = [sampled, traced];
    let items = both.iter().filter_map(|it| it.threads.as_ref());
    let classes: BTreeSet<LedgerClass> = items
        .flat_map(|it| it.items.iter().map(|it| it.class))
        .collect();
    let apart = classes.into_iter().map(|class| {
        let [one, other] = both.map(|it| time(it, &[class]) / wall(it).max(1.0));
        (Some(class), one - other)
    });
    let most = apart.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    most.unwrap_or((None, 0.0))
}

/// What the kernel's own tracer saw of the scheduler, and of whom it is asked.
///
/// Not perf: under a load that syncs it lacked 5 % of the switches and the wake-ups before them, and reported none as
/// lost.
struct Trace {
    threads: BTreeSet<u32>,
    window: Window,
    text: String,
}

impl Trace {
    /// Traces all CPUs; the threads are those of a server of single-threaded processes.
    fn of(server: u32) -> Result<Self> {
        let instance = Instance::new()?;
        let start = now();
        instance.write("tracing_on", "1")?;
        std::thread::sleep(TRACED);
        instance.write("tracing_on", "0")?;
        let window = Window::new(start, now());
        let all = Process::all();
        let threads = processes::tree(&all, server).into_iter();
        Ok(Self {
            threads: threads.map(|it| it.pid).collect(),
            window,
            text: instance.text()?,
        })
    }

    /// How long the threads ran, and were runnable and did not run, in a window, ns.
    fn times(&self, window: Window) -> [f64; 2] {
        let events = self.text.lines().filter_map(Event::of);
        times(events, &self.threads, window)
    }
}

/// An instance of the kernel's tracer, with buffers and events of its own (Documentation/trace/ftrace.rst).
struct Instance(PathBuf);

impl Instance {
    fn new() -> Result<Self> {
        let instance = Self(Path::new(TRACER).join(format!("stallscope-{}", std::process::id())));
        std::fs::create_dir(&instance.0)
            .with_context(|| format!("cannot create {}", instance.0.display()))?;
        instance.write("buffer_size_kb", BUFFER_KB)?;
        instance.write("trace_clock", "boot")?;
        for event in ["sched_switch", "sched_wakeup", "sched_wakeup_new"] {
            instance.write(&format!("events/sched/{event}/enable"), "1")?;
        }
        Ok(instance)
    }

    fn write(&self, name: &str, value: &str) -> Result<()> {
        let path = self.0.join(name);
        std::fs::write(&path, value).with_context(|| format!("cannot write {}", path.display()))
    }

    /// What was traced, once nothing was lost.
    fn text(&self) -> Result<String> {
        for cpu in std::fs::read_dir(self.0.join("per_cpu"))? {
            let stats = std::fs::read_to_string(cpu?.path().join("stats"))?;
            let lost = stats
                .lines()
                .filter(|it| it.starts_with("overrun:") || it.starts_with("dropped events:"));
            for line in lost {
                ensure!(line.ends_with(": 0"), "the tracer lost events: {line}");
            }
        }
        let trace = std::fs::read(self.0.join("trace")).context("cannot read the trace")?;
        Ok(String::from_utf8_lossy(&trace).into_owned())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.write("tracing_on", "0");
        // Its files go with it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    Switch {
        at: Timestamp,
        cpu: u32,
        left: u32,
        is_runnable: bool,
        got: u32,
    },
    Wakeup {
        at: Timestamp,
        thread: u32,
    },
}

impl Event {
    /// Of a line of the tracer's `trace`. Names of threads may hold anything: fields are read from the end of each
    /// part.
    fn of(line: &str) -> Option<Self> {
        let (head, rest) = line.split_once(": sched_")?;
        let (seconds, us) = head.rsplit_once(' ')?.1.split_once('.')?;
        let at = seconds.parse::<i64>().ok()? * 1_000_000_000 + us.parse::<i64>().ok()? * 1_000;
        let at = Timestamp::from_ns(at);
        let number = |text: &str, field: &str| -> Option<u32> {
            let (_, value) = text.rsplit_once(field)?;
            value.split(' ').next()?.trim().parse().ok()
        };
        if rest.starts_with("switch: ") {
            let (left, got) = rest.rsplit_once(" ==> ")?;
            let (_, state) = left.rsplit_once("prev_state=")?;
            let (_, cpu) = head.rsplit_once(" [")?;
            return Some(Self::Switch {
                at,
                cpu: cpu.split_once(']')?.0.parse().ok()?,
                left: number(left, " prev_pid=")?,
                is_runnable: state.starts_with('R'),
                got: number(got, " next_pid=")?,
            });
        }
        rest.starts_with("wakeup").then_some(())?;
        Some(Self::Wakeup {
            at,
            thread: number(rest, " pid=")?,
        })
    }
}

#[derive(Clone, Copy)]
enum Thread {
    Running(Timestamp),
    Runnable { since: Timestamp, is_woken: bool },
}

/// How long those threads ran and were runnable inside the window, ns.
fn times(events: impl Iterator<Item = Event>, threads: &BTreeSet<u32>, window: Window) -> [f64; 2] {
    let mut replay = Replay {
        threads,
        window,
        now: BTreeMap::new(),
        idle: BTreeMap::new(),
        sums: [0.0; 2],
    };
    events.for_each(|event| replay.take(event));
    replay.finish()
}

/// The trace, up to an event.
struct Replay<'a> {
    threads: &'a BTreeSet<u32>,
    window: Window,
    /// What those threads do.
    now: BTreeMap<u32, Thread>,
    /// Since when CPUs are idle.
    idle: BTreeMap<u32, Timestamp>,
    /// Running and runnable, ns.
    sums: [f64; 2],
}

impl Replay<'_> {
    fn take(&mut self, event: Event) {
        match event {
            Event::Switch {
                at,
                cpu,
                left,
                is_runnable,
                got,
            } => {
                if self.threads.contains(&left) {
                    self.leave(at, cpu, left);
                    if is_runnable {
                        let runnable = Thread::Runnable {
                            since: at,
                            is_woken: false,
                        };
                        self.now.insert(left, runnable);
                    }
                }
                match got {
                    0 => self.idle.insert(cpu, at),
                    _ => self.idle.remove(&cpu),
                };
                if self.threads.contains(&got) {
                    let before = self.now.insert(got, Thread::Running(at));
                    self.end(before, at);
                }
            }
            // One that runs already is not waiting.
            Event::Wakeup { at, thread } if self.threads.contains(&thread) => {
                self.now.entry(thread).or_insert(Thread::Runnable {
                    since: at,
                    is_woken: true,
                });
            }
            Event::Wakeup { .. } => {}
        }
    }

    /// A thread leaves its CPU.
    fn leave(&mut self, at: Timestamp, cpu: u32, thread: u32) {
        let state = match (self.now.remove(&thread), self.idle.get(&cpu)) {
            // Many switches from the idle task are not traced (Linux 6.18 as a guest). One that was woken
            // for an idle CPU ran from then on.
            (
                Some(Thread::Runnable {
                    since,
                    is_woken: true,
                }),
                Some(idle),
            ) => Some(Thread::Running(since.max(*idle))),
            (state, _) => state,
        };
        self.end(state, at);
    }

    /// Adds what a thread did up to a time.
    fn end(&mut self, state: Option<Thread>, at: Timestamp) {
        let (since, place) = match state {
            Some(Thread::Running(since)) => (since, 0),
            Some(Thread::Runnable { since, .. }) => (since, 1),
            None => return,
        };
        let inside = Window::new(since, at).intersect(self.window);
        self.sums[place] += inside.map_or(0.0, |it| it.len_ns() as f64);
    }

    /// The sums, with what threads are at when the window ends.
    fn finish(mut self) -> [f64; 2] {
        for state in std::mem::take(&mut self.now).into_values() {
            self.end(Some(state), self.window.end);
        }
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tracer_are_events_whatever_threads_are_called() {
        let line = "   a b-18      [001] d..2.    12.000005: sched_switch: prev_comm=a prev_pid=9 b prev_pid=18 prev_prio=0 \
                    prev_state=R+ ==> next_comm=c next_pid=7 d next_pid=30403 next_prio=120";
        let Some(Event::Switch {
            cpu,
            left,
            is_runnable,
            got,
            ..
        }) = Event::of(line)
        else {
            panic!("{line}")
        };
        assert_eq!((cpu, left, is_runnable, got), (1, 18, true, 30_403));
        let line = "   <idle>-0     [001] dNh4.    12.000009: sched_wakeup: comm=x pid=5 y pid=30412 prio=120 target_cpu=000";
        assert!(matches!(
            Event::of(line),
            Some(Event::Wakeup { thread: 30_412, .. })
        ));
        assert_eq!(Event::of("nothing"), None);
    }

    #[test]
    fn a_thread_runs_waits_and_sleeps() {
        let at = |ns: i64| Timestamp::from_ns(ns);
        let switch = |ns, left, is_runnable, got| Event::Switch {
            at: at(ns),
            cpu: 0,
            left,
            is_runnable,
            got,
        };
        let wake = |ns, thread| Event::Wakeup { at: at(ns), thread };
        let events = [
            wake(5, 1),
            switch(10, 2, false, 1),
            switch(30, 1, true, 2),
            switch(40, 2, false, 1),
            switch(60, 1, false, 0),
            wake(90, 1),
        ];
        let window = Window::new(at(0), at(100));
        let threads = BTreeSet::from([1]);
        // Ran from 10 to 30 and 40 to 60; waited from 5 to 10, 30 to 40 and 90 to 100.
        assert_eq!(times(events.into_iter(), &threads, window), [40.0, 25.0]);
        // Nobody saw it begin.
        let missed = [switch(5, 2, false, 0), wake(10, 1), switch(30, 1, false, 0)];
        assert_eq!(times(missed.into_iter(), &threads, window), [20.0, 0.0]);
        let window = Window::new(at(20), at(45));
        assert_eq!(times(events.into_iter(), &threads, window), [15.0, 10.0]);
    }
}
