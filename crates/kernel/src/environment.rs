//! The machine at the start of a recording.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::hierarchies::Hierarchies;
use crate::root;

/// Facts about the machine that do not change.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Environment {
    /// Root of the kernel's files: `/`, or another folder that has them.
    pub root: PathBuf,
    /// Facts by name.
    pub facts: BTreeMap<String, String>,
    /// CPUs online.
    pub cpus: u32,
    /// Their numbers.
    pub online_cpus: Vec<u32>,
    /// `/etc/machine-id`, or empty.
    pub machine_id: String,
    /// The kernel's boot id, random per boot, or empty.
    pub boot_id: String,
    /// Host name.
    pub node: String,
    /// Mount points of the cgroup hierarchies.
    pub hierarchies: Hierarchies,
}

/// Reads the environment below `root`: `/`, or another folder with the kernel's files.
pub fn environment(root: &Path) -> Environment {
    let read = |path: &str| std::fs::read(root::place(root, path)).ok();
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
    let hierarchies =
        Hierarchies::from_mountinfo(&read("proc/self/mountinfo").unwrap_or_default(), root);
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
    if !root::is_own(root) {
        let shown = model::name_of(root.as_os_str().as_bytes()).into_owned();
        facts.insert("recorder.root".to_owned(), shown);
    }
    let online = read("proc/stat").unwrap_or_default();
    let online_cpus: Vec<u32> = sensors::cpus_online(&online)
        .filter_map(|cpu| u32::try_from(cpu).ok())
        .collect();
    // /proc/sys/kernel/hostname gives the reader's own UTS namespace, so another root's name is read from its
    // /etc.
    let host = (!root::is_own(root)).then(|| text("etc/hostname"));
    let host = host.filter(|name| !name.is_empty());
    let node = host.unwrap_or_else(|| text("proc/sys/kernel/hostname"));
    Environment {
        root: root.to_owned(),
        facts,
        cpus: online_cpus.len().max(1) as u32,
        online_cpus,
        machine_id: text("etc/machine-id"),
        boot_id: text("proc/sys/kernel/random/boot_id"),
        node,
        hierarchies,
    }
}

/// The online CPUs that a process's affinity and cpuset allow, by number; `None` if the process has exited.
///
/// The mask may include CPUs that do not exist but could be added; those do not count.
pub fn cpus_allowed(root: &Path, pid: u32) -> Option<Vec<u32>> {
    let status = std::fs::read(root.join(format!("proc/{pid}/status"))).ok()?;
    let allowed = sensors::cpus_allowed(&status)?;
    let stat = std::fs::read(root.join("proc/stat")).ok()?;
    let online = sensors::cpus_online(&stat);
    let allowed = online.filter(|cpu| allowed.contains(*cpu));
    Some(allowed.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}
