//! The machine as it is at the start of a recording.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cgroups::Hierarchies;

/// What is known of the machine once and for all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Environment {
    /// Facts by name.
    pub facts: BTreeMap<String, String>,
    /// CPUs online.
    pub cpus: u32,
    /// `/etc/machine-id`, or empty.
    pub machine_id: String,
    /// Random per boot, or empty.
    pub boot_id: String,
    /// Host name.
    pub node: String,
    /// Where the cgroup hierarchies are.
    pub hierarchies: Hierarchies,
}

/// Reads the environment below `root` (`/`, or a tree of captured files).
pub fn environment(root: &Path) -> Environment {
    let read = |path: &str| std::fs::read(root.join(path)).ok();
    let text = |path: &str| {
        read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
            .unwrap_or_default()
    };
    let mut facts = BTreeMap::new();
    for fact in sensors::environment::FACTS {
        if let Some(value) = read(fact.path).and_then(|bytes| (fact.read)(&bytes)) {
            facts.insert(fact.name.to_owned(), value);
        }
    }
    let hierarchies = Hierarchies::from_mountinfo(&text("proc/self/mountinfo"), root);
    facts.insert("cgroup.layout".to_owned(), hierarchies.layout().to_owned());
    facts.insert(
        "machine.architecture".to_owned(),
        rustix::system::uname()
            .machine()
            .to_string_lossy()
            .into_owned(),
    );
    facts.insert(
        "recorder.user".to_owned(),
        if rustix::process::geteuid().is_root() {
            "root"
        } else {
            "ordinary"
        }
        .to_owned(),
    );
    let cpus = text("proc/stat")
        .lines()
        .filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "))
        .count();
    Environment {
        facts,
        cpus: cpus.max(1) as u32,
        machine_id: text("etc/machine-id"),
        boot_id: text("proc/sys/kernel/random/boot_id"),
        node: text("proc/sys/kernel/hostname"),
        hierarchies,
    }
}

/// How many CPUs the affinity of a process allows, its cpuset included; `None` when it is gone.
pub fn cpus_allowed(pid: u32) -> Option<u32> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    Some(rustix::thread::sched_getaffinity(Some(pid)).ok()?.count())
}
