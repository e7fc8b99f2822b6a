//! `instances`: runs several instances of a load at once, each in its cgroup, and marks the lines of each. `sweep` and
//! `run` agree on it; nobody types it.

use std::ffi::OsString;
use std::io::{BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kernel::Interrupts;
use rustix::process::{Pid, Signal, kill_process};
use workloads::Instance;

/// A longer line is written in parts.
const LONGEST_LINE: usize = 64 << 10;
/// How often the ends are looked for.
const POLL: Duration = Duration::from_millis(10);

/// Runs the instances of these words until the last has ended; the status is the first that is none of success.
pub(crate) fn instances(words: &[OsString]) -> Result<u8> {
    let Some(instances) = Instance::parse(words) else {
        bail!("`stallscope instances` is started by `stallscope sweep --set instances=...`");
    };
    let signal = Arc::new(AtomicI32::new(0));
    let seen = signal.clone();
    let _interrupts = Interrupts::watch(move |interrupt| {
        // A terminal sends it to the instances as well.
        if !interrupt.from_terminal {
            seen.store(interrupt.signal, Ordering::Relaxed);
        }
    })?;
    let mut children = Vec::new();
    for (place, instance) in instances.iter().enumerate() {
        match start(instance) {
            Ok(child) => children.push((place + 1, child)),
            Err(error) => {
                children.iter_mut().for_each(|(_, it)| end(it));
                return Err(error);
            }
        }
    }
    let out = (Mutex::new(std::io::stdout()), Mutex::new(std::io::stderr()));
    thread::scope(|scope| {
        for (number, child) in &mut children {
            let prefix = Instance::prefix(*number);
            let other = prefix.clone();
            if let Some(from) = child.stdout.take() {
                let to = &out.0;
                scope.spawn(move || pass(from, to, &prefix));
            }
            if let Some(from) = child.stderr.take() {
                let to = &out.1;
                scope.spawn(move || pass(from, to, &other));
            }
        }
        wait(&mut children, &signal)
    })
}

fn start(instance: &Instance) -> Result<Child> {
    let before = match instance.group.is_empty() {
        true => Vec::new(),
        false => capacity::inside(instance.group.iter().map(|it| it.as_path())),
    };
    let words = [before.as_slice(), &instance.argv].concat();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    kernel::signal_at_parents_end(&mut command, Signal::TERM);
    let program = instance.argv[0].to_string_lossy();
    command
        .spawn()
        .with_context(|| format!("cannot start {program}"))
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits for all, and passes an interrupt on.
fn wait(children: &mut [(usize, Child)], signal: &AtomicI32) -> Result<u8> {
    let mut status = 0;
    let mut open: Vec<&mut Child> = children.iter_mut().map(|(_, child)| child).collect();
    while !open.is_empty() {
        if let Some(signal) = Signal::from_named_raw(signal.swap(0, Ordering::Relaxed)) {
            let pids = open.iter().filter_map(|it| i32::try_from(it.id()).ok());
            for pid in pids.filter_map(Pid::from_raw) {
                // It may have ended by itself.
                let _ = kill_process(pid, signal);
            }
        }
        let mut left = Vec::new();
        for child in open {
            match child.try_wait().context("cannot wait for an instance")? {
                None => left.push(child),
                Some(ended) if status == 0 => status = code(ended),
                Some(_) => {}
            }
        }
        open = left;
        thread::sleep(POLL);
    }
    Ok(status)
}

/// As a shell tells it.
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().or(status.signal().map(|it| 128 + it));
    code.and_then(|it| u8::try_from(it).ok()).unwrap_or(u8::MAX)
}

/// Writes each line, and what is drawn until a CR, behind the prefix.
fn pass(from: impl Read, to: &Mutex<impl Write>, prefix: &str) {
    let mut from = BufReader::new(from);
    let mut line = prefix.as_bytes().to_vec();
    let mut byte = [0];
    loop {
        // Who reads nothing any more gets nothing: the instance goes on as it would with its output in a file.
        let read = from.read(&mut byte).unwrap_or(0);
        line.extend_from_slice(&byte[..read]);
        let is_whole = read == 0 || byte[0] == b'\n' || byte[0] == b'\r';
        if !is_whole && line.len() < LONGEST_LINE {
            continue;
        }
        if line.len() > prefix.len() {
            let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = to.write_all(&line).and_then(|()| to.flush());
        }
        if read == 0 {
            return;
        }
        line.truncate(prefix.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_marked_and_what_is_drawn_too() {
        let to = Mutex::new(Vec::new());
        pass(&b"a\nb: 1\rb: 2\rlast"[..], &to, "[3] ");
        let text = String::from_utf8(to.into_inner().expect("no panic")).expect("text");
        assert_eq!(text, "[3] a\n[3] b: 1\r[3] b: 2\r[3] last");
    }
}
