//! BPF programs (`bpf/`): whether they can be loaded here, and the user-space side of each.
//!
//! Nothing depends on them: where one cannot be loaded, its data is read from files or is missing, and
//! `doctor` says why.

mod clock;
pub(crate) mod fold;
mod footprint;
mod mapped;
mod per_cpu;
pub(crate) mod pressure;
pub(crate) mod probes;
pub(crate) mod requests;
pub(crate) mod tasks;
pub(crate) mod thread_time;
#[cfg(test)]
mod verifier;

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use libbpf_rs::{ErrorKind, Link, Object, PrintLevel, ProgramAttachType, ProgramType, set_print};

use crate::capabilities::in_initial_pid_namespace;
use crate::hierarchies::{Hierarchies, groups_of};

/// Skeletons, generated from the programs when this crate is built.
#[allow(
    clippy::all,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    non_camel_case_types,
    unused_imports
)]
mod skeletons {
    pub(crate) mod clock {
        include!(concat!(env!("OUT_DIR"), "/clock.skel.rs"));
    }
    pub(crate) mod floor {
        include!(concat!(env!("OUT_DIR"), "/floor.skel.rs"));
    }
    pub(crate) mod thread_time {
        include!(concat!(env!("OUT_DIR"), "/thread_time.skel.rs"));
    }
    pub(crate) mod pressure {
        include!(concat!(env!("OUT_DIR"), "/pressure.skel.rs"));
    }
    pub(crate) mod requests {
        include!(concat!(env!("OUT_DIR"), "/requests.skel.rs"));
    }
    pub(crate) mod tasks {
        include!(concat!(env!("OUT_DIR"), "/tasks.skel.rs"));
    }
}

/// Why a program is not used here, as a sentence for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(String);

impl Refusal {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// The refusal of an ordinary user: no program is at fault, and libbpf's messages would not help.
    fn of_rights() -> Self {
        Self::new(
            "only root, or who has CAP_BPF and CAP_PERFMON, may load programs into the kernel",
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<libbpf_rs::Error> for Refusal {
    fn from(error: libbpf_rs::Error) -> Self {
        // If root is refused, the reason is another one, such as a lockdown.
        if error.kind() == ErrorKind::PermissionDenied && !rustix::process::geteuid().is_root() {
            return Self::of_rights();
        }
        Self(format!("{error:#}"))
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        std::io::Error::from(error).into()
    }
}

/// Attached programs that report events.
struct Hooks {
    _always: Vec<Link>,
    /// Programs on frequent events, while they are attached.
    often: Vec<Link>,
    names: &'static [&'static str],
}

impl Hooks {
    /// Attaches all programs; those named in `often` can be detached for off-windows.
    fn attach(object: &mut Object, often: &'static [&'static str]) -> Result<Self, Refusal> {
        Ok(Self {
            _always: attached(object, |name| !often.iter().any(|it| name == *it))?,
            often: attached(object, |name| often.iter().any(|it| name == *it))?,
            names: often,
        })
    }

    fn detach(&mut self) {
        self.often.clear();
    }

    fn attach_again(&mut self, object: &mut Object) -> Result<(), Refusal> {
        if self.often.is_empty() {
            let names = self.names;
            self.often = attached(object, |name| names.iter().any(|it| name == *it))?;
        }
        Ok(())
    }
}

/// Attaches the tracing programs whose names are wanted. A skeleton's own `attach` leaves those attached that
/// came before a refused one (libbpf-rs 0.27).
fn attached(object: &mut Object, wanted: impl Fn(&OsStr) -> bool) -> Result<Vec<Link>, Refusal> {
    let tracing = object
        .progs_mut()
        // Programs whose hook this kernel does not have are not loaded.
        .filter(|program| program.prog_type() == ProgramType::Tracing && program.autoload())
        // Walks run when they are read.
        .filter(|program| !matches!(program.attach_type(), ProgramAttachType::TraceIter))
        .filter(|program| wanted(program.name()));
    let links: Result<_, libbpf_rs::Error> = tracing.map(|program| program.attach()).collect();
    Ok(links?)
}

/// Whether programs that report processes may be loaded here.
///
/// # Errors
/// Why not.
pub(crate) fn may_report_processes() -> Result<(), Refusal> {
    require_initial_pid_namespace()?;
    with_memory(memory_limit(Path::new("/")))
}

/// Such programs report pids of the initial PID namespace, so this process has to be in it.
fn require_initial_pid_namespace() -> Result<(), Refusal> {
    if in_initial_pid_namespace() {
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
        Some(limit) => Err(Refusal::new(format!(
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
fn at_most_threads(values: u32) -> u32 {
    let most = std::fs::read_to_string("/proc/sys/kernel/threads-max");
    let most = most.ok().and_then(|text| text.trim().parse().ok());
    // If the number is unknown, the machine is taken for an ordinary one.
    values.min(most.unwrap_or(values)).max(1)
}

/// libbpf's messages while a program is loaded.
static MESSAGES: Mutex<String> = Mutex::new(String::new());
/// Longer verifier logs are cut off here, bytes.
const MOST_MESSAGES: usize = 65_536;

/// Loads something; libbpf's messages go into the refusal, not to the user's terminal.
fn quietly<T>(load: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    fn append(_: PrintLevel, text: String) {
        if let Ok(mut messages) = MESSAGES.lock()
            && messages.len() < MOST_MESSAGES
        {
            messages.push_str(&text);
        }
    }
    let before = set_print(Some((PrintLevel::Warn, append)));
    let loaded = load();
    set_print(before);
    let messages = MESSAGES
        .lock()
        .map(|mut messages| std::mem::take(&mut *messages));
    loaded.map_err(|refusal| match messages.as_deref().map(first_reason) {
        Ok(Some(reason)) if refusal != Refusal::of_rights() => {
            Refusal(format!("{refusal} ({reason})"))
        }
        _ => refusal,
    })
}

/// The most informative line of libbpf's messages.
fn first_reason(messages: &str) -> Option<&str> {
    let lines = || {
        messages
            .lines()
            .map(|line| line.trim_start_matches("libbpf: "))
    };
    let has_reason = |line: &&str| line.contains("failed") || line.contains("not supported");
    lines().find(has_reason).or_else(|| lines().next())
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
