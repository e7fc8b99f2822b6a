//! Parts of a made-up machine.

use std::fs;
use std::path::Path;

use model::UnitKind;

use super::Fake;
use crate::Look;

const ID: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn process(proc: &Path, pid: u32, parent: u32, comm: &str) {
    let process = Fake {
        pid,
        parent,
        comm,
        argv0: comm,
        ..Fake::default()
    };
    process.write(proc);
    let folder = proc.join(pid.to_string());
    fs::create_dir_all(folder.join("task").join(pid.to_string())).unwrap();
    // A login, in which nothing has a group of its own.
    let login = "0::/user.slice/user-1000.slice/session-3.scope\n";
    fs::write(folder.join("cgroup"), login).unwrap();
}

/// As Podman starts them for a user without root's rights on a machine with control groups of version 1.
#[test]
fn a_container_without_a_group_has_its_name_from_the_monitor_above_it() {
    let root = tempfile::tempdir().unwrap();
    let proc = root.path().join("proc");
    for (pid, parent, comm) in [
        (50, 1, "conmon"),
        (60, 50, "sh"),
        (61, 60, "redis-server"),
        (62, 61, "redis-server"),
        // Called so by somebody else.
        (70, 1, "conmon"),
        (71, 70, "make"),
        (80, 1, "make"),
    ] {
        process(&proc, pid, parent, comm);
    }
    let line = format!("/usr/bin/conmon\0-c\0{ID}\0-n\0shop\0");
    fs::write(proc.join("50/cmdline"), line).unwrap();
    let parts = Look::new(&proc, None).since(&Look::new(&proc, None), &proc, None);
    let mut found: Vec<(UnitKind, &str, u32, u32)> = parts
        .iter()
        .map(|part| (part.unit.kind, &*part.name, part.pids[0], part.threads))
        .collect();
    found.sort_by_key(|(_, _, pid, _)| *pid);
    let expected = [
        (UnitKind::Process, "conmon", 50, 1),
        (UnitKind::Container, "shop", 60, 3),
        (UnitKind::Process, "conmon", 70, 1),
        (UnitKind::Process, "make", 71, 1),
        (UnitKind::Process, "make", 80, 1),
    ];
    assert_eq!(found, expected);
    assert!(parts.iter().all(|part| part.unit.group.is_none()));
}
