//! How much of other users' processes this process may see.

use std::path::Path;

use rustix::io::Errno;

use super::answer::{Answer, counted};
use super::host_facts::HostFacts;
use super::probes::{Privilege, Probes};

/// The capabilities that a recorder uses, and no others.
const WANTED: &str = "cap_sys_ptrace,cap_dac_read_search,cap_sys_nice,cap_ipc_lock";

/// Whether /proc shows every process.
pub(super) fn processes(host: &HostFacts<'_>) -> Answer {
    const COSTS: &str = "Every process of other users: a server that runs as one is not found, and cpu.neighbour and io.neighbour \
        have no name.";
    let mounts = host.text("proc/self/mountinfo").unwrap_or_default();
    let Some(options) = proc_options(&mounts) else {
        if host.probes.is_none() {
            return Answer::not_probed();
        }
        return Answer::unknown("/proc/self/mountinfo does not name the mount of /proc.");
    };
    let value = |key: &str| {
        let option = options.split(',').find_map(|it| it.strip_prefix(key));
        option.filter(|it| !["0", "off", ""].contains(it))
    };
    if let Some(subset) = value("subset=") {
        return Answer::missing(format!(
            "/proc is mounted with subset={subset}: it shows processes, and no /proc/stat, /proc/pressure or the like."
        ))
        .costs("The machine: CPU times, pressure, memory, disks.")
        .fixed_by(host.type_in(
            "a sandbox does that (of systemd: ProcSubset=pid): run outside of it, or mount another",
            &["{sudo}mount -t proc proc /proc"],
        ));
    }
    let Some(hidden) = value("hidepid=") else {
        return Answer::fine(
            "/proc shows the processes of all users (no hidepid in /proc/self/mountinfo).",
        );
    };
    match &host.probes {
        Some(probes) if probes.may(Privilege::SysPtrace) => Answer::fine(format!(
            "/proc is mounted with hidepid={hidden}, which hides nothing from CAP_SYS_PTRACE."
        )),
        _ => Answer::missing(format!(
            "/proc is mounted with hidepid={hidden}: processes of other users are not shown."
        ))
        .costs(COSTS)
        .fixed_by(host.type_in(
            "or run as root; an entry of /proc in /etc/fstab may set it again",
            &["{sudo}mount -o remount,hidepid=0 /proc"],
        )),
    }
}

/// Options of the topmost mount at /proc, the last in the list.
fn proc_options(mounts: &str) -> Option<&str> {
    let of_proc = |line: &str| line.split(' ').nth(4) == Some("/proc");
    let line = mounts.lines().rfind(|line| of_proc(line))?;
    line.split_once(" - ")?.1.split(' ').nth(2)
}

/// Whether this process may read what other users' threads wait for.
pub(super) fn other_users(host: &HostFacts<'_>) -> Answer {
    const COSTS: &str = "What threads of other users are blocked in: lock.futex, lock.database, io.sync and memory.reclaim cannot be \
        judged for them; who moved bytes on a disk, for io.neighbour; which process serves a socket is guessed from its owner.";
    let Some(probes) = &host.probes else {
        return Answer::not_probed();
    };
    let scope = host.line("proc/sys/kernel/yama/ptrace_scope");
    if scope.as_deref() == Some("3") {
        return Answer::missing("kernel.yama.ptrace_scope is 3: nobody may look into another process, root neither.")
            .costs(COSTS)
            .fixed_by(host.type_in(
                "it cannot be lowered while the machine runs: set it to 1 where /etc/sysctl.d sets it, then",
                &["{sudo}reboot"],
            ));
    }
    let looked = Looked::into_others(host, probes);
    if let Some(answer) = allowed(probes, &looked) {
        return answer;
    }
    let who = match probes.euid {
        0 if !probes.initial_user_ns => {
            "root of a user namespace, which is nobody outside of it".to_owned()
        }
        0 if !has_capabilities(probes) => "root without CAP_SYS_PTRACE".to_owned(),
        0 => format!(
            "root, and still refused by a security policy{}",
            confinement(probes)
        ),
        user if !has_capabilities(probes) => {
            format!("user {user}, without CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH")
        }
        user => format!(
            "user {user}, and refused in spite of CAP_SYS_PTRACE{}",
            confinement(probes)
        ),
    };
    let has_capability = has_capabilities(probes);
    // /proc/PID/syscall needs ptrace permission, which Yama denies even for a user's own processes.
    let whose = match scope.as_deref() {
        Some("1") if !has_capability => {
            "only threads of what it starts itself say what they are blocked in (kernel.yama.ptrace_scope is 1)"
        }
        Some("2") if !has_capability => {
            "no other process says what it is blocked in (kernel.yama.ptrace_scope is 2)"
        }
        _ => "only its own threads say what they are blocked in",
    };
    let fix = match has_capability {
        true => host.type_in(
            "let the policy allow it; a container under Docker's profile of AppArmor is started with --security-opt apparmor=unconfined",
            &[],
        ),
        false => with_rights(host, probes),
    };
    Answer::missing(format!("This is {who}: {whose}."))
        .costs(COSTS)
        .fixed_by(fix)
}

