//! One run of an experiment: the program itself, as `run`, in a process of its own.
//!
//! Of its own because recording gives rights up for good, and because what one run leaves behind in memory must not be in
//! the next one's measurement.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kernel::Interrupts;
use rustix::process::{Pid, Signal, kill_process};

use super::arms::Arm;
use super::state::Folder;

/// This program, whatever has its name by now.
const OWN: &str = "/proc/self/exe";
/// How often a run's end is looked for.
const POLL: Duration = Duration::from_millis(20);

/// Where an interrupt is remembered, and the run that it is passed on to.
pub(super) struct Interruption {
    signal: Arc<AtomicI32>,
    running: Arc<Mutex<Option<Pid>>>,
    _watched: Interrupts,
}

/// How a run ended.
pub(super) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// An interrupt ended it.
    Interrupted,
    /// The time was over before it ended.
    OutOfTime,
}

impl Interruption {
    /// Remembers interrupts from now on, instead of ending the program.
    pub(super) fn watch() -> Result<Self> {
        let signal = Arc::new(AtomicI32::new(0));
        let running: Arc<Mutex<Option<Pid>>> = Arc::default();
        let (seen, child) = (signal.clone(), running.clone());
        let watched = Interrupts::watch(move |interrupt| {
            seen.store(interrupt.signal, Ordering::Relaxed);
            // A terminal sends it to the run as well.
            if !interrupt.from_terminal {
                let child = child.lock().unwrap_or_else(PoisonError::into_inner);
                child.iter().for_each(|pid| interrupt_process(*pid));
            }
        })?;
        Ok(Self {
            signal,
            running,
            _watched: watched,
        })
    }

    /// The signal that came, if any did.
    pub(super) fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::Relaxed)).filter(|it| *it != 0)
    }

    fn follow(&self, child: Option<Pid>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = child;
    }
}

fn interrupt_process(pid: Pid) {
    // It may have ended by itself.
    let _ = kill_process(pid, Signal::INT);
}

/// A run that is to be made.
pub(super) struct Planned<'a> {
    /// Its recording's name in the folder.
    pub(super) name: &'a str,
    pub(super) arm: &'a Arm,
    /// The options that every run gets, word by word.
    pub(super) options: &'a [String],
    /// How long it may take.
    pub(super) most: Duration,
}

/// Runs a command under `run`, its output in a file beside its recording.
///
/// # Errors
/// It cannot be started.
pub(super) fn run(
    folder: &Folder,
    planned: &Planned<'_>,
    interruption: &Interruption,
) -> Result<End> {
    let Planned {
        name,
        arm,
        options,
        most,
    } = planned;
    let stem = name.trim_end_matches(".stall");
    let output = folder.create(&format!("{stem}.log"))?;
    let mut command = Command::new(OWN);
    command.arg("run").args(["--quiet", "--no-report", "-o"]);
    command.arg(folder.path().join(name)).args(*options);
    command.arg("--").args(&arm.argv);
    command.stdin(Stdio::null());
    command.stdout(output.try_clone().context("cannot duplicate a file")?);
    command.stderr(output);
    // A workload that outlives the experiment would be the neighbour of the next one.
    kernel::signal_at_parents_end(&mut command, Signal::TERM);
    let began = Instant::now();
    let mut child = command.spawn().context("cannot start the recorder")?;
    interruption.follow(pid(&child));
    let ended = wait(&mut child, || {
        interruption.signal().is_none() && began.elapsed() >= *most
    });
    // Waited for, so that its number may be somebody else's.
    interruption.follow(None);
    let (status, is_late) = ended.context("cannot wait for the recorder")?;
    Ok(match (interruption.signal(), is_late) {
        (Some(_), _) => End::Interrupted,
        (None, true) => End::OutOfTime,
        (None, false) => End::Exited(status),
    })
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Waits for its end, and asks for it once it is late.
fn wait(child: &mut Child, is_late: impl Fn() -> bool) -> std::io::Result<(ExitStatus, bool)> {
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, asked));
        }
        if !asked && is_late() {
            asked = true;
            pid(child).into_iter().for_each(interrupt_process);
        }
        thread::sleep(POLL);
    }
}
