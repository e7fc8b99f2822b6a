use super::*;

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
