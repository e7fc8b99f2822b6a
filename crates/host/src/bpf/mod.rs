//! Programs in the kernel (`bpf/`): whether they is available here, and the user's side of each.
//!
//! Nothing depends on them: where one cannot be loaded, what it would have told is read from files or is
//! missing, and `doctor` says why.

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

use libbpf_rs::{ErrorKind, Link, Object, PrintLevel, ProgramType, set_print};

use crate::capabilities::has_first_pids;
use crate::hierarchies::{Hierarchies, groups_of};

/// The code that loads each program, made from it when this crate is built.
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

/// Why a program is not used here, for a person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(String);

impl Refusal {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// What an ordinary user meets: no fault of a program's, and nothing that libbpf has to say is of help.
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
        // Root who is refused meets something else, such as a lockdown.
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

/// The hooks that programs are at which report events.
struct Hooks {
    _always: Vec<Link>,
    /// Of those that events come at by the ten thousand, while they are there.
    often: Vec<Link>,
    names: &'static [&'static str],
}

impl Hooks {
    /// Puts all programs at theirs; those of these names can be taken off for a while.
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

/// Attaches the programs that report events, of those that are wanted by name. A skeleton's own `attach` leaves
/// those attached that came before one that is refused (libbpf-rs 0.27).
fn attached(object: &mut Object, wanted: impl Fn(&OsStr) -> bool) -> Result<Vec<Link>, Refusal> {
    let tracing = object
        .progs_mut()
        // Those whose hook this kernel does not have were left out.
        .filter(|program| program.prog_type() == ProgramType::Tracing && program.autoload())
        .filter(|program| wanted(program.name()));
    let links: Result<_, libbpf_rs::Error> = tracing.map(|program| program.attach()).collect();
    Ok(links?)
}

/// Whether programs that report processes may be loaded here.
///
/// # Errors
/// Why not.
pub(crate) fn may_tell_of_processes() -> Result<(), Refusal> {
    with_first_pids()?;
    with_memory(memory_limit(Path::new("/")))
}

/// They report them by the kernel's own numbers, which must be the ones that are known here.
fn with_first_pids() -> Result<(), Refusal> {
    if has_first_pids() {
        return Ok(());
    }
    Err(Refusal::new(
        "processes have other numbers in this PID namespace than in the kernel (in a container: --pid=host)",
    ))
}

/// To load programs takes memory that is charged to the recorder's control group for a moment, the verifier's
/// most of all: with a limit of 64 MB the kernel ended the recorder.
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

/// The lowest limit of this process's group and those above it, bytes.
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
        // `max` is none.
        text.trim().parse().ok()
    });
    limits.min()
}

/// So many values for threads or processes, or as many as this machine may ever have: a small one has less
/// memory for them.
fn at_most_threads(values: u32) -> u32 {
    let most = std::fs::read_to_string("/proc/sys/kernel/threads-max");
    let most = most.ok().and_then(|text| text.trim().parse().ok());
    // Not told, it is a machine like others.
    values.min(most.unwrap_or(values)).max(1)
}

/// What libbpf has to say while a program is loaded.
static SAID: Mutex<String> = Mutex::new(String::new());
/// Beyond it, the verifier's tale is cut off.
const MOST_SAID: usize = 65_536;

/// Loads something; what libbpf says to it goes into the refusal and not to the user's terminal.
fn quietly<T>(load: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    fn keep(_: PrintLevel, text: String) {
        if let Ok(mut said) = SAID.lock()
            && said.len() < MOST_SAID
        {
            said.push_str(&text);
        }
    }
    let before = set_print(Some((PrintLevel::Warn, keep)));
    let loaded = load();
    set_print(before);
    let said = SAID.lock().map(|mut said| std::mem::take(&mut *said));
    loaded.map_err(|refusal| match said.as_deref().map(first_reason) {
        Ok(Some(reason)) if refusal != Refusal::of_rights() => {
            Refusal(format!("{refusal} ({reason})"))
        }
        _ => refusal,
    })
}

/// The line of libbpf's report that says most.
fn first_reason(said: &str) -> Option<&str> {
    let lines = || said.lines().map(|line| line.trim_start_matches("libbpf: "));
    let telling = |line: &&str| line.contains("failed") || line.contains("not supported");
    lines().find(telling).or_else(|| lines().next())
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
