//! `verify thread-times`: how long the target's threads ran and waited for a CPU, against a trace of the scheduler by
//! perf; and what they were blocked in under the duty cycle, against a run in which everything is traced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use model::{LedgerClass, Report, ReportSubject, Role, Timestamp, Window};

use super::VerifyArguments;
use super::recorded::{Recorded, is_here};
use super::request_times::{CASES, Case, line_of, to_boot_ns};
use crate::print::say;
use crate::processes::{self, Process};
use crate::scenarios::missing;
use crate::stage::Stage;
use crate::{interrupt, requirement};

/// Two counts of one time may differ by this part of it, and by this part of all the threads' time.
const TOLERANCE: f64 = 0.02;
const FLOOR: f64 = 0.002;
/// How far a class's share of the threads' time may be from that of the traced run: the two are different runs.
const SHARES: f64 = 0.05;
/// The trace begins so long after the load, and is so long: a saturated load has some 100,000 events a second.
const BEGINS: Duration = Duration::from_secs(4);
const TRACED_S: &str = "6";

/// Runs all loads; the status is 1 where a figure is off.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    let (mut within, mut of, mut skipped) = (0, 0, 0);
    if !is_here(missing(&["perf"], "linux-perf")) {
        return Ok(u8::from(requirement::everything()));
    }
    let mut stage = Stage::new()?;
    for case in CASES.iter().filter(|it| it.name.contains(&arguments.only)) {
        let why = (case.set_up)(&mut stage)?;
        if !is_here(why) {
            skipped += 1;
            continue;
        }
        within += u32::from(run(arguments, &stage, case)?);
        of += 1;
        stage.clear()?;
    }
    say!("{within} of {of} agree");
    let all = within == of && (skipped == 0 || !requirement::everything());
    Ok(u8::from(!all))
}