/// The answer from reading other processes, or from capabilities if there is none to try.
fn allowed(probes: &Probes, looked: &Looked) -> Option<Answer> {
    match (looked.open, looked.closed.first()) {
        (0, None) if has_capabilities(probes) => Some(Answer::fine(
            "Threads of all users may be looked into (CAP_SYS_PTRACE); there is no process to try it on.",
        )),
        (0, _) => None,
        // Processes of the same user are readable, others' are not.
        (_, Some(_)) if !has_capabilities(probes) => None,
        (open, None) => Some(Answer::fine(format!(
            "What threads of others are blocked in may be read (/proc/PID/syscall of {}).",
            counted(open, "process", "processes")
        ))),
        (open, Some(name)) => Some(Answer::fine(format!(
            "What threads of others are blocked in may be read (/proc/PID/syscall of {}, but not of {}, {name} for one).",
            counted(open, "process", "processes"),
            looked.closed.len()
        ))),
    }
}

/// Whether this process may open what only the owner may, and read what only a tracer may.
fn has_capabilities(probes: &Probes) -> bool {
    let opens = probes.may(Privilege::DacReadSearch) || probes.euid == 0;
    probes.may(Privilege::SysPtrace) && opens
}

/// A profile that may forbid what capabilities allow, in brackets.
fn confinement(probes: &Probes) -> String {
    match probes.profile.as_str() {
        "" => String::new(),
        profile => format!(" ({profile})"),
    }
}

/// Processes whose /proc/PID/syscall could be read.
#[derive(Default)]
struct Looked {
    open: usize,
    /// Names of processes that refused.
    closed: Vec<String>,
}

impl Looked {
    /// Tries processes of other users; as root, those of all users.
    fn into_others(host: &HostFacts<'_>, probes: &Probes) -> Self {
        /// Enough for an answer.
        const MOST: usize = 100;
        let entries = host.tree.entries("proc").unwrap_or_default();
        let mut pids: Vec<u32> = entries
            .iter()
            .filter_map(|it| it.name.parse().ok())
            .collect();
        pids.sort_unstable();
        let own = std::process::id();
        let others = pids
            .into_iter()
            .filter(|pid| *pid != own && is_others(host, probes, *pid));
        let mut looked = Self::default();
        for pid in others.take(MOST) {
            match host.tree.read(&format!("proc/{pid}/syscall")) {
                Ok(_) => looked.open += 1,
                Err(Errno::ACCESS | Errno::PERM) => {
                    let name = host.line(&format!("proc/{pid}/comm")).unwrap_or_default();
                    looked.closed.push(format!("{name} ({pid})"));
                }
                // The process has exited, or the kernel lacks this file.
                Err(_) => {}
            }
        }
        looked
    }
}

/// Whether a process is another user's and has memory of its own (kernel threads have no command line); for
/// root, every user's process counts.
fn is_others(host: &HostFacts<'_>, probes: &Probes, pid: u32) -> bool {
    let command = host.tree.read(&format!("proc/{pid}/cmdline"));
    command.is_ok_and(|it| !it.is_empty())
        && (probes.euid == 0 || {
            let status = host.text(&format!("proc/{pid}/status")).unwrap_or_default();
            let owner = status.lines().find_map(|line| line.strip_prefix("Uid:"));
            let owner = owner.and_then(|it| it.split_ascii_whitespace().next()?.parse().ok());
            owner.is_some_and(|owner: u32| owner != probes.euid)
        })
}

/// How this program gets the rights that it is missing.
pub(super) fn with_rights(host: &HostFacts<'_>, probes: &Probes) -> model::Fix {
    if host.is_in_container() {
        return host.type_in(
            "`container` says what to ask of the one who starts this container",
            &[],
        );
    }
    if probes.euid == 0 {
        return host.type_in(
            "somebody took rights from this root: CapabilityBoundingSet= of a unit, --cap-add= of a container",
            &[],
        );
    }
    let program = shell_word(&probes.program);
    host.type_in(
        "run Stallscope as root, or give the program the rights once; an ordinary user may then use it",
        &[&format!("{{sudo}}setcap {WANTED}+ep {program}")],
    )
}

/// A path, quoted for a shell.
pub(super) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    match text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_on_top_counts() {
        let mounts = "22 1 0:20 / /proc rw - proc proc rw\n\
                      90 22 0:99 / /proc rw,nosuid - proc proc rw,hidepid=invisible\n\
                      91 22 0:99 / /proc/sys rw - proc proc rw\n";
        assert_eq!(proc_options(mounts), Some("rw,hidepid=invisible"));
        assert_eq!(proc_options(""), None);
        assert_eq!(proc_options("22 1 0:20 / /proc rw"), None);
    }

    #[test]
    fn a_path_survives_a_shell() {
        assert_eq!(shell_word(Path::new("/opt/a-b/c")), "/opt/a-b/c");
        assert_eq!(shell_word(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
