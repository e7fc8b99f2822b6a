//! Process trees: all descendants of a process, and the topmost process of the same program.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::process_list;

/// A process and all its live descendants; empty if it has exited.
pub fn tree_of(proc: &Path, root: u32) -> Vec<u32> {
    trees_of(proc, [root])
}

/// The same of several, each process once. The list of all processes is read once for them together.
pub fn trees_of(proc: &Path, roots: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let all = process_list::all(proc);
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for process in all.values() {
        let siblings = children.entry(process.parent).or_default();
        siblings.push(process.pid);
    }
    let mut trees = Vec::new();
    let mut met = HashSet::new();
    let mut next: Vec<u32> = roots.into_iter().collect();
    next.retain(|root| all.contains_key(root));
    while let Some(pid) = next.pop() {
        if met.insert(pid) {
            trees.push(pid);
            next.extend(children.get(&pid).into_iter().flatten());
        }
    }
    trees
}

/// The topmost ancestor of `pid` that runs the same program: the postmaster of a backend, the master of a
/// worker. Programs are compared by file, or by name if the file may not be seen. `None` if one of them exits
/// meanwhile, because its ancestors are then unknown.
pub fn program_root(proc: &Path, pid: u32) -> Option<u32> {
    let mut root = pid;
    while let Some(parent) = process_list::read(proc, root).map(|process| process.parent) {
        if parent <= 1 || parent == root || !same_program(proc, root, parent) {
            break;
        }
        root = parent;
    }
    process_list::read(proc, root).map(|_| root)
}

fn same_program(proc: &Path, one: u32, other: u32) -> bool {
    let file = |pid: u32| fs::read_link(proc.join(pid.to_string()).join("exe")).ok();
    let name = |pid: u32| process_list::read(proc, pid).map(|process| process.comm);
    match (file(one), file(other)) {
        (Some(one), Some(other)) => one == other,
        _ => name(one).is_some() && name(one) == name(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_in_its_parents_tree_and_runs_another_program() {
        let mut sleep = std::process::Command::new("sleep");
        crate::signal_at_parents_end(sleep.arg("30"), rustix::process::Signal::KILL);
        let mut child = sleep.spawn().expect("sleep starts");
        let proc = Path::new("/proc");
        assert!(tree_of(proc, std::process::id()).contains(&child.id()));
        let both = trees_of(proc, [child.id(), std::process::id(), u32::MAX]);
        let count = both.iter().filter(|pid| **pid == child.id()).count();
        assert!(count == 1 && both.contains(&std::process::id()));
        assert_eq!(program_root(proc, child.id()), Some(child.id()));
        child.kill().expect("it was running");
        child.wait().expect("it has ended");
        assert_eq!(program_root(proc, child.id()), None);
        assert_eq!(tree_of(proc, u32::MAX), Vec::<u32>::new());
    }
}
