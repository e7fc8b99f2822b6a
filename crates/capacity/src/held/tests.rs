use std::process::{Child, Command};

use super::*;
use crate::Group;

/// A process that sleeps in a group of its own.
#[expect(clippy::zombie_processes, reason = "who asked for it waits for it")]
pub(crate) fn held(name: &str) -> Option<(Group, Child, Held)> {
    if !rustix::process::geteuid().is_root() {
        kernel::requirement::skipped("a cgroup", "making one needs root");
        return None;
    }
    let group = Group::create(name).expect("a group");
    let words = group.inside();
    let child = Command::new(&words[0])
        .args(&words[1..])
        .args(["sleep", "60"])
        .spawn()
        .expect("a shell");
    loop {
        let held = Held::of(child.id()).expect("it runs");
        // The shell moves before it becomes the command.
        let is_inside = |it| held.members(it).is_ok_and(|all| all == [child.id()]);
        if Controller::ALL.into_iter().all(is_inside) {
            return Some((group, child, held));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn inside(folder: &Folder) -> Folder {
    Folder {
        path: folder.path.join("inner"),
        ..folder.clone()
    }
}

pub(crate) fn texts(change: &Change) -> Vec<String> {
    let text = |step: &Step| read(&step.path).expect("a file").trim().to_owned();
    change.steps.iter().map(text).collect()
}

#[test]
fn capacities_are_lowered_read_back_and_restored() {
    let Some((_group, mut child, held)) = held("held") else {
        return;
    };
    let machine = crate::Machine::read(&[]).expect("/proc");
    let disk = machine
        .disk_busy_ns
        .keys()
        .find(|it| it.starts_with("254:"));
    let disk = disk.or(machine.disk_busy_ns.keys().next()).expect("a disk");
    let disk = Lowered::Disk {
        disk: disk.clone(),
        reads: Some(100),
        writes: None,
    };
    for (lowered, is_same) in [
        (Lowered::Cpu(0.25), true),
        (Lowered::Memory(64 << 20), true),
        (disk, false),
    ] {
        let change = held.change(&lowered).expect("it is ours");
        let before = texts(&change);
        change.apply().expect("the kernel takes it");
        let during = texts(&change);
        assert_ne!(before, during, "{lowered:?}");
        if is_same {
            let wanted: Vec<&String> = change.steps.iter().map(|it| &it.lowered).collect();
            assert_eq!(during.iter().collect::<Vec<_>>(), wanted);
        }
        change.restore().expect("the kernel takes it");
        assert_eq!(texts(&change), before, "{lowered:?}");
    }
    assert_eq!(held.quota().expect("a group"), None);
    let quarter = held.change(&Lowered::Cpu(0.25)).expect("it is ours");
    quarter.apply().expect("the kernel takes it");
    assert_eq!(held.quota().expect("a group"), Some(0.25));
    // What was there before is put back, not what is usual.
    let less = held.change(&Lowered::Cpu(0.1)).expect("it is ours");
    less.apply().expect("the kernel takes it");
    less.restore().expect("the kernel takes it");
    assert_eq!(held.quota().expect("a group"), Some(0.25));
    assert!(held.memory().expect("a group").0 > 0);
    assert!(held.disks().is_ok() && held.cpu_ns().is_ok());
    child.kill().expect("it sleeps");
    child.wait().expect("it ended");
}

/// As in a container with groups of its own: what the group around it may use limits it as well. In the unified
/// hierarchy a group with processes has none with controllers below it.
fn limits_of_the_group_around_it(held: &Held, disk: &str) {
    let inner = Held {
        folders: held.folders.iter().map(inside).collect(),
        ..held.clone()
    };
    for folder in &inner.folders {
        fs::create_dir(&folder.path).expect("root may make groups");
    }
    let [own, around] = [held, &inner].map(|it| {
        let disk = it.disk_limits(disk).expect("a group").reads;
        let (_, memory) = it.memory().expect("a group");
        (disk, it.quota().expect("a group"), memory)
    });
    for folder in &inner.folders {
        fs::remove_dir(&folder.path).expect("nobody is in it");
    }
    assert_eq!(own, (Some(300), Some(0.25), Some(64 << 20)));
    assert_eq!(around, own);
}

#[test]
fn a_limit_that_is_lower_already_is_not_raised() {
    let Some((_group, mut child, held)) = held("low") else {
        return;
    };
    let machine = crate::Machine::read(&[]).expect("/proc");
    let disk = machine.disk_busy_ns.keys().find(|it| it.ends_with(":0"));
    let disk = disk.expect("a disk").clone();
    let reads = |most| Lowered::Disk {
        disk: disk.clone(),
        reads: Some(most),
        writes: None,
    };
    assert_eq!(held.disk_limits(&disk).expect("a group").reads, None);
    for (low, high) in [
        (Lowered::Cpu(0.25), Lowered::Cpu(1.5)),
        (Lowered::Memory(64 << 20), Lowered::Memory(1 << 30)),
        (reads(300), reads(2_370)),
    ] {
        let low = held.change(&low).expect("it is ours");
        low.apply().expect("the kernel takes it");
        let as_it_is = texts(&low);
        let high = held.change(&high).expect("it is ours");
        high.apply().expect("the kernel takes it");
        assert_eq!(texts(&low), as_it_is);
        high.restore().expect("the kernel takes it");
        assert_eq!(texts(&low), as_it_is);
    }
    if held.folders.iter().all(|it| !it.is_v2) {
        limits_of_the_group_around_it(&held, &disk);
    }
    child.kill().expect("it sleeps");
    child.wait().expect("it ended");
}
