//! The workload while it runs: its output on the way to the user, its end, and how it is stopped.

use std::ffi::OsString;
use std::io::Read;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kernel::{Child, Interrupt, Streams};
use model::{ExitKind, Timestamp};
use workloads::{Bin, Ending, Listener, Reader, Stream};

use super::session::Event;
use crate::outputs::{Screen, Taken};

/// After an interrupt the workload has this long before it is told more firmly.
const GRACE: Duration = Duration::from_secs(5);
/// After its end its pipes may stay open in a process that it left behind: they are waited for this long.
const PIPES: Duration = Duration::from_secs(1);

/// signal(7)
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

type OutputTap = Arc<Mutex<Option<Listener>>>;

/// The workload while it runs.
pub(super) struct Workload {
    child: Child,
    name: String,
    tap: OutputTap,
    pumps: Vec<JoinHandle<()>>,
    screen: Screen,
    /// Signals still to be sent, the next one's time first.
    escalation: Option<(Instant, i32)>,
}

/// Where the workload's standard output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stdout {
    ToStdout,
    /// The report was asked for on standard output.
    ToStderr,
}

impl Workload {
    /// Starts it. Its streams pass untouched: directly, or by way of a listener where an adapter
    /// understands them.
    pub(super) fn start(
        argv: &[OsString],
        reader: Option<Box<dyn Reader>>,
        stdout: Stdout,
        descriptors: rustix::process::Rlimit,
        screen: &Screen,
        events: &Sender<Event>,
    ) -> Result<Self> {
        let streams = match (&reader, stdout) {
            (Some(_), _) => Streams::Captured,
            (None, Stdout::ToStdout) => Streams::Inherited,
            (None, Stdout::ToStderr) => Streams::OutputToError,
        };
        let mut child = kernel::spawn(argv, streams, descriptors)?;
        let tap: OutputTap = Arc::new(Mutex::new(reader.map(Listener::new)));
        let mut pumps = Vec::new();
        let mut pump = |stream, pipe: Option<Box<dyn Read + Send>>| -> Result<()> {
            let Some(pipe) = pipe else { return Ok(()) };
            let (tap, screen, events) = (tap.clone(), screen.clone(), events.clone());
            let carry = move || {
                kernel::give_up_all_but(kernel::Duty::Handed);
                carry(stream, pipe, stdout, &tap, &screen, &events);
            };
            let thread = std::thread::Builder::new()
                .name("output".to_owned())
                .spawn(carry);
            pumps.push(thread.context("cannot start a thread for the workload's output")?);
            Ok(())
        };
        pump(
            Stream::Stdout,
            child.take_stdout().map(|pipe| Box::new(pipe) as _),
        )?;
        pump(
            Stream::Stderr,
            child.take_stderr().map(|pipe| Box::new(pipe) as _),
        )?;
        let name = argv
            .first()
            .map(|program| program.to_string_lossy().into_owned())
            .unwrap_or_default();
        Ok(Self {
            child,
            name,
            tap,
            pumps,
            screen: screen.clone(),
            escalation: None,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Whether it has ended. Sends what an earlier interrupt has not achieved.
    pub(super) fn ended(&mut self) -> Option<ExitKind> {
        let ended = self.child.ended();
        if ended.is_none()
            && let Some((at, signal)) = self.escalation
            && Instant::now() >= at
        {
            let word = if signal == SIGKILL {
                "killing it"
            } else {
                "asking it to terminate"
            };
            self.screen.say(&format!(
                "stallscope: {} has not ended since the interrupt: {word}",
                self.name
            ));
            self.child.signal(signal);
            self.escalation = (signal != SIGKILL).then(|| (Instant::now() + GRACE, SIGKILL));
        }
        ended
    }

    /// Stops it: passes the signal on unless the terminal has sent it to both; a second interrupt does
    /// not wait for the grace period.
    pub(super) fn interrupt(&mut self, interrupt: Interrupt) {
        match self.escalation {
            Some((_, next)) => self.escalation = Some((Instant::now(), next)),
            None => {
                if !interrupt.from_terminal {
                    self.child.signal(interrupt.signal);
                }
                let next = if interrupt.signal == SIGTERM {
                    SIGKILL
                } else {
                    SIGTERM
                };
                self.escalation = Some((Instant::now() + GRACE, next));
            }
        }
    }

    /// After its end: the last of its output, and what it means.
    pub(super) fn finish(
        self,
        exit: ExitKind,
        ended: Timestamp,
        stdout: Stdout,
    ) -> (Vec<Bin>, Ending) {
        let deadline = Instant::now() + PIPES;
        while self.pumps.iter().any(|pump| !pump.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let listener = self
            .tap
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(listener) = listener else {
            return (Vec::new(), Ending::default());
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let finished = listener.finish(exit, ended, &mut out, &mut err);
        self.screen.pass(stdout == Stdout::ToStdout, &out);
        self.screen.pass(false, &err);
        finished
    }
}

/// Carries one stream to the user, letting the adapter listen.
fn carry(
    stream: Stream,
    mut pipe: Box<dyn Read + Send>,
    stdout: Stdout,
    tap: &OutputTap,
    screen: &Screen,
    events: &Sender<Event>,
) {
    let to_stdout = stream == Stream::Stdout && stdout == Stdout::ToStdout;
    let mut buffer = vec![0; 65_536];
    loop {
        let bytes = match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => &buffer[..count],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let arrived = kernel::boottime();
        let mut forward = Vec::with_capacity(bytes.len());
        let bins = match tap.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(listener) => {
                listener.hear(stream, bytes, arrived, &mut forward);
                listener.take_bins()
            }
            // The run is over and a process that it left behind still writes.
            None => {
                forward.extend_from_slice(bytes);
                Vec::new()
            }
        };
        let taken = screen.pass(to_stdout, &forward);
        if !bins.is_empty() && events.send(Event::Bins(bins)).is_err() {
            return;
        }
        // Whoever read it has gone: closing our end lets the workload notice, as it would by itself.
        if taken == Taken::NobodyReads {
            return;
        }
    }
}
