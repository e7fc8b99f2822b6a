//! The workload as a process: started with clean signal dispositions, signalled, waited for.

use std::ffi::OsString;
use std::io::PipeReader;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use model::ExitKind;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
    setrlimit,
};

use crate::Error;

/// Signals that the recorder handles or ignores; the workload gets their default dispositions.
const CHANGED: [i32; 5] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// Which of the workload's streams are read on their way to the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    /// Where standard output goes.
    pub stdout: StdoutTo,
    /// Whether standard error is read, and is not the recorder's own.
    pub captures_stderr: bool,
}

/// Where a workload's standard output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StdoutTo {
    /// To the recorder's own.
    Inherited,
    /// Where its standard error goes: both are one stream, and keep their order.
    Stderr,
    /// To the recorder, which reads it.
    Captured,
}

/// The running workload.
pub struct Child {
    inner: std::process::Child,
    /// Of a pipe that takes its standard error, and maybe its standard output.
    stderr: Option<PipeReader>,
}

/// Starts `argv`. `descriptors` is the limit of open files to give back to the workload.
///
/// Ignored signals are inherited through exec, so a workload under a background shell would ignore the
/// interrupt that is meant to end it: INT, QUIT, TERM and PIPE are set to their defaults.
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
    let stderr = connect(&mut command, streams)?;
    // SAFETY: between fork and exec only async-signal-safe calls are made: signal(2), setrlimit(2).
    unsafe {
        command.pre_exec(move || {
            for signal in CHANGED {
                libc::signal(signal, libc::SIG_DFL);
            }
            // The limit was raised for the recorder's own descriptors; the workload gets the user's.
            let _ = setrlimit(Resource::Nofile, descriptors);
            Ok(())
        });
    }
    let inner = command.spawn().map_err(|cause| Error::Start {
        program: program.to_string_lossy().into_owned(),
        cause,
    })?;
    Ok(Child { inner, stderr })
}

/// Has the kernel send what `command` starts a signal when the thread that started it ends, however that comes
/// about. For tests and benchmarks, not for workloads: a hog that outlives a killed test slows what is measured
/// after it. Only the child itself is told: what it starts in turn ends with it where the child sees to that, which
/// `TERM` leaves it time for. The kernel forgets the signal where the child then takes another user's identity.
///
/// # Errors
/// Starting fails where the parent has ended by then.
pub fn signal_at_parents_end(command: &mut Command, signal: Signal) -> &mut Command {
    let parent = getpid();
    // SAFETY: between fork and exec only async-signal-safe calls are made: prctl(2), getppid(2).
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(signal))?;
            match getppid() == Some(parent) {
                true => Ok(()),
                // It ended before the kernel was asked.
                false => Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe)),
            }
        })
    }
}

/// Connects the streams of a command that is not started yet; returns what its standard error can be read from, if that
/// is captured.
fn connect(command: &mut Command, streams: Streams) -> Result<Option<PipeReader>, Error> {
    let failed = |cause| Error::Setup {
        what: "make a pipe",
        cause,
    };
    let pipe = match streams.captures_stderr {
        true => Some(std::io::pipe().map_err(failed)?),
        false => None,
    };
    match (streams.stdout, &pipe) {
        (StdoutTo::Inherited, _) => {}
        (StdoutTo::Stderr, Some((_, writer))) => {
            command.stdout(writer.try_clone().map_err(failed)?);
        }
        (StdoutTo::Stderr, None) => {
            command.stdout(duplicate_of_stderr()?);
        }
        (StdoutTo::Captured, _) => {
            command.stdout(Stdio::piped());
        }
    }
    Ok(pipe.map(|(reader, writer)| {
        command.stderr(writer);
        reader
    }))
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
    /// The workload's process id.
    pub fn pid(&self) -> u32 {
        self.inner.id()
    }

    /// The workload's standard output, if captured; only the first call returns it.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.inner.stdout.take()
    }

    /// The workload's standard error, if captured; only the first call returns it.
    pub fn take_stderr(&mut self) -> Option<PipeReader> {
        self.stderr.take()
    }

    /// How the workload ended; `None` while it runs. Never blocks.
    pub fn ended(&mut self) -> Option<ExitKind> {
        let status = self.inner.try_wait().ok().flatten()?;
        Some(match status.code() {
            Some(code) => ExitKind::Code(code),
            None => ExitKind::Signal(status.signal().unwrap_or(0)),
        })
    }

    /// Sends a signal to the workload and all its descendants, as a terminal would: a shell waits for what it
    /// runs and does not forward signals.
    pub fn signal(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else {
            return;
        };
        // The workload has not been waited for, so the pid cannot have been reused.
        for pid in crate::process_tree::tree_of(Path::new("/proc"), self.pid()) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                // Fails only if the process has just exited or changed its user; the grace period then runs
                // on.
                let _ = kill_process(pid, signal);
            }
        }
    }
}
