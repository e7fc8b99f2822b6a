//! INT, TERM and HUP: noted instead of dying of them, so that the stack unwinds and every guard
//! (server, cgroup, folder) cleans up.
//!
//! Every wait of the lab goes through here. A Ctrl-C at the terminal reaches the children too; a
//! signal from `kill` does not and is passed on. The sender tells the two apart.

use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

/// How often a waiting lab looks: often enough for a person, too rarely to disturb a measurement.
const POLL: Duration = Duration::from_millis(50);
/// Time that an interrupted child gets to save its work.
const GRACE: Duration = Duration::from_secs(20);

static SIGNAL: AtomicI32 = AtomicI32::new(0);
static FROM_TERMINAL: AtomicBool = AtomicBool::new(false);

/// A signal that asked the lab to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt {
    signal: i32,
    from_terminal: bool,
}

impl Interrupt {
    /// What a shell reports for a program that died of it.
    pub fn exit_status(self) -> u8 {
        u8::try_from(128 + self.signal).unwrap_or(u8::MAX)
    }
}

/// Notes signals from now on, in place of dying of them.
pub fn watch() -> Result<()> {
    let mut signals: SignalsInfo<WithOrigin> = SignalsInfo::new([SIGINT, SIGTERM, SIGHUP])
        .context("cannot watch for interrupts, so clean-up would not be certain")?;
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            for origin in signals.forever() {
                FROM_TERMINAL.store(origin.cause == Cause::Kernel, Ordering::Relaxed);
                SIGNAL.store(origin.signal, Ordering::Release);
            }
        })
        .context("cannot start the thread that watches for interrupts")?;
    Ok(())
}

/// The interrupt that came, if any.
pub fn pending() -> Option<Interrupt> {
    match SIGNAL.load(Ordering::Acquire) {
        0 => None,
        signal => Some(Interrupt {
            signal,
            from_terminal: FROM_TERMINAL.load(Ordering::Relaxed),
        }),
    }
}

/// An error once an interrupt came.
pub fn check() -> Result<()> {
    if let Some(interrupt) = pending() {
        bail!("interrupted by signal {}, cleaning up", interrupt.signal);
    }
    Ok(())
}

/// Sleeps one polling interval, or says that an interrupt came.
pub fn pause() -> Result<()> {
    check()?;
    std::thread::sleep(POLL);
    check()
}

/// Waits for a child. An interrupt is passed on where the child has not got it, then waited for:
/// the status is the child's own in every case, and `check` tells about the interrupt.
pub fn wait(child: &mut Child) -> Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child
            .try_wait()
            .context("cannot wait for a child process")?
        {
            return Ok(status);
        }
        match (pending(), asked) {
            (Some(interrupt), None) => {
                if !interrupt.from_terminal {
                    signal(child.id(), interrupt.signal);
                }
                asked = Some(Instant::now());
            }
            (Some(_), Some(since)) if since.elapsed() > GRACE => {
                child.kill().context("cannot kill a child process")?;
            }
            _ => {}
        }
        std::thread::sleep(POLL);
    }
}

/// Waits up to `limit` for a child that was told to end; false when it is still there. An interrupt
/// does not shorten this: it is part of cleaning up.
pub fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let since = Instant::now();
    while since.elapsed() < limit {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        std::thread::sleep(POLL);
    }
    false
}

/// Sends a signal by number. Refused only when the process has just ended.
pub fn signal(pid: u32, number: i32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(number)) {
        let _ = kill_process(pid, signal);
    }
}
