//! Processes of the machine, as /proc lists them (proc(5)).

use std::fs;

use capacity::Stopped;
use regex::Regex;

/// A command line is looked at so far, bytes.
const MOST_BYTES: usize = 4096;
/// Names of more processes are counted.
const MOST_NAMES: usize = 5;

/// A process that a pattern names.
pub(super) struct Matching {
    pub(super) process: Stopped,
    pub(super) name: String,
}

/// Those whose name or command line matches, but for those that are left out. Threads of the kernel have no command line,
/// and cannot be stopped.
pub(super) fn matching(pattern: &Regex, without: &[u32]) -> Vec<Matching> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| !without.contains(pid))
        .filter_map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let line = &line[..line.len().min(MOST_BYTES)];
            let words: Vec<_> = line
                .split(|byte| *byte == 0)
                .map(String::from_utf8_lossy)
                .collect();
            let line = words.join(" ");
            let name = name(pid)?;
            let is_user = !line.trim().is_empty();
            let is_wanted = pattern.is_match(&name) || pattern.is_match(line.trim());
            (is_user && is_wanted).then_some(())?;
            Some(Matching {
                process: Stopped::of(pid)?,
                name,
            })
        })
        .collect()
}

/// A process and all that it descends from.
pub(crate) fn with_ancestors(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    // A chain that changes while it is read has an end all the same.
    while let Some(parent) = found.last().copied().and_then(parent)
        && parent != 0
        && !found.contains(&parent)
    {
        found.push(parent);
    }
    found
}

/// Their names, each once.
pub(super) fn names(pids: &[u32]) -> Vec<String> {
    let mut names: Vec<String> = pids.iter().filter_map(|it| name(*it)).collect();
    names.sort();
    names.dedup();
    if names.len() > MOST_NAMES {
        let more = names.len() - MOST_NAMES;
        names.truncate(MOST_NAMES);
        names.push(format!("{more} more"));
    }
    names
}

fn name(pid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

fn parent(pid: u32) -> Option<u32> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let behind = text.rsplit_once(')')?.1;
    behind.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn processes_are_found_by_name_and_by_command_line_and_left_out() {
        let mut child = std::process::Command::new("sleep")
            .arg("61.25")
            .spawn()
            .expect("sleep");
        let found = |pattern: &str, without: &[u32]| -> Vec<u32> {
            let pattern = Regex::new(pattern).expect("a pattern");
            let all = matching(&pattern, without);
            all.iter().map(|it| it.process.pid()).collect()
        };
        // A moment after it was started it has no command line yet.
        let until = Instant::now() + Duration::from_secs(10);
        while found("sleep 61\\.25$", &[]) != [child.id()] {
            assert!(Instant::now() < until, "it is not found");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(found("^sleep$", &[]).contains(&child.id()));
        assert!(!found("^sleep$", &[child.id()]).contains(&child.id()));
        let line = with_ancestors(child.id());
        assert_eq!(line[..2], [child.id(), std::process::id()]);
        assert_eq!(names(&[child.id()]), ["sleep"]);
        child.kill().expect("it sleeps");
        child.wait().expect("it ended");
    }
}
