//! `kill`: the recorder is killed with SIGKILL at a random moment.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fastrand::Rng;
use model::Timestamp;
use signal_hook::consts::SIGKILL;

use super::own_time::{HANGS, OwnTime};
use super::recorder::{self, Recorder};
use super::traces::{Terms, Traces, nothing_else};
use super::usage::now;
use super::{Round, Trial, claims};
use crate::interrupt;
use crate::processes::{self, Process};
use crate::stage::Stage;

pub(super) static TRIAL: Trial = Trial {
    name: "kill",
    about: "The recorder is killed (SIGKILL) at a random moment: the recording opens, at most 1 s is lost, nothing is left behind.",
    rounds: 200,
    short: 8,
    lack: || None,
    round,
};

/// Rows go to disk once a second, on a tick: what was read since then may be lost.
const MOST_LOST: Duration = Duration::from_millis(1_000);
/// The next second's rows are read, packed and written before they are safe.
const FLUSH: Duration = Duration::from_millis(150);
/// Length of a recording that is killed while it closes.
const LENGTH: Duration = Duration::from_millis(1_300);
const RECORDING: &str = "killed.stall";
/// The workload's own word for who it is.
const SAY_PID: &str = "echo $$ > pid.new; mv pid.new pid";

/// When it is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    Start,
    Steady,
    /// Right after the recording has begun to grow.
    Flush,
    Close,
}

const MOMENTS: [Moment; 4] = [Moment::Start, Moment::Steady, Moment::Flush, Moment::Close];

fn round(round: &Round<'_>) -> Result<()> {
    let mut random = Rng::with_seed(round.number.into());
    let moment = MOMENTS[round.number as usize % MOMENTS.len()];
    let workload = (round.number as usize / MOMENTS.len()).is_multiple_of(2);
    let before = Traces::now()?;
    let mut stage = Stage::new()?;
    let mut sleep = Command::new("sleep");
    let beside = stage.beside({
        sleep.arg("60");
        sleep
    })?;
    let terms = Terms::of(beside)?;

    let late = Lateness::watch()?;
    let started = now();
    let mut recorder = Recorder::start(round, command(round, moment, workload, beside)?)?;
    wait_for(moment, &mut recorder, round.folder, &mut random)?;
    let killed = now();
    recorder.signal(SIGKILL);
    let ended = recorder.end()?;
    let late = late.worst();
    if moment != Moment::Close && ended.status.code().is_some() {
        bail!("it ended by itself: {}", ended.text());
    }

    let running = workload_of(round.folder);
    for pid in running.iter().chain([&beside]) {
        let left = Terms::of(*pid).with_context(|| format!("{moment:?}"))?;
        if left.is_some() && left != terms {
            bail!("process {pid} was started under {terms:?} and left under {left:?}");
        }
    }
    let files = [RECORDING, "pid", "over"];
    nothing_else(round.folder, running.as_slice(), &files)?;
    before.unchanged()?;
    running
        .iter()
        .for_each(|pid| interrupt::signal(*pid, SIGKILL));

    let over = over(round.folder).unwrap_or(started + nanoseconds(LENGTH));
    let until = if moment == Moment::Close {
        killed.min(over)
    } else {
        killed
    };
    opens(round, until, late).with_context(|| format!("{moment:?}"))
}

fn command(round: &Round<'_>, moment: Moment, workload: bool, beside: u32) -> Result<Command> {
    let mut command = recorder::command(round)?;
    let length = LENGTH.as_secs_f64();
    match (workload, moment) {
        (true, Moment::Close) => {
            let script = format!("{SAY_PID}; sleep {length}; cat /proc/uptime > over");
            command.args(["run", "-o", RECORDING, "--", "sh", "-c", &script]);
        }
        (true, _) => {
            let script = format!("{SAY_PID}; exec sleep 60");
            command.args(["run", "-o", RECORDING, "--", "sh", "-c", &script]);
        }
        (false, _) => {
            command.args(["record", "-o", RECORDING, "--target"]);
            command.arg(format!("pid:{beside}"));
            if moment == Moment::Close {
                command.arg(format!("--for={length}s"));
            }
        }
    }
    Ok(command)
}

