//! The few facts about processes that are needed here: parent, user, name, start.
//!
//! Every user may read them, unless `/proc` is mounted with `hidepid`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// One process at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its id in the PID namespace of `proc`.
    pub pid: u32,
    /// Its parent's id; 0 for the first process.
    pub parent: u32,
    /// The kernel's name for it (comm).
    pub comm: String,
    /// Whether it has ended and its parent has not asked for its status.
    pub zombie: bool,
    /// Clock ticks since boot: with the pid, its identity.
    pub started: u64,
}

/// The pids in `proc`, in ascending order.
pub fn pids(proc: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(proc) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut pids: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// Reads one process; `None` if it has exited.
pub fn read(proc: &Path, pid: u32) -> Option<Process> {
    parse_stat(&fs::read(proc.join(pid.to_string()).join("stat")).ok()?)
}

/// Every process, by pid.
pub fn all(proc: &Path) -> BTreeMap<u32, Process> {
    let processes = pids(proc)
        .into_iter()
        .filter_map(|pid| Some((pid, read(proc, pid)?)));
    processes.collect()
}

/// When a process started, in clock ticks since boot; `None` if it has exited.
pub fn start_ticks(proc: &Path, pid: u32) -> Option<u64> {
    read(proc, pid).map(|process| process.started)
}

/// The kernel's name of a process (comm); `None` if it has exited.
pub fn name_of(proc: &Path, pid: u32) -> Option<String> {
    read(proc, pid).map(|process| process.comm)
}

/// Parses `stat` of a process; `None` if it is malformed.
pub fn parse_stat(bytes: &[u8]) -> Option<Process> {
    let stat = sensors::parse_stat(bytes).ok()?;
    let pid = bytes.split(|byte| *byte == b' ').next()?;
    Some(Process {
        pid: std::str::from_utf8(pid).ok()?.parse().ok()?,
        parent: u32::try_from(stat.parent).ok()?,
        comm: model::name_of(stat.name).into_owned(),
        zombie: matches!(stat.state, b'Z' | b'X'),
        started: u64::try_from(stat.start).ok()?,
    })
}

/// The effective user of a process, from its `status`: the folder's owner would be root for a process that is
/// not dumpable because it changed its user.
pub fn uid_of(proc: &Path, pid: u32) -> Option<u32> {
    status_field(proc, pid, "Uid:")?
        .split_ascii_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// The process that a thread belongs to; for a pid, that process.
pub fn process_of(proc: &Path, tid: u32) -> Option<u32> {
    status_field(proc, tid, "Tgid:")?.trim().parse().ok()
}

fn status_field(proc: &Path, pid: u32, name: &str) -> Option<String> {
    let status = fs::read(proc.join(pid.to_string()).join("status")).ok()?;
    let text = String::from_utf8_lossy(&status);
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::to_owned)
}

/// The program's name from `argv[0]`, without folder, further title words and colon.
pub fn program_name(proc: &Path, pid: u32) -> Option<String> {
    let line = fs::read(proc.join(pid.to_string()).join("cmdline")).ok()?;
    let first = line.split(|&byte| byte == 0).next()?;
    let text = String::from_utf8_lossy(first);
    let word = text.split_ascii_whitespace().next()?;
    let name = word.rsplit('/').next()?.trim_end_matches(':');
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// The word that follows an option in a process's command line; `None` where it is not there.
pub fn option_of(proc: &Path, pid: u32, option: &str) -> Option<String> {
    let line = fs::read(proc.join(pid.to_string()).join("cmdline")).ok()?;
    let mut words = line.split(|&byte| byte == 0);
    words.find(|word| *word == option.as_bytes())?;
    Some(model::name_of(words.next()?).into_owned()).filter(|word| !word.is_empty())
}

/// The members of `chosen` without an ancestor in `chosen`.
pub fn topmost(all: &BTreeMap<u32, Process>, chosen: &BTreeSet<u32>) -> Vec<u32> {
    let below = |pid: u32| ancestors(all, pid).any(|ancestor| chosen.contains(&ancestor));
    chosen.iter().copied().filter(|&pid| !below(pid)).collect()
}

/// Parent, grandparent and so on. A list read while processes come and go may have a cycle, hence the limit.
pub fn ancestors(all: &BTreeMap<u32, Process>, pid: u32) -> impl Iterator<Item = u32> {
    const DEEPEST: usize = 1000;
    let parent = |&pid: &u32| {
        all.get(&pid)
            .map(|process| process.parent)
            .filter(|&parent| parent != 0)
    };
    std::iter::successors(parent(&pid), parent).take(DEEPEST)
}
