//! The workload while it runs: its output on the way to the user, its end, and how it is stopped.

use std::ffi::OsString;
use std::io::Read;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kernel::{Child, Duty, Interrupt, StdoutTo, Streams};
use model::{ExitKind, Timestamp};
use rustix::process::Rlimit;
use workloads::{Bin, Ending, Listener, Stream, Unknown};

use super::error::{Error, Result};
use super::event::Event;
use super::observer::{Observer, Progress, Taken};
use super::workload_plan::{Heard, Stdout};

/// After an interrupt the workload has this long before it is told more firmly.
const GRACE: Duration = Duration::from_secs(5);
/// After its end its pipes may stay open in a process that it left behind: they are waited for this long.
const PIPES: Duration = Duration::from_secs(1);

/// signal(7)
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// The workload while it runs.
pub(super) struct Workload {
    child: Child,
    name: String,
    is_heard: bool,
    output: Output,
    pumps: Vec<JoinHandle<()>>,
    /// Signals still to be sent, the next one's time first.
    escalation: Option<(Instant, i32)>,
}

/// What the workload writes, on its way to the user.
#[derive(Clone)]
pub(super) struct Output {
    /// Hears what is captured of it, for as long as the run lasts.
    tap: Arc<Mutex<Option<Listener>>>,
    streams: Streams,
    stdout: Stdout,
    observer: Arc<dyn Observer>,
    events: Sender<Event>,
}

impl Workload {
    /// Starts it. Its streams pass untouched: directly, or by way of a listener. `descriptors` is the limit of open files that it gets.
    pub(super) fn start(argv: &[OsString], descriptors: Rlimit, output: Output) -> Result<Self> {
        let (mut child, is_heard) = spawn(argv, output.streams, descriptors)?;
        let mut pumps = Vec::new();
        let pipes: [(Stream, Option<Box<dyn Read + Send>>); 2] = [
            (
                Stream::Stdout,
                child.take_stdout().map(|pipe| Box::new(pipe) as _),
            ),
            (
                Stream::Stderr,
                child.take_stderr().map(|pipe| Box::new(pipe) as _),
            ),
        ];
        for (stream, pipe) in pipes {
            let Some(pipe) = pipe else { continue };
            let output = output.clone();
            let carry = move || {
                kernel::give_up_all_but(Duty::Handed);
                output.carry(stream, pipe);
            };
            let thread = std::thread::Builder::new()
                .name("output".to_owned())
                .spawn(carry);
            pumps.push(thread.map_err(Error::OutputThread)?);
        }
        let name = argv
            .first()
            .map(|program| program.to_string_lossy().into_owned())
            .unwrap_or_default();
        Ok(Self {
            child,
            name,
            is_heard,
            output,
            pumps,
            escalation: None,
        })
    }

    /// Whether what it complains of on standard error is heard.
    pub(super) fn is_heard(&self) -> bool {
        self.is_heard
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
            let sentence = format!("{} has not ended since the interrupt: {word}", self.name);
            self.output.observer.progress(Progress::Notice(&sentence));
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
    pub(super) fn finish(self, exit: ExitKind, ended: Timestamp) -> (Vec<Bin>, Ending) {
        let deadline = Instant::now() + PIPES;
        while self.pumps.iter().any(|pump| !pump.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.output.finish(exit, ended)
    }
}

/// Starts the workload: whether its standard error is heard, too. Where descriptors are so few that there are none for a
/// pipe, what only complaints are searched for in is left alone.
fn spawn(argv: &[OsString], streams: Streams, descriptors: Rlimit) -> Result<(Child, bool)> {
    let unheard = Streams {
        captures_stderr: false,
        ..streams
    };
    match kernel::spawn(argv, streams, descriptors) {
        Err(_) if streams.captures_stderr && streams.stdout != StdoutTo::Captured => {
            Ok((kernel::spawn(argv, unheard, descriptors)?, false))
        }
        spawned => Ok((spawned?, streams.captures_stderr)),
    }
}

impl Output {
    /// Output that goes to the observer, and of which the listener hears what is to be `heard`.
    pub(super) fn new(
        heard: Heard,
        stdout: Stdout,
        observer: Arc<dyn Observer>,
        events: Sender<Event>,
    ) -> Self {
        let streams = heard.streams(stdout);
        let reader = match heard {
            Heard::All(reader) => reader,
            Heard::Errors | Heard::Nothing => Box::new(Unknown),
        };
        Self {
            tap: Arc::new(Mutex::new(Some(Listener::new(reader)))),
            streams,
            stdout,
            observer,
            events,
        }
    }

    fn tap(&self) -> MutexGuard<'_, Option<Listener>> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where one of the workload's streams goes.
    fn destination(&self, stream: Stream) -> Stream {
        match self.stdout {
            Stdout::ToStdout => stream,
            Stdout::ToStderr => Stream::Stderr,
        }
    }

    /// Carries one stream to the user, letting the adapter listen.
    fn carry(&self, stream: Stream, mut pipe: Box<dyn Read + Send>) {
        let to = self.destination(stream);
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
            let bins = match self.tap().as_mut() {
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
            let taken = self.observer.output(to, &forward);
            if !bins.is_empty() && self.events.send(Event::Bins(bins)).is_err() {
                return;
            }
            // Whoever read it has gone: closing our end lets the workload notice, as it would by itself.
            if taken == Taken::NobodyReads {
                return;
            }
        }
    }

    /// Passes on what was held back, and stops to listen.
    fn finish(&self, exit: ExitKind, ended: Timestamp) -> (Vec<Bin>, Ending) {
        let Some(listener) = self.tap().take() else {
            return (Vec::new(), Ending::default());
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let finished = listener.finish(exit, ended, &mut out, &mut err);
        self.observer.output(self.destination(Stream::Stdout), &out);
        self.observer.output(Stream::Stderr, &err);
        finished
    }
}

impl Heard {
    /// Which streams are captured for it.
    fn streams(&self, stdout: Stdout) -> Streams {
        let directly = match stdout {
            Stdout::ToStdout => StdoutTo::Inherited,
            Stdout::ToStderr => StdoutTo::Stderr,
        };
        let (stdout, captures_stderr) = match self {
            Self::All(_) => (StdoutTo::Captured, true),
            Self::Errors => (directly, true),
            Self::Nothing => (directly, false),
        };
        Streams {
            stdout,
            captures_stderr,
        }
    }
}
