//! The two loops of the experiment, in a process of their own: `stealmeter-experiment loops`.
//!
//! A round of the loop is Seastar's, with fewer kinds of work to look for: run what is ready, look
//! what has ended; twice nothing in a row, and it tries to sleep. To try means to stop the timers
//! that interrupt long tasks and report stalls, to ask whether anything is under way that would not
//! wake the loop, to wait if nothing is, and to start the timers again. (reactor::do_run of the
//! revision before pull request 2390, with `--idle-poll-time-us=0 --poll-aio=1`.)

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rustix::fs::{Mode, OFlags};
use rustix::thread::{CpuSet, gettid, sched_setaffinity};

use crate::backend::{Backend, Ended, FILE_BYTES, Kind, Timer};
use crate::meters::{Reading, StealMeters, cpu_ns, now_ns};

/// How long the published experiment's lighter job waited between its requests.
const THINK: Duration = Duration::from_millis(10);
/// How long it computes for each: short enough to be done before a hog beside it is due again, so that
/// what it waits for a CPU comes after it was woken.
const WORK: Duration = Duration::from_micros(500);
/// How long a task may run, and when it is called stalled.
const TASK_QUOTA: Duration = Duration::from_micros(500);
const STALL: Duration = Duration::from_millis(25);

/// What a loop does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Computes for half a millisecond, then thinks for 10 ms.
    Thinker,
    /// Writes without a pause.
    Writer,
}

impl Task {
    pub(crate) const BOTH: [Task; 2] = [Task::Thinker, Task::Writer];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Task::Thinker => "thinker",
            Task::Writer => "writer",
        }
    }

    /// The name of its thread.
    pub(crate) fn thread(self) -> &'static str {
        match self {
            Task::Thinker => "loop-thinker",
            Task::Writer => "loop-writer",
        }
    }
}

/// The two loops.
#[derive(Args, Clone, Debug)]
pub(crate) struct Loops {
    #[arg(long)]
    pub(crate) backend: Kind,
    /// The thinker's and the writer's.
    #[arg(long, num_args = 2)]
    pub(crate) cpus: Vec<usize>,
    #[arg(long)]
    pub(crate) seconds: f64,
    /// Where they write to.
    #[arg(long)]
    pub(crate) folder: PathBuf,
}

/// Runs both loops: says their threads' ids, goes on when told to, and says what was read.
pub(crate) fn run(loops: &Loops) -> Result<()> {
    let ready = Arc::new(Barrier::new(Task::BOTH.len() + 1));
    let (ids, said) = std::sync::mpsc::channel();
    let threads = Task::BOTH.iter().zip(&loops.cpus).map(|(&task, &cpu)| {
        let file = open(&loops.folder, task)?;
        let (loops, ready, ids) = (loops.clone(), Arc::clone(&ready), ids.clone());
        let named = std::thread::Builder::new().name(task.thread().to_owned());
        let body = move || {
            pin(cpu)?;
            let _ = ids.send((task, gettid().as_raw_pid()));
            ready.wait();
            turn(task, Backend::open(loops.backend, file)?, loops.seconds)
        };
        Ok(named.spawn(body)?)
    });
    let threads: Vec<_> = threads.collect::<Result<_>>()?;
    drop(ids);
    let mut ids = [said.recv()?, said.recv()?];
    ids.sort_by_key(|(task, _)| *task == Task::Writer);
    println!("{} {}", ids[0].1, ids[1].1);
    io::stdout().flush()?;
    io::stdin().lock().read_line(&mut String::new())?;
    ready.wait();
    for thread in threads {
        let readings = thread.join().expect("a loop returns its errors")?;
        println!("{}", serde_json::to_string(&readings)?);
    }
    Ok(())
}

/// A file that is all there already and not cached, so that a write is a write to the disk.
fn open(folder: &Path, task: Task) -> Result<File> {
    let path = folder.join(task.word());
    let mut file = File::create(&path)?;
    file.write_all(&vec![0; usize::try_from(FILE_BYTES)?])?;
    file.sync_all()?;
    let flags = OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty()).with_context(|| {
        format!(
            "{} cannot be written past the cache; name a folder on a disk: --folder",
            path.display()
        )
    })?;
    Ok(file.into())
}

/// Keeps the calling thread on a CPU.
pub(crate) fn pin(cpu: usize) -> Result<()> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).with_context(|| format!("cannot stay on CPU {cpu}"))
}

fn turn(task: Task, mut backend: Backend, seconds: f64) -> Result<Vec<Reading>> {
    let (quota, stall) = (Timer::new()?, Timer::new()?);
    let how_long = Duration::from_secs_f64(seconds);
    let mut meters = StealMeters::begin(how_long);
    let to_ns = now_ns() + how_long.as_nanos() as u64;
    let mut ended = Ended {
        timer: true,
        ..Ended::default()
    };
    let mut idle = false;
    loop {
        proceed(task, &mut backend, ended)?;
        let now_ns = now_ns();
        if now_ns >= to_ns {
            return Ok(meters.end());
        }
        meters.look(now_ns);
        ended = backend.poll()?;
        if ended.any() {
            idle = false;
        } else if !idle {
            idle = true;
        } else {
            quota.set(Duration::ZERO)?;
            meters.before_attempt();
            stall.set(Duration::ZERO)?;
            if backend.may_sleep() {
                ended = backend.wait(&mut meters)?;
                idle = !ended.any();
            }
            stall.set(STALL)?;
            meters.after_attempt();
            quota.set(TASK_QUOTA)?;
        }
    }
}

/// What follows when something has ended.
fn proceed(task: Task, backend: &mut Backend, ended: Ended) -> io::Result<()> {
    match task {
        _ if !ended.any() => Ok(()),
        Task::Writer => backend.write(),
        Task::Thinker => {
            compute(WORK);
            backend.think(THINK)
        }
    }
}

/// Computes until the thread has had the CPU for so long.
fn compute(how_long: Duration) {
    let until_ns = cpu_ns() + how_long.as_nanos() as u64;
    while cpu_ns() < until_ns {
        std::hint::spin_loop();
    }
}

/// A hog: has a CPU for as long as it can get it, until its input ends.
#[derive(Args, Clone, Debug)]
pub(crate) struct Hog {
    #[arg(long)]
    cpu: usize,
}

/// Runs a hog: says its thread's id, and computes until the input ends.
pub(crate) fn hog(hog: &Hog) -> Result<()> {
    pin(hog.cpu)?;
    println!("{}", gettid().as_raw_pid());
    io::stdout().flush()?;
    std::thread::spawn(|| {
        // Whatever comes, and the end as well.
        let _ = io::stdin().lock().read_line(&mut String::new());
        std::process::exit(0);
    });
    loop {
        std::hint::spin_loop();
    }
}
