//! One run of an experiment: the program itself, as `run`, in a process of its own.
//!
//! Of its own because recording gives rights up for good, and because what one run leaves behind in memory must not be in
//! the next one's measurement.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use analysis::compare::Measured;
use anyhow::{Context, Result};
use kernel::Interrupts;
use rustix::process::{Pid, Signal, kill_process};

use super::command::shown;
use super::state::{Design, Folder, Run, State};

/// This program, whatever has its name by now.
pub(crate) const OWN: &str = "/proc/self/exe";
/// How often a run's end is looked for.
const POLL: Duration = Duration::from_millis(20);
/// How long cleaning up may take.
const CLEANING: Duration = Duration::from_secs(60);

/// Where an interrupt is remembered, and the run that it is passed on to.
pub(crate) struct Interruption {
    signal: Arc<AtomicI32>,
    running: Arc<Mutex<Option<Pid>>>,
    _watched: Interrupts,
}

/// How a run ended.
enum End {
    /// By itself.
    Exited(ExitStatus),
    /// An interrupt ended it.
    Interrupted,
    /// The time was over before it ended.
    OutOfTime,
    /// A command before or after it failed: a clause.
    Failed(String),
}

impl Interruption {
    /// Remembers interrupts from now on, instead of ending the program.
    pub(crate) fn watch() -> Result<Self> {
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
    pub(crate) fn signal(&self) -> Option<i32> {
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

/// A command of a shell that prepares a run or cleans up after it.
pub(crate) struct Shell {
    pub(crate) text: String,
    /// The words that start it in a group; none where it runs where this process does.
    pub(crate) inside: Vec<OsString>,
}

impl Shell {
    /// One that runs where this process does.
    pub(crate) fn anywhere(text: String) -> Self {
        Self {
            text,
            inside: Vec::new(),
        }
    }
}

/// A run that is to be made.
pub(crate) struct WantedRun<'a> {
    /// Its recording's name in the folder.
    pub(crate) name: String,
    /// The place of its command, or of its configuration.
    pub(crate) arm: usize,
    /// The values of its parameters; empty where it has none.
    pub(crate) values: Vec<String>,
    /// From 1 on.
    pub(crate) round: u32,
    /// The program and its arguments.
    pub(crate) argv: &'a [OsString],
    /// Commands of a shell before it.
    pub(crate) before: &'a [Shell],
    /// The same after it, whether it failed or not.
    pub(crate) after: &'a [Shell],
    /// The options that every run gets, word by word.
    pub(crate) options: &'a [String],
    /// How long it may take.
    pub(crate) most: Duration,
    /// Measures its recording, of this round; else why it does not count, a clause.
    pub(crate) judge: fn(&Path, u32) -> Result<Measured, String>,
}

/// Makes a run, measures it, and keeps in the state what became of it: its figures, or why it does not count, a clause.
///
/// # Errors
/// It cannot be started, or the state cannot be written.
pub(crate) fn make_run<D: Design>(
    folder: &Folder,
    state: &mut State<D>,
    wanted: &WantedRun<'_>,
    interruption: &Interruption,
) -> Result<Result<Measured, String>> {
    let name = &wanted.name;
    let mut run_of_it = Run::open(name.clone(), wanted.arm, wanted.round);
    run_of_it.values.clone_from(&wanted.values);
    state.runs.push(run_of_it);
    folder.save(state)?;
    let began = Instant::now();
    let ended = run(folder, wanted, interruption);
    let path = folder.path().join(name);
    let log = path.with_extension("log");
    let result = match ended? {
        End::Interrupted => Err("it was interrupted".to_owned()),
        End::OutOfTime => Err("the budget was over before it ended".to_owned()),
        End::Failed(why) => Err(format!("{why}; its output is in {}", log.display())),
        End::Exited(status) if !status.success() => Err(format!(
            "its command failed ({status}); its output is in {}",
            log.display()
        )),
        End::Exited(_) => (wanted.judge)(&path, wanted.round),
    };
    if let Some(run) = state.runs.last_mut() {
        run.close(
            began.elapsed().as_secs_f64(),
            result.as_ref().err().cloned(),
        );
    }
    folder.save(state)?;
    Ok(result)
}

/// Runs a command under `run`, its output in a file beside its recording, with what is to be done before and after it.
fn run(folder: &Folder, wanted: &WantedRun<'_>, interruption: &Interruption) -> Result<End> {
    let stem = wanted.name.trim_end_matches(".stall");
    let output = folder.create(&format!("{stem}.log"))?;
    let until = Instant::now() + wanted.most;
    let mut ended = None;
    for shell in wanted.before {
        ended = helping("before", shell, &output, interruption, until)?;
        if ended.is_some() {
            break;
        }
    }
    let mut ended = match ended {
        Some(it) => it,
        None => {
            let mut command = Command::new(OWN);
            command.arg("run").args(["--quiet", "--no-report", "-o"]);
            command.arg(folder.path().join(&wanted.name));
            command.args(wanted.options).arg("--").args(wanted.argv);
            one(command, &output, interruption, until)?
        }
    };
    for shell in wanted.after {
        // What a run left behind is taken away even when there is no time left.
        let failed = helping("after", shell, &output, interruption, until + CLEANING)?;
        if let (End::Exited(_), Some(failed)) = (&ended, failed) {
            ended = failed;
        }
    }
    Ok(ended)
}

/// What prepares a run or cleans up after it; `None` where it succeeded.
fn helping(
    when: &str,
    shell: &Shell,
    output: &File,
    interruption: &Interruption,
    until: Instant,
) -> Result<Option<End>> {
    let typed = ["sh", "-c", &shell.text].map(OsString::from);
    let words = [shell.inside.as_slice(), &typed].concat();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    Ok(match one(command, output, interruption, until)? {
        End::Exited(status) if status.success() => None,
        End::Exited(status) => Some(End::Failed(format!(
            "the command {when} it failed ({status}): {}",
            shown(&shell.text)
        ))),
        other => Some(other),
    })
}

/// One process, until it ends or has to.
fn one(
    mut command: Command,
    output: &File,
    interruption: &Interruption,
    until: Instant,
) -> Result<End> {
    command.stdin(Stdio::null());
    command.stdout(output.try_clone().context("cannot duplicate a file")?);
    command.stderr(output.try_clone().context("cannot duplicate a file")?);
    // A workload that outlives the experiment would be the neighbour of the next one.
    kernel::signal_at_parents_end(&mut command, Signal::TERM);
    let mut child = command.spawn().context("cannot start a run")?;
    interruption.follow(pid(&child));
    let ended = wait(&mut child, || {
        interruption.signal().is_none() && Instant::now() >= until
    });
    // Waited for, so that its number may be somebody else's.
    interruption.follow(None);
    let (status, is_late) = ended.context("cannot wait for a run")?;
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
