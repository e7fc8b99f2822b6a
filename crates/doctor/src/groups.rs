//! Control groups: layout, controllers, and how much of the hierarchy is visible from here.

use std::path::Path;

use model::Fix;
use sensors::{Hierarchy, Scope};

use super::answer::Answer;
use super::host_facts::HostFacts;
use kernel::hierarchies::Mount;

/// Most groups that are examined: the first ones are representative.
const MOST_GROUPS: usize = 1_000;
/// Deepest nesting that is examined.
const MOST_DEPTH: usize = 16;

/// A group's folder and the names of its files.
pub(super) struct Group {
    pub(super) folder: String,
    files: Vec<String>,
}

impl Group {
    pub(super) fn has(&self, file: &str) -> bool {
        self.files.iter().any(|it| it == file)
    }
}

/// Groups found, the one at the mount point first.
pub(super) struct Found {
    pub(super) groups: Vec<Group>,
    cut: bool,
}

impl Found {
    /// Addition to a sentence if there are more groups.
    pub(super) fn beyond(&self) -> String {
        match self.cut {
            true => format!(" (only {MOST_GROUPS} were looked at)"),
            false => String::new(),
        }
    }
}

/// The groups at and below a mount point.
pub(super) fn below(host: &HostFacts<'_>, point: &Path) -> Found {
    let mut found = Found {
        groups: Vec::new(),
        cut: false,
    };
    let mut next = vec![(point.display().to_string(), 0)];
    while let Some((folder, depth)) = next.pop() {
        if found.groups.len() >= MOST_GROUPS {
            found.cut = true;
            break;
        }
        let entries = host.tree.entries(&folder).unwrap_or_default();
        let (inner, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(|it| it.is_folder);
        if depth < MOST_DEPTH {
            let inner = inner.iter().rev();
            next.extend(inner.map(|it| (format!("{folder}/{}", it.name), depth + 1)));
        }
        let files = files.into_iter().map(|it| it.name).collect();
        found.groups.push(Group { folder, files });
    }
    found
}

/// A controller of v2.
struct Controller {
    name: &'static str,
    /// Its name in v1.
    v1: &'static str,
    /// A file that a group has with this controller; the root never has it.
    file: &'static str,
    /// What cannot be seen without it. A group without cpu can have no quota, and its CPU time is counted
    /// anyway.
    lost: &'static str,
}

const CONTROLLERS: [Controller; 3] = [
    Controller {
        name: "cpu",
        v1: "cpu",
        file: "cpu.max",
        lost: "",
    },
    Controller {
        name: "memory",
        v1: "memory",
        file: "memory.max",
        lost: "memory.limit and memory.oom",
    },
    Controller {
        name: "io",
        v1: "blkio",
        file: "io.max",
        lost: "io.throttled, and which group moved how much on which disk",
    },
];

/// Checks layout and controllers.
pub(super) fn check(host: &HostFacts<'_>) -> Answer {
    let found = &host.hierarchies;
    if found.layout() == "none" {
        return Answer::missing("No cgroup hierarchy is mounted (/proc/self/mountinfo).")
            .costs("Which limits groups have and what they use: cpu.quota, memory.limit, memory.oom and io.throttled.")
            .fixed_by(host.type_in("", &["{sudo}mount -t cgroup2 none /sys/fs/cgroup"]));
    }
    let layout = layout(host);
    let v2 = found.v2.as_ref().map(|mount| below(host, &mount.point));
    let groups = v2.map_or(Vec::new(), |found| found.groups);
    // A container's visible root is a group like any other.
    let has = |it: &&Controller| {
        found.v1.contains_key(it.v1) || groups.iter().any(|group| group.has(it.file))
    };
    let (there, absent): (Vec<_>, Vec<_>) = CONTROLLERS.iter().partition(has);
    let lost: Vec<&Controller> = absent
        .into_iter()
        .filter(|it| !it.lost.is_empty())
        .collect();
    let with = match names(&there).as_str() {
        "" => "its groups have no controllers".to_owned(),
        some => format!("its groups have {some}"),
    };
    let Some(first) = lost.first() else {
        return Answer::fine(format!("{layout}; {with}."));
    };
    if found.v1.is_empty() && groups.len() <= 1 {
        return Answer::fine(format!("{layout}; it has no groups yet."));
    }
    let costs: Vec<_> = lost.iter().map(|it| it.lost).collect();
    let why = match &found.v2 {
        Some(mount) => format!(" (no {} below /{})", first.file, mount.point.display()),
        None => String::new(),
    };
    let without = match there.is_empty() {
        true => String::new(),
        false => format!(", not {}", names(&lost)),
    };
    Answer::missing(format!("{layout}; {with}{without}{why}."))
        .costs(format!("Of groups: {}.", costs.join("; ")))
        .fixed_by(switched_on(host, &lost))
}

fn names(controllers: &[&Controller]) -> String {
    let names: Vec<_> = controllers.iter().map(|it| it.name).collect();
    names.join(", ")
}

fn switched_on(host: &HostFacts<'_>, lost: &[&Controller]) -> Fix {
    let only_words = |how: &str| Fix {
        how: how.to_owned(),
        commands: Vec::new(),
    };
    if lost.iter().any(|it| it.name == "memory") && host.was_booted_with("cgroup_disable=memory") {
        return only_words(
            "take cgroup_disable=memory out of the boot parameters and reboot; a Raspberry Pi, whose firmware adds it, \
             needs cgroup_enable=memory in /boot/firmware/cmdline.txt",
        );
    }
    let Some(mount) = &host.hierarchies.v2 else {
        return only_words(
            "mount the v1 hierarchy of each, as systemd does where the kernel has it",
        );
    };
    let wanted: Vec<_> = lost.iter().map(|it| format!("+{}", it.name)).collect();
    let command = format!(
        "echo {} | {{sudo}}tee /{}/cgroup.subtree_control",
        wanted.join(" "),
        mount.point.display()
    );
    let how = "until the next boot; with systemd, MemoryAccounting=yes and IOAccounting=yes of a unit keep it";
    host.type_in(how, &[&command])
}

/// `Layout hybrid, v2 at /sys/fs/cgroup/unified, v1 for blkio, cpu`.
fn layout(host: &HostFacts<'_>) -> String {
    let found = &host.hierarchies;
    let mut parts = vec![format!("Layout {}", found.layout())];
    if let Some(mount) = &found.v2 {
        let of = if found.v1.is_empty() { "" } else { "v2 " };
        parts.push(format!("{of}at /{}", mount.point.display()));
        if mount.root != "/" {
            parts.push(format!("of which only {} is seen from here", mount.root));
        }
    }
    if !found.v1.is_empty() {
        let of = if found.v2.is_none() { "" } else { "v1 " };
        let names: Vec<_> = found.v1.keys().map(String::as_str).collect();
        parts.push(format!("{of}for {}", names.join(", ")));
    }
    parts.join(", ")
}

/// Number of groups, and of their files that a recording keeps open, over all hierarchies.
pub(super) fn group_files(host: &HostFacts<'_>) -> (usize, usize) {
    let of_groups = sensors::all().iter().filter(|it| it.scope == Scope::Cgroup);
    let sources: Vec<_> = of_groups.flat_map(|sensor| sensor.sources).collect();
    let (mut groups, mut files) = (0, 0);
    let mut look = |mount: &Mount, is_here: &dyn Fn(Hierarchy) -> bool| {
        let here: Vec<_> = sources.iter().filter(|it| is_here(it.hierarchy)).collect();
        if here.is_empty() {
            return;
        }
        let found = below(host, &mount.point).groups;
        groups = groups.max(found.len());
        let of = |group: &Group| here.iter().filter(|it| group.has(it.path)).count();
        files += found.iter().map(of).sum::<usize>();
    };
    if let Some(mount) = &host.hierarchies.v2 {
        look(mount, &|it| it == Hierarchy::V2);
    }
    for (controller, mount) in &host.hierarchies.v1 {
        look(
            mount,
            &|it| matches!(it, Hierarchy::V1(name) if name == controller),
        );
    }
    (groups, files)
}

#[cfg(test)]
mod tests {
    use super::super::tree::testing::Drawn;
    use super::*;

    #[test]
    fn groups_are_walked_the_mounts_own_first() {
        let tree = Drawn::new(
            "g/cpu.stat = x\ng/b/cpu.stat = x\ng/a/cpu.stat = x\ng/a/c/cpu.pressure = x\n",
        );
        let found = below(&HostFacts::new(&tree, None, true), Path::new("g"));
        let folders: Vec<_> = found.groups.iter().map(|it| it.folder.as_str()).collect();
        assert_eq!(folders, ["g", "g/a", "g/a/c", "g/b"]);
        assert!(found.groups[2].has("cpu.pressure") && !found.groups[1].has("cpu.pressure"));
        assert_eq!(found.beyond(), "");
    }
}
