//! Mounts parsed from text, and groups in folders that the test creates.

use std::path::{Path, PathBuf};

use model::Window;

use super::*;
use kernel::hierarchies::{Placement, groups_of};

#[test]
fn the_v2_root_is_found_wherever_it_is_mounted() {
    let hybrid = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                  32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct\n\
                  41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    let found = Hierarchies::from_mountinfo(hybrid.as_bytes(), Path::new("/"));
    let point = |found: &Hierarchies| found.v2.as_ref().map(|mount| mount.point.clone());
    assert_eq!(point(&found), Some(PathBuf::from("/sys/fs/cgroup/unified")));
    assert_eq!(found.v1.keys().collect::<Vec<_>>(), ["cpu", "cpuacct"]);
    assert_eq!(found.layout(), "hybrid");
    let pure = "25 30 0:23 / /sys/fs/cgroup\\040x rw - cgroup2 cgroup2 rw,nsdelegate\nnonsense\n";
    let found = Hierarchies::from_mountinfo(pure.as_bytes(), Path::new("/host"));
    assert_eq!(point(&found), Some(PathBuf::from("/host/sys/fs/cgroup x")));
    assert_eq!(found.layout(), "v2");
}

#[test]
fn a_container_that_sees_only_its_own_group_finds_it() {
    let inside = "700 690 0:38 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n";
    let mount = Hierarchies::from_mountinfo(inside.as_bytes(), Path::new("/"))
        .v2
        .expect("mounted");
    let folder = |path: &str| mount.folder(path);
    assert_eq!(folder("/docker/ab"), Some(PathBuf::from("/sys/fs/cgroup/")));
    assert_eq!(
        folder("/docker/ab/x"),
        Some(PathBuf::from("/sys/fs/cgroup/x"))
    );
    assert_eq!(folder("/docker/abc"), None);
    assert_eq!(folder("/"), None);
}

#[test]
fn sensors_lost_by_a_tracked_group_are_reopened_and_deep_groups_stay() {
    let top = tempfile::tempdir().expect("a temporary folder");
    let deep = "/d".repeat(30);
    for path in ["/g", &deep] {
        let folder = top.path().join(&path[1..]);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("cpu.stat"), "usage_usec 1\n").expect("written");
    }
    let mount = Mount {
        point: top.path().to_owned(),
        root: "/".to_owned(),
    };
    let hierarchies = Hierarchies {
        v2: Some(mount),
        ..Hierarchies::default()
    };
    let mut out = Output::default();
    let mut groups = Cgroups::new(hierarchies, out.recorded_of(sensors::Scope::Cgroup));
    let at = Timestamp::from_ns;
    for path in ["/g", &deep] {
        groups.ensure(path, at(1), &mut out);
    }
    groups.mark_tracked(["/g"].into_iter(), &mut out.gaps);
    let group = groups.groups.get_mut("/g").expect("it is there");
    let probe = group.probes.remove(0);
    group.lost.push(Lost::new(&probe, at(2)));
    groups.scan(at(5), &mut out);
    groups.look_for_lost(at(5), &mut out.gaps);
    let group = &groups.groups["/g"];
    assert!(group.lost.is_empty());
    assert!(group.probes.iter().all(|probe| !probe.first_decides));
    let gaps: Vec<_> = out.gaps.take_fresh().filter_map(|gap| gap.window).collect();
    assert_eq!(
        gaps,
        [Window::new(at(2), at(5))],
        "it was never read before"
    );
    assert!(groups.groups.contains_key(&deep), "a process led there");
    std::fs::remove_dir_all(top.path().join("d")).expect("removed");
    groups.scan(at(6), &mut out);
    assert!(!groups.groups.contains_key(&deep));
}

#[test]
fn a_process_names_its_groups_per_hierarchy() {
    let hybrid = b"9:name=systemd:/\n4:memory:/m\n1:cpu,cpuacct:/limited\n0::/stall/a \xff\n";
    assert_eq!(
        groups_of(hybrid),
        Placement {
            cpu: Some(b"/limited".as_slice()),
            memory: Some(b"/m".as_slice()),
            io: None,
            v2: Some(b"/stall/a \xff".as_slice()),
        }
    );
    assert_eq!(
        groups_of(b"0::/user.slice\n"),
        Placement {
            v2: Some(b"/user.slice".as_slice()),
            ..Placement::default()
        }
    );
    assert_eq!(groups_of(b"x"), Placement::default());
}
