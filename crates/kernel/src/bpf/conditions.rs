//! What has to hold before programs are loaded: the PID namespace, memory, and how much room their maps need.

use std::path::Path;

use model::sentence;

use super::refusal::Refusal;
use crate::hierarchies::{Hierarchies, groups_of};
use crate::initial_namespaces::{Namespace, is_initial};

/// Whether programs that report processes may be loaded here.
///
/// # Errors
/// Why not.
pub(super) fn may_report_processes() -> Result<(), Refusal> {
    require_initial_pid_namespace()?;
    with_memory(memory_limit(Path::new("/")))
}

/// Such programs report pids of the initial PID namespace, so this process has to be in it.
fn require_initial_pid_namespace() -> Result<(), Refusal> {
    if is_initial(Namespace::Pid) {
        return Ok(());
    }
    Err(Refusal::new(
        "processes have other numbers in this PID namespace than in the kernel (in a container: --pid=host)",
    ))
}

/// Loading programs takes memory, mostly the verifier's, that is charged to the recorder's control group for
/// a moment: with a limit of 64 MB the OOM killer ended the recorder.
fn with_memory(limit: Option<u64>) -> Result<(), Refusal> {
    const ENOUGH: u64 = 256 << 20;
    match limit.filter(|limit| *limit < ENOUGH) {
        Some(limit) => Err(Refusal::new(sentence!(
            "the recorder's control group may have {} MB of memory, and loading is only tried with {} MB or more",
            limit >> 20,
            ENOUGH >> 20
        ))),
        None => Ok(()),
    }
}

/// The lowest memory limit of this process's control group and its ancestors, bytes.
fn memory_limit(root: &Path) -> Option<u64> {
    let mounts = std::fs::read(root.join("proc/self/mountinfo")).ok()?;
    let mounts = Hierarchies::from_mountinfo(&mounts, root);
    let groups = std::fs::read(root.join("proc/self/cgroup")).ok()?;
    let groups = groups_of(&groups);
    let (mount, group, file) = match mounts.v1.get("memory") {
        Some(mount) => (mount, groups.memory?, "memory.limit_in_bytes"),
        None => (mounts.v2.as_ref()?, groups.v2?, "memory.max"),
    };
    let own = mount.folder(&model::name_of(group))?;
    let folders = own
        .ancestors()
        .take_while(|it| it.starts_with(&mount.point));
    let limits = folders.filter_map(|folder| {
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        // `max` means no limit.
        text.trim().parse().ok()
    });
    limits.min()
}

/// `values`, but no more than this machine can have threads: a small machine has less memory for map entries.
pub(super) fn at_most_threads(values: u32) -> u32 {
    let most = std::fs::read_to_string("/proc/sys/kernel/threads-max");
    let most = most.ok().and_then(|text| text.trim().parse().ok());
    // If the number is unknown, the machine is taken for an ordinary one.
    values.min(most.unwrap_or(values)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_of_a_group_and_those_above_it_counts() {
        let root = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("room");
            std::fs::write(path, text).expect("room");
        };
        assert_eq!(memory_limit(root.path()), None, "nothing is mounted");
        write("proc/self/cgroup", "0::/pod/one\n");
        write(
            "proc/self/mountinfo",
            "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
        );
        write("sys/fs/cgroup/pod/one/memory.max", "max\n");
        assert_eq!(memory_limit(root.path()), None);
        write("sys/fs/cgroup/pod/memory.max", "67108864\n");
        assert_eq!(memory_limit(root.path()), Some(64 << 20));
        write("sys/fs/cgroup/pod/one/memory.max", "no number\n");
        let limit = memory_limit(root.path());
        let why = with_memory(limit).expect_err("it is too little");
        assert!(why.to_string().contains("may have 64 MB"), "{why}");
        assert!(with_memory(Some(1 << 30)).is_ok() && with_memory(None).is_ok());
    }
}
