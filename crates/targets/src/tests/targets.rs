//! What `--target` arguments mean on made-up trees.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::super::{Listener, NamedTarget, listeners, listening_here, resolve};
use super::{Fake, LISTEN, NOBODY, tcp_line, write_net};

/// postgres 10 (backend 11), redis 20, a shell 30 with a second postgres 31 in it, a generator 40.
fn machine() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    write_processes(tree.path());
    write_sockets(tree.path());
    write_groups(tree.path());
    tree
}

fn write_processes(proc: &Path) {
    let common = Fake::default();
    Fake { pid: 1, ..common }.write(proc);
    Fake {
        pid: 10,
        parent: 1,
        comm: "postgres",
        argv0: "/usr/lib/bin/postgres",
        sockets: &[5],
        ..common
    }
    .write(proc);
    Fake {
        pid: 11,
        parent: 10,
        comm: "postgres",
        argv0: "postgres: app [local] idle",
        sockets: &[5],
        ..common
    }
    .write(proc);
    Fake {
        pid: 20,
        parent: 1,
        comm: "redis-server",
        argv0: "redis-server *:6379",
        sockets: &[6],
        ..common
    }
    .write(proc);
    Fake {
        pid: 30,
        parent: 1,
        comm: "sh",
        argv0: "/bin/sh",
        ..common
    }
    .write(proc);
    Fake {
        pid: 31,
        parent: 30,
        comm: "renamed-thread",
        argv0: "/opt/postgres",
        ..common
    }
    .write(proc);
    Fake {
        pid: 40,
        parent: 1,
        comm: "pgbench",
        argv0: "pgbench",
        ..common
    }
    .write(proc);
}

fn write_sockets(proc: &Path) {
    let listening = |port, inode| tcp_line([("0.0.0.0", port), NOBODY], LISTEN, 0, inode);
    let sockets = [listening(6379, 6), listening(5432, 5), listening(7000, 99)];
    write_net(proc, "tcp", &sockets.concat());
}

fn write_groups(proc: &Path) {
    for (group, pids) in [
        ("a/x.service", "20\n0\n"),
        ("a/x.service/inner", "10\n11\n"),
        ("a/app.scope", "31\n"),
        ("empty", ""),
    ] {
        fs::create_dir_all(proc.join("cgroup").join(group)).unwrap();
        fs::write(proc.join("cgroup").join(group).join("cgroup.procs"), pids).unwrap();
    }
}

fn meant(tree: &TempDir, text: &str) -> Result<Vec<u32>, String> {
    let target: NamedTarget = text.parse().unwrap();
    let mounts: [PathBuf; 2] = [tree.path().join("absent"), tree.path().join("cgroup")];
    let found = resolve(tree.path(), &mounts, &target.spec, &HashSet::from([40]));
    found.map_err(|error| {
        error
            .to_string()
            .replace(&tree.path().display().to_string(), "")
    })
}

#[test]
fn a_target_means_its_topmost_processes() {
    let tree = machine();
    for (text, pids) in [
        ("port:5432", vec![10]),
        ("port:6379", vec![20]),
        ("pid:11", vec![11]),
        ("name:^postgres$", vec![10, 31]),
        ("name:redis", vec![20]),
        ("cgroup:/a/x.service", vec![10, 11, 20]),
        ("cgroup:a/x.service/inner", vec![10, 11]),
        ("unit:x", vec![10, 11, 20]),
        ("unit:x.service", vec![10, 11, 20]),
        ("unit:app", vec![31]),
    ] {
        assert_eq!(meant(&tree, text), Ok(pids), "{text}");
    }
}

#[test]
fn missing_targets_are_errors_in_full_sentences() {
    let tree = machine();
    for (text, sentence) in [
        (
            "port:5433",
            "no process listens on port 5433 (listening here: 5432 postgres, 6379 redis-server, 7000 ?). \
             Name another: --target port:5432",
        ),
        (
            "port:7000",
            "no process that can be seen from here listens on port 7000, although the port is taken: \
             its server is the kernel or in another container. Name it: --target pid:N, or cgroup:PATH",
        ),
        (
            "pid:99999",
            "no process 99999 is alive. Name one that is: --target pid:N, or name:REGEX",
        ),
        (
            "name:foo",
            "no process matches name:foo. Names are those that `ps -e` shows; or say --target port:N",
        ),
        (
            "name:^pgbench",
            "no process matches name:^pgbench. Names are those that `ps -e` shows; or say --target port:N",
        ),
        (
            "pid:40",
            "pid:40 is Stallscope or its load generator: name the program that serves the load",
        ),
        (
            "cgroup:/empty",
            "the cgroup /empty has no process: start the program first, or name another: --target pid:N",
        ),
        (
            "cgroup:/no",
            "there is no cgroup /no (looked below /absent, /cgroup). `cat /proc/PID/cgroup` shows the path of a process",
        ),
        (
            "unit:no",
            "no unit no is running: no cgroup has that name. `systemctl status no` tells more",
        ),
    ] {
        assert_eq!(meant(&tree, text), Err(sentence.to_owned()), "{text}");
    }
    write_net(tree.path(), "tcp", "");
    let error = meant(&tree, "port:1").unwrap_err();
    assert!(
        error.contains("(listening here: nothing). Start the server first"),
        "{error}"
    );
}

#[test]
fn listening_sockets_are_listed_briefly() {
    let tree = machine();
    assert_eq!(
        listening_here(&listeners(tree.path())),
        "5432 postgres, 6379 redis-server, 7000 ?"
    );
    assert_eq!(listening_here(&[]), "nothing");
    let listener = |port, path: Option<&str>| Listener {
        port,
        path: path.map(str::to_owned),
        pid: None,
        name: "x".to_owned(),
    };
    let many: Vec<Listener> = (1..=10).map(|port| listener(Some(port), None)).collect();
    assert_eq!(
        listening_here(&many),
        "1 x, 2 x, 3 x, 4 x, 5 x, 6 x, 7 x, 8 x and 2 more"
    );
    let both = [listener(Some(1), None), listener(None, Some("/run/a"))];
    assert_eq!(listening_here(&both), "1 x");
    assert_eq!(listening_here(&both[1..]), "/run/a x");
}
