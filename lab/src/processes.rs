//! Processes as /proc shows them: parents, CPU time, folders. The lab's own reading, independent of
//! the crates that it judges.

use std::fs;
use std::path::PathBuf;

/// What the lab needs of `/proc/PID/stat` (proc(5)).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Parent's process id.
    pub parent: u32,
    /// CPU time of its threads, in clock ticks.
    pub ticks: u64,
    /// CPU time of its children that ended and were waited for, in clock ticks.
    pub reaped_ticks: u64,
}

impl Process {
    /// From the text of `/proc/PID/stat`. The name in parentheses may itself hold parentheses.
    pub fn parse(text: &str) -> Option<Self> {
        let pid = text.split(' ').next()?.parse().ok()?;
        let (_, after_name) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        // Fields are numbered from 1 in proc(5); the state, field 3, is the first after the name.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            pid,
            parent: u32::try_from(number(4)?).ok()?,
            ticks: number(14)? + number(15)?,
            reaped_ticks: number(16)? + number(17)?,
        })
    }

    /// A living process.
    pub fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// All processes that can be seen.
    pub fn all() -> Vec<Self> {
        pids().filter_map(Self::read).collect()
    }
}

/// The process ids that can be seen.
pub fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// `root` and its descendants among `all`, parents first.
pub fn tree(all: &[Process], root: u32) -> Vec<&Process> {
    let mut found: Vec<&Process> = all.iter().filter(|process| process.pid == root).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.pid) {
        found.extend(all.iter().filter(|process| process.parent == parent));
        next += 1;
    }
    found
}

/// Whether a process of that id exists.
pub fn exists(pid: u32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap_or(true)
}

/// The folder that a process works in; `None` when it is gone or not ours to see.
pub fn working_folder(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The file that a process runs; `None` when it is gone or not ours to see.
pub fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// A number in the environment that a process was started with; `None` when there is none, or it is not ours to see.
pub fn variable(pid: u32, name: &str) -> Option<u32> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|it| it.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        Process {
            pid,
            parent,
            ticks: 0,
            reaped_ticks: 0,
        }
    }

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let text = "7 (a) b (c)) S 3 7 7 0 -1 4194560 9 8 7 6 11 22 33 44 20 0 1 0 99";
        let expected = Process {
            pid: 7,
            parent: 3,
            ticks: 33,
            reaped_ticks: 77,
        };
        assert_eq!(Process::parse(text), Some(expected));
        assert_eq!(Process::parse("7 (cut"), None);
    }

    #[test]
    fn a_tree_holds_descendants_in_any_order_of_ids() {
        let all = [process(9, 4), process(4, 2), process(5, 1), process(2, 1)];
        let pids: Vec<u32> = tree(&all, 2).iter().map(|process| process.pid).collect();
        assert_eq!(pids, [2, 4, 9]);
        assert!(tree(&all, 77).is_empty());
    }

    #[test]
    fn this_process_is_seen() {
        let own = std::process::id();
        assert!(exists(own));
        assert!(Process::all().iter().any(|process| process.pid == own));
    }
}
