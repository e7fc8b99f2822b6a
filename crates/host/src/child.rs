//! The workload as a process: started with clean signal dispositions, signalled, waited for.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};

use model::ExitKind;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};

use crate::Error;

/// Signals that do something else in the recorder; a workload finds them as it would without one.
const CHANGED: [i32; 5] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// Which of the workload's streams are read on their way to the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    /// None: they are the recorder's own.
    Inherited,
    /// Standard output and standard error.
    Captured,
    /// Standard output goes to the recorder's standard error, standard error is inherited.
    OutputToError,
}

/// The workload, running.
pub struct Child {
    inner: std::process::Child,
}

/// Starts `argv`. `descriptors` is the limit of open files to give back to it.
///
/// Ignored signals are inherited through exec, and a workload below a background shell would ignore
/// the interrupt that is meant to end it: INT, QUIT, TERM and PIPE are set to their defaults.
///
/// # Errors
/// When the program does not exist or cannot be run.
pub fn spawn(argv: &[OsString], streams: Streams, descriptors: Rlimit) -> Result<Child, Error> {
    let (program, arguments) = argv.split_first().ok_or_else(|| Error::Start {
        program: String::new(),
        cause: std::io::Error::from(std::io::ErrorKind::NotFound),
    })?;
    let mut command = Command::new(program);
    command.args(arguments);
    match streams {
        Streams::Inherited => {}
        Streams::Captured => {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        Streams::OutputToError => {
            command.stdout(duplicate_of_stderr()?);
        }
    }
    // SAFETY: between fork and exec only async-signal-safe calls are made: signal(2), setrlimit(2).
    unsafe {
        command.pre_exec(move || {
            for signal in CHANGED {
                libc::signal(signal, libc::SIG_DFL);
            }
            // Raised for the recorder's own descriptors; the workload must not see another limit.
            let _ = setrlimit(Resource::Nofile, descriptors);
            Ok(())
        });
    }
    let inner = command.spawn().map_err(|cause| Error::Start {
        program: program.to_string_lossy().into_owned(),
        cause,
    })?;
    Ok(Child { inner })
}

fn duplicate_of_stderr() -> Result<Stdio, Error> {
    use std::os::fd::AsFd;
    let copy = std::io::stderr().as_fd().try_clone_to_owned();
    copy.map(Stdio::from).map_err(|cause| Error::Setup {
        what: "duplicate standard error",
        cause,
    })
}

impl Child {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.inner.id()
    }

    /// Its standard output, once, where captured.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.inner.stdout.take()
    }

    /// Its standard error, once, where captured.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.inner.stderr.take()
    }

    /// Whether it has ended, and how. Never blocks.
    pub fn ended(&mut self) -> Option<ExitKind> {
        let status = self.inner.try_wait().ok().flatten()?;
        Some(match status.code() {
            Some(code) => ExitKind::Code(code),
            None => ExitKind::Signal(status.signal().unwrap_or(0)),
        })
    }

    /// Sends it and all its descendants a signal by number, as a terminal would: a shell waits for what it
    /// runs and passes nothing on.
    pub fn signal(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else {
            return;
        };
        // It is not yet waited for, so the pid is still its own.
        for pid in crate::sockets::tree_of(Path::new("/proc"), self.pid()) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                // Refused only when it has just ended, or changed its user: the grace period then runs on.
                let _ = kill_process(pid, signal);
            }
        }
    }
}
