//! Parsers of this crate that only the fuzzer (folder `fuzz/`) uses from outside.
//!
//! They open no file. What a parser promises beyond "no panic" is asserted here.

use std::path::Path;

use crate::data_folder::version;
use crate::exports::{bias, exports};
use crate::hierarchies::{Hierarchies, groups_of};
use crate::process_list;

/// A process's `stat`.
///
/// # Panics
/// When a name for use in a sentence has a control character, which could command a terminal.
pub fn stat(bytes: &[u8]) {
    if let Some(process) = process_list::parse_stat(bytes) {
        assert!(!process.comm.contains(char::is_control));
    }
}

/// The file in which PostgreSQL states its version.
///
/// # Panics
/// When the result has anything but digits and dots.
pub fn stated_version(text: &str) {
    if let Some(version) = version(text) {
        assert!(version.bytes().all(|it| it.is_ascii_digit() || it == b'.'));
    }
}

/// A program's file, and a process's auxv; returns whether the program exports a wait event.
pub fn program(file: &[u8], auxv: &[u8]) -> bool {
    let found = exports(file, ["my_wait_event_info", "MyProc", "MyBEEntry"]);
    bias(auxv, found.map_or(0, |found| found.headers));
    found.is_some_and(|found| found.pointers.iter().any(Option::is_some))
}

/// A process's `mountinfo` and `cgroup`.
///
/// # Panics
/// When the folder of a group is not below the mount of its hierarchy.
pub fn groups(mountinfo: &[u8], cgroup: &[u8]) {
    let hierarchies = Hierarchies::from_mountinfo(mountinfo, Path::new("/"));
    let groups = groups_of(cgroup);
    let paths = [groups.cpu, groups.memory, groups.io, groups.v2];
    for mount in hierarchies.v2.iter().chain(hierarchies.v1.values()) {
        for folder in paths
            .into_iter()
            .flatten()
            .filter_map(|it| mount.folder(&model::name_of(it)))
        {
            let inside = folder.strip_prefix(&mount.point).expect("below its mount");
            assert!(!inside.iter().any(|part| part == ".."), "{folder:?}");
        }
    }
}
