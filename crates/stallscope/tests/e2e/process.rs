//! A command while it runs, and what came of it. No test waits for ever.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// What has not come about by then hangs: no machine is so slow that it takes a test's workload this long.
/// A test that waits must fail for what is wrong, never for being slow.
pub const HANGS: Duration = Duration::from_secs(1_200);

/// A command that runs. Killed when a test gives up on it.
pub struct Running {
    child: Child,
    out: Receiver<Vec<u8>>,
    err: Receiver<Vec<u8>>,
}

/// What came of a command.
pub struct Ended {
    /// As a shell says it: the code, or 128 + the signal.
    pub status: i32,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

impl Running {
    /// Starts it with nothing to read.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        Self::spawn(command)
    }

    /// Starts it with something to read.
    pub fn start_with_input(mut command: Command, input: Vec<u8>) -> Self {
        command.stdin(Stdio::piped());
        let mut running = Self::spawn(command);
        let mut stdin = running.child.stdin.take().expect("it is piped");
        // On its own thread: the pipe may fill up. A workload that reads no more is no mistake.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        running
    }

    /// Starts it with a pipe to write into later.
    pub fn start_typing(mut command: Command) -> (Self, std::process::ChildStdin) {
        command.stdin(Stdio::piped());
        let mut running = Self::spawn(command);
        let stdin = running.child.stdin.take().expect("it is piped");
        (running, stdin)
    }

    fn spawn(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // Not KILL: the program ends its workload then, and a server its workers.
        kernel::signal_at_parents_end(&mut command, Signal::TERM);
        let mut child = command.spawn().expect("the command can be started");
        let out = collect(child.stdout.take().expect("it is piped"));
        let err = collect(child.stderr.take().expect("it is piped"));
        Self { child, out, err }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it, and nobody else, a signal.
    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Waits for its end and for the end of what it wrote.
    pub fn end(mut self) -> Ended {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            assert!(since.elapsed() < HANGS, "it has not ended in {HANGS:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        let rest = |stream: &Receiver<Vec<u8>>| {
            stream
                .recv_timeout(HANGS.saturating_sub(since.elapsed()))
                .expect("its output has an end")
        };
        let ended = Ended {
            status: status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            out: rest(&self.out),
            err: rest(&self.err),
        };
        assert!(!ended.err_text().contains("panicked"), "{ended}");
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // A test gave up on it.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    pub fn out_text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    pub fn err_text(&self) -> String {
        String::from_utf8_lossy(&self.err).into_owned()
    }

    /// Asserts the exit status.
    #[track_caller]
    pub fn status(&self, wanted: i32) -> &Self {
        assert_eq!(self.status, wanted, "status {}\n{self}", self.status);
        self
    }

    /// Asserts that these words stand on standard error, wherever lines are broken.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        let said = one_line(&self.err_text());
        assert!(said.contains(&one_line(words)), "no {words:?} in\n{self}");
        self
    }

    /// Asserts that these words do not.
    #[track_caller]
    pub fn does_not_say(&self, words: &str) -> &Self {
        let said = one_line(&self.err_text());
        assert!(!said.contains(&one_line(words)), "{words:?} in\n{self}");
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const MOST: usize = 6_000;
        let out: String = self.out_text().chars().take(MOST).collect();
        let err: String = self.err_text().chars().take(MOST).collect();
        write!(f, "--- stdout\n{out}\n--- stderr\n{err}\n---")
    }
}

/// Waits until something holds; `what` is said where it never does.
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < HANGS, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sends a process a signal.
pub fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a pid"), signal).expect("the process is there");
}

/// Whether a process is there and no zombie.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// A text with its lines and columns undone.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn collect(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What came before trouble is worth as much.
        let _ = stream.read_to_end(&mut all);
        let _ = tell.send(all);
    });
    told
}