fn wait_for(
    moment: Moment,
    recorder: &mut Recorder,
    folder: &Path,
    random: &mut Rng,
) -> Result<()> {
    let within = |random: &mut Rng, ms: u64| Duration::from_micros(random.u64(0..ms * 1_000));
    if moment != Moment::Start {
        recorder.records(&folder.join(RECORDING))?;
    }
    match moment {
        Moment::Start => recorder.stays(within(random, 1_000)),
        Moment::Steady => recorder.stays(within(random, 2_500)),
        Moment::Flush => {
            recorder.stays(Duration::from_millis(500) + within(random, 1_500))?;
            let size = size_of(&folder.join(RECORDING));
            let mut time = OwnTime::of(recorder.pid());
            while size_of(&folder.join(RECORDING)) == size {
                if time.had() > HANGS {
                    bail!("the recording does not grow");
                }
            }
            // The batch of a second goes to some twenty files, one after the other.
            std::thread::sleep(within(random, 4));
            Ok(())
        }
        Moment::Close => {
            // Read back and diagnosed at its end, which takes a moment.
            let until = Instant::now() + LENGTH + within(random, 300);
            while Instant::now() < until && recorder.stays(Duration::from_millis(1)).is_ok() {}
            Ok(())
        }
    }
}

fn opens(round: &Round<'_>, until: Timestamp, late: Duration) -> Result<()> {
    let folder = round.folder.join(RECORDING);
    if !folder.exists() {
        // It had not begun.
        return Ok(());
    }
    // Before that it loads programs into the kernel, as long as that takes.
    let began = folder.join("cpu.arrow").exists();
    let json = round.folder.join("report.json");
    let words = ["explain", RECORDING, "--json", "report.json"];
    recorder::run(round, &words)?.expect(0)?;
    let report = claims::report(&json)?;
    claims::sums_are_right(&report)?;
    if !began {
        return Ok(());
    }
    let lost = until.ns_since(report.window.end);
    let most = nanoseconds(MOST_LOST + FLUSH + late);
    if lost > most {
        bail!(
            "{} ms were lost, over {} ms (the machine was up to {} ms late)",
            lost / 1_000_000,
            most / 1_000_000,
            late.as_millis()
        );
    }
    Ok(())
}

/// The workload with its children, where one was started and still runs.
fn workload_of(folder: &Path) -> Vec<u32> {
    let text = fs::read_to_string(folder.join("pid")).unwrap_or_default();
    let Ok(pid) = text.trim().parse() else {
        return Vec::new();
    };
    let all = Process::all();
    let tree = processes::tree(&all, pid);
    tree.iter().map(|process| process.pid).collect()
}

/// When the workload was over, by the clock of recordings.
fn over(folder: &Path) -> Option<Timestamp> {
    let text = fs::read_to_string(folder.join("over")).ok()?;
    let seconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(Timestamp::from_seconds(seconds))
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    sizes.sum()
}

fn nanoseconds(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX / 4)
}

/// How late this machine lets a sleeper wake: what a recorder on it cannot be blamed for.
struct Lateness {
    stop: Arc<AtomicBool>,
    worst_ns: Arc<AtomicI64>,
    thread: Option<JoinHandle<()>>,
}

impl Lateness {
    fn watch() -> Result<Self> {
        const NAP: Duration = Duration::from_millis(5);
        let (stop, worst_ns) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicI64::new(0)),
        );
        let (stopped, worst) = (stop.clone(), worst_ns.clone());
        let watch = move || {
            while !stopped.load(Ordering::Relaxed) {
                let since = Instant::now();
                std::thread::sleep(NAP);
                worst.fetch_max(
                    nanoseconds(since.elapsed().saturating_sub(NAP)),
                    Ordering::Relaxed,
                );
            }
        };
        let thread = std::thread::Builder::new().name("lateness".to_owned());
        Ok(Self {
            stop,
            worst_ns,
            thread: Some(thread.spawn(watch).context("cannot start a thread")?),
        })
    }

    fn worst(mut self) -> Duration {
        self.end();
        Duration::from_nanos(u64::try_from(self.worst_ns.load(Ordering::Relaxed)).unwrap_or(0))
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _: std::thread::Result<()> = thread.join();
        }
    }
}

impl Drop for Lateness {
    fn drop(&mut self) {
        self.end();
    }
}
