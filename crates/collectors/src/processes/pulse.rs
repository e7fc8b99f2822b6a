//! Detects whether a task was created or has exited, without listing the processes.

use std::path::Path;

use kernel::limits::Share;
use kernel::open_file::OpenFile;

/// Uses /proc/loadavg as the sign of a change.
#[derive(Default)]
pub(crate) struct Pulse {
    file: Option<OpenFile>,
    /// Its task fields at the last look: number of tasks, and the newest pid.
    seen: Vec<u8>,
    text: Vec<u8>,
    /// Looks since the processes were last listed.
    quiet: u32,
}

impl Pulse {
    /// Looks without a list, at most: loadavg may belong to a container's file system (lxcfs) or another PID
    /// namespace.
    const MOST_QUIET: u32 = 5;

    pub(crate) fn new(proc: &Path) -> Self {
        Self {
            file: OpenFile::open(&proc.join("loadavg"), Share::Tracked).ok(),
            // Both numbers may get more digits.
            seen: Vec::with_capacity(64),
            ..Self::default()
        }
    }

    /// Whether a task was created or has exited since the last call. Costs 2 us; a list of processes costs 1
    /// us for each.
    pub(crate) fn moved(&mut self) -> bool {
        let Self {
            file, seen, text, ..
        } = self;
        let read = file.as_ref().map(|file| file.read(text));
        let tasks = text.splitn(4, |byte| *byte == b' ').nth(3);
        // "running/all newest": the number of running tasks does not matter.
        let tasks = tasks.and_then(|tasks| tasks.splitn(2, |byte| *byte == b'/').nth(1));
        let (Some(Ok(())), Some(tasks)) = (read, tasks) else {
            return true;
        };
        if tasks == seen.as_slice() && self.quiet < Self::MOST_QUIET {
            self.quiet += 1;
            return false;
        }
        seen.clear();
        seen.extend_from_slice(tasks);
        self.quiet = 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_due_after_a_fork_or_exit_and_periodically() {
        let proc = tempfile::tempdir().expect("a temporary folder");
        let say = |tasks: &str| {
            let text = format!("0.10 0.20 0.30 {tasks}\n");
            std::fs::write(proc.path().join("loadavg"), text).expect("written");
        };
        say("1/300 4711");
        let mut pulse = Pulse::new(proc.path());
        assert!(pulse.moved());
        say("3/300 4711");
        assert!(!pulse.moved(), "who runs is no news");
        say("3/301 4711");
        assert!(pulse.moved());
        say("3/301 4712");
        assert!(pulse.moved());
        let quiet = (0..10).map(|_| pulse.moved());
        assert_eq!(quiet.filter(|moved| *moved).count(), 2);
        say("nonsense");
        assert!(pulse.moved() && pulse.moved(), "nothing is told: look");
        let mut none = Pulse::new(&proc.path().join("nowhere"));
        assert!(none.moved() && none.moved());
    }
}
