//! The answer so far, while a recording is made: judged from what is on disk, as it will be at the end.
//!
//! A thread of the lowest priority reads the recording and judges its last seconds, once a second as long as that
//! costs little, and less often where the recording is long or the machine large: what it takes of a CPU is bounded,
//! and nobody waits for it.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use recording::{FolderHandle, Reader};
use rustix::process::setpriority_process;
use rustix::time::{ClockId, clock_gettime};

/// Between two answers.
const EVERY: Duration = Duration::from_secs(1);
/// An answer takes at most one part in so many of a CPU: 0.25 %.
const SHARE: u32 = 400;
/// The nice value of who may wait for all others.
const LOWEST: i32 = 19;

/// The answer so far. Judging ends when it is dropped.
pub(super) struct LiveVerdict {
    text: Arc<Mutex<Option<String>>>,
    _stop: Sender<()>,
}

impl LiveVerdict {
    /// Begins to judge what is written into this folder.
    pub(super) fn of(folder: Arc<FolderHandle>) -> Self {
        let text: Arc<Mutex<Option<String>>> = Arc::default();
        let (stop, stopped) = channel::<()>();
        let answer = text.clone();
        let run = move || {
            // It reads an open folder, and names that anybody may have chosen.
            kernel::give_up_all_but(kernel::Duty::Handed);
            // Refused is at worst the usual priority.
            let _ = setpriority_process(None, LOWEST);
            let mut wait = EVERY;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let began = cpu_time();
                let said = judge(&folder);
                *answer.lock().unwrap_or_else(PoisonError::into_inner) = said;
                wait = EVERY.max(cpu_time().saturating_sub(began) * SHARE);
            }
        };
        // Without a thread there is no answer before the end.
        let _ = thread::Builder::new().name("live".to_owned()).spawn(run);
        Self { text, _stop: stop }
    }

    /// The newest answer, if there is one.
    pub(super) fn text(&self) -> Option<String> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }
}

/// What the last seconds say; nothing where they cannot be read or name nothing.
fn judge(folder: &FolderHandle) -> Option<String> {
    let mut recording = Reader::open_end(folder).ok()?;
    analysis::prepare(&mut recording.timeline);
    let so_far = analysis::so_far(&recording.timeline, &recording.meta)?;
    if so_far.cause == "undetermined" {
        return Some("undetermined so far".to_owned());
    }
    let share = so_far.share.map_or(String::new(), |share| {
        format!(" {}", analysis::percent(share))
    });
    let word = so_far.confidence.word();
    Some(format!(
        "so far {}, {}{share} ({word})",
        so_far.cause, so_far.entity.name
    ))
}

/// What this thread has used of the CPUs.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