fn run(arguments: &VerifyArguments, stage: &Stage, case: &Case) -> Result<bool> {
    stage.script("load.sql", case.script)?;
    let line = line_of(case, arguments.seconds, "");
    let (recorded, trace) = Recorded::beside(arguments, stage, (&[], &line), || {
        std::thread::sleep(BEGINS);
        Trace::of(stage, stage.started()?.pid())
    })?;
    let [ran, waited] = trace.times()?;
    let report = recorded.explained(trace.window)?;
    // The report's is of whole seconds.
    let part = report.window.len_ns() as f64 / trace.window.len_ns() as f64;
    let target = target(&report)?;
    let ours = [
        time(target, &[LedgerClass::OnCpu]),
        time(target, &[LedgerClass::CpuWait, LedgerClass::Throttled]),
    ];
    let wall = wall(target);
    let near =
        |ours: f64, other: f64| (ours - other * part).abs() <= TOLERANCE * ours + FLOOR * wall;
    let all = Recorded::run(arguments, stage, (&["--trace-all"], &line))?;
    let (class, apart) = furthest(self::target(&recorded.report)?, self::target(&all.report)?);
    let holds = near(ours[0], ran) && near(ours[1], waited) && apart.abs() <= SHARES;
    say!(
        "{} {:10} ran {:.3} s, perf {:.3}: {:+.2} %; waited for a CPU {:.3} s, perf {:.3}: {:+.2} %; furthest from --trace-all: {class:?} {:+.1} points of the threads' time",
        if holds { "ok " } else { "OFF" },
        case.name,
        ours[0] / 1e9,
        ran * part / 1e9,
        (ours[0] / (ran * part) - 1.0) * 100.0,
        ours[1] / 1e9,
        waited * part / 1e9,
        (ours[1] / (waited * part) - 1.0) * 100.0,
        apart * 100.0
    );
    Ok(holds)
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

/// What perf saw of the scheduler, and of whom it is asked.
struct Trace {
    threads: BTreeSet<u32>,
    window: Window,
    data: PathBuf,
}

impl Trace {
    /// Traces all CPUs; the threads are those of a server of single-threaded processes.
    fn of(stage: &Stage, server: u32) -> Result<Self> {
        let data = stage.folder().join("perf.data");
        let events = "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new";
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", "4M"]);
        perf.args(["-e", events, "-o"]).arg(&data);
        perf.args(["--", "sleep", TRACED_S]);
        let mut perf: Child = perf
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start perf")?;
        let status = interrupt::wait(&mut perf)?;
        if !status.success() {
            bail!("perf record ended with {status}");
        }
        let all = Process::all();
        let threads = processes::tree(&all, server).into_iter();
        let threads = threads.map(|it| it.pid).collect();
        let mut trace = Self {
            threads,
            window: Window::new(Timestamp::default(), Timestamp::default()),
            data,
        };
        // The first tenths of a second hold perf's own start.
        let (first, last) = trace.edges()?;
        trace.window = Window::new(first + 200_000_000, last);
        Ok(trace)
    }

    fn script(&self) -> Result<String> {
        let output = Command::new("perf")
            .args(["script", "--ns", "-F", "time,event,trace", "-i"])
            .arg(&self.data)
            .stderr(Stdio::null())
            .output()
            .context("cannot start perf script")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn edges(&self) -> Result<(Timestamp, Timestamp)> {
        let text = self.script()?;
        let mut events = text.lines().filter_map(Event::of);
        let first = events.next().context("perf traced nothing")?.at();
        let last = events.next_back().context("perf traced nothing")?.at();
        Ok((first, last))
    }

    /// How long the threads ran, and were runnable and did not run, in the window, ns.
    fn times(&self) -> Result<[f64; 2]> {
        let text = self.script()?;
        Ok(times(
            text.lines().filter_map(Event::of),
            &self.threads,
            self.window,
        ))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    Switch {
        at: Timestamp,
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
    /// Of a line of `perf script --ns -F time,event,trace`. Names of threads may hold anything: fields are read from
    /// the end of each part.
    fn of(line: &str) -> Option<Self> {
        let (head, rest) = line.split_once(": ")?;
        let (seconds, ns) = head.trim().split_once('.')?;
        let monotonic = seconds.parse::<i64>().ok()? * 1_000_000_000 + ns.parse::<i64>().ok()?;
        let at = Timestamp::from_ns(monotonic + to_boot_ns(rustix::time::ClockId::Monotonic));
        let number = |text: &str, field: &str| -> Option<u32> {
            let (_, value) = text.rsplit_once(field)?;
            value.split(' ').next()?.trim().parse().ok()
        };
        if rest.contains("sched_switch:") {
            let (left, got) = rest.rsplit_once(" ==> ")?;
            let (_, state) = left.rsplit_once("prev_state=")?;
            return Some(Self::Switch {
                at,
                left: number(left, " prev_pid=")?,
                is_runnable: state.starts_with('R'),
                got: number(got, " next_pid=")?,
            });
        }
        rest.contains("sched_wakeup").then_some(())?;
        Some(Self::Wakeup {
            at,
            thread: number(rest, " pid=")?,
        })
    }

    fn at(self) -> Timestamp {
        match self {
            Self::Switch { at, .. } | Self::Wakeup { at, .. } => at,
        }
    }
}

#[derive(Clone, Copy)]
enum Thread {
    Running(Timestamp),
    Runnable(Timestamp),
}

fn times(events: impl Iterator<Item = Event>, threads: &BTreeSet<u32>, window: Window) -> [f64; 2] {
    let mut now: BTreeMap<u32, Thread> = BTreeMap::new();
    let mut sums = [0.0; 2];
    let mut end = |state: Option<Thread>, at: Timestamp| {
        let (since, place) = match state {
            Some(Thread::Running(since)) => (since, 0),
            Some(Thread::Runnable(since)) => (since, 1),
            None => return,
        };
        let inside = Window::new(since, at).intersect(window);
        sums[place] += inside.map_or(0.0, |it| it.len_ns() as f64);
    };
    for event in events {
        match event {
            Event::Switch {
                at,
                left,
                is_runnable,
                got,
            } => {
                if threads.contains(&left) {
                    end(now.remove(&left), at);
                    if is_runnable {
                        now.insert(left, Thread::Runnable(at));
                    }
                }
                if threads.contains(&got) {
                    end(now.insert(got, Thread::Running(at)), at);
                }
            }
            // One that runs already is not waiting.
            Event::Wakeup { at, thread } if threads.contains(&thread) => {
                now.entry(thread).or_insert(Thread::Runnable(at));
            }
            Event::Wakeup { .. } => {}
        }
    }
    let open: Vec<Thread> = now.into_values().collect();
    open.into_iter().for_each(|it| end(Some(it), window.end));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_perf_are_events_whatever_threads_are_called() {
        let line = " 12.000000005:     sched:sched_switch: prev_comm=a prev_pid=9 b prev_pid=18 prev_prio=0 \
                    prev_state=R+ ==> next_comm=c next_pid=7 d next_pid=30403 next_prio=120";
        let Some(Event::Switch {
            left,
            is_runnable,
            got,
            ..
        }) = Event::of(line)
        else {
            panic!("{line}")
        };
        assert_eq!((left, is_runnable, got), (18, true, 30_403));
        let line = " 12.000000009:     sched:sched_wakeup: comm=x pid=5 y pid=30412 prio=120 target_cpu=000";
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
        let window = Window::new(at(20), at(45));
        assert_eq!(times(events.into_iter(), &threads, window), [15.0, 10.0]);
    }
}
