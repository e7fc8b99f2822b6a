//! What the running kernel lets this process do, found out by trying, never by assuming.
//!
//! Each probe is undone at once and changes nothing for other processes. Probes run only if the tree that is
//! examined belongs to this kernel.

use std::path::{Path, PathBuf};

use kernel::boottime;
use kernel::bpf::Refusal;
use kernel::initial_namespaces::{Namespace, is_initial};
use kernel::trials::{self, Taken};
use rustix::fs::{Access, StatVfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_getres};

/// A capability of a process (linux/capability.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Privilege {
    DacReadSearch = 2,
    IpcLock = 14,
    SysPtrace = 19,
    SysAdmin = 21,
    SysNice = 23,
    Perfmon = 38,
    Bpf = 39,
}

/// Identity and permissions of this process.
#[derive(Clone, Debug)]
pub(crate) struct Probes {
    pub(crate) euid: u32,
    /// Effective capabilities, one bit each.
    pub(crate) privileges: u64,
    /// Whether a seccomp filter is in force.
    pub(crate) filtered: bool,
    /// Its AppArmor or SELinux profile; empty if none.
    pub(crate) profile: String,
    /// Whether it is in the initial PID namespace.
    pub(crate) initial_pid_ns: bool,
    /// Whether it is in the initial cgroup namespace.
    pub(crate) initial_cgroup_ns: bool,
    /// Whether it is in the initial user namespace: otherwise its capabilities have no effect outside its
    /// own.
    pub(crate) initial_user_ns: bool,
    /// Limit of open files; `None` for no limit.
    pub(crate) most_files: Option<u64>,
    /// Limit of locked memory, bytes; `None` for no limit.
    pub(crate) lockable: Option<u64>,
    /// Whether its limit allows a real-time priority.
    pub(crate) may_rise: bool,
    /// The kernel's tick (1 s / HZ), ns.
    pub(crate) tick_ns: i64,
    /// Duration of one reading of the clock, ns.
    pub(crate) clock_ns: i64,
    pub(crate) bpf_map: Result<(), Errno>,
    pub(crate) bpf_program: Result<(), Errno>,
    /// Whether the program that reads pressure loads, or why not.
    pub(crate) pressure_program: Result<Taken, Refusal>,
    /// The same for the thread-time programs.
    pub(crate) thread_time_programs: Result<Taken, Refusal>,
    /// The same for the programs that time requests.
    pub(crate) request_programs: Result<Taken, Refusal>,
    /// The same for the programs at block devices.
    pub(crate) block_programs: Result<Taken, Refusal>,
    /// The same for the programs that count who talks to whom.
    pub(crate) flow_programs: Result<Taken, Refusal>,
    /// The same for the programs that report starts and ends of processes.
    pub(crate) process_programs: Result<Taken, Refusal>,
    /// The same for the program that walks over all threads.
    pub(crate) tasks_program: Result<Taken, Refusal>,
    /// Whether the kernel lists TCP sockets.
    pub(crate) tcp_sockets: Result<(), Errno>,
    /// Whether the kernel lists unix sockets with their other ends.
    pub(crate) unix_sockets: Result<(), Errno>,
    pub(crate) cpu_clock: Result<(), Errno>,
    pub(crate) cycles: Result<(), Errno>,
    /// The folder of recordings.
    pub(crate) folder: PathBuf,
    pub(crate) writable: Result<(), Errno>,
    /// Free space there, bytes.
    pub(crate) free: Result<u64, Errno>,
    /// Path of this program.
    pub(crate) program: PathBuf,
}

impl Probes {
    /// Runs all probes; recordings would go to `folder`.
    pub(crate) fn make(folder: &Path) -> Self {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.map(str::trim).unwrap_or_default()
        };
        let space = rustix::fs::statvfs(folder);
        let free = |it: StatVfs| it.f_bavail.saturating_mul(it.f_frsize);
        let profile = std::fs::read_to_string("/proc/self/attr/current").unwrap_or_default();
        Self {
            euid: rustix::process::geteuid().as_raw(),
            privileges: u64::from_str_radix(field("CapEff:"), 16).unwrap_or(0),
            filtered: field("Seccomp:") == "2",
            profile: profile.trim_end_matches(['\0', '\n']).to_owned(),
            initial_pid_ns: is_initial(Namespace::Pid),
            initial_cgroup_ns: is_initial(Namespace::Cgroup),
            initial_user_ns: is_initial(Namespace::User),
            most_files: getrlimit(Resource::Nofile).maximum,
            lockable: getrlimit(Resource::Memlock).current,
            may_rise: getrlimit(Resource::Rtprio).current != Some(0),
            tick_ns: clock_getres(ClockId::RealtimeCoarse).tv_nsec,
            clock_ns: clock_cost_ns(),
            bpf_map: trials::bpf_map(),
            bpf_program: trials::bpf_program(),
            pressure_program: trials::pressure_program(),
            thread_time_programs: trials::thread_time_programs(),
            request_programs: trials::request_programs(),
            block_programs: trials::block_programs(),
            flow_programs: trials::flow_programs(),
            process_programs: trials::process_programs(),
            tasks_program: trials::tasks_program(),
            tcp_sockets: trials::tcp_sockets(),
            unix_sockets: trials::unix_sockets(),
            cpu_clock: trials::cpu_clock(),
            cycles: trials::cycles(),
            writable: rustix::fs::access(folder, Access::WRITE_OK),
            folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
            free: space.map(free),
            program: std::env::current_exe().unwrap_or_else(|_| "stallscope".into()),
        }
    }

    /// Whether it has a capability over the machine: those of another user namespace do not count.
    pub(crate) fn may(&self, privilege: Privilege) -> bool {
        self.initial_user_ns && self.privileges >> (privilege as u32) & 1 == 1
    }
}

/// Mean duration of a reading, of the shortest of several series: the others were interrupted.
fn clock_cost_ns() -> i64 {
    const READINGS: i64 = 100;
    let series = (0..10).map(|_| {
        let start = boottime();
        for _ in 0..READINGS {
            std::hint::black_box(boottime());
        }
        (boottime().as_ns() - start.as_ns()) / READINGS
    });
    series.min().unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Root on a machine that allows everything.
    pub(crate) fn everything() -> Probes {
        Probes {
            euid: 0,
            privileges: u64::MAX,
            filtered: false,
            profile: String::new(),
            initial_pid_ns: true,
            initial_cgroup_ns: true,
            initial_user_ns: true,
            most_files: Some(1_048_576),
            lockable: None,
            may_rise: true,
            tick_ns: 4_000_000,
            clock_ns: 50,
            bpf_map: Ok(()),
            bpf_program: Ok(()),
            pressure_program: Ok(Some(1_500_000)),
            thread_time_programs: Ok(Some(1_500_000)),
            request_programs: Ok(Some(1_500_000)),
            block_programs: Ok(Some(1_500_000)),
            flow_programs: Ok(Some(1_500_000)),
            process_programs: Ok(Some(1_500_000)),
            tasks_program: Ok(Some(1_500_000)),
            tcp_sockets: Ok(()),
            unix_sockets: Ok(()),
            cpu_clock: Ok(()),
            cycles: Ok(()),
            folder: "/home/ada".into(),
            writable: Ok(()),
            free: Ok(10 << 30),
            program: "/usr/local/bin/stallscope".into(),
        }
    }

    /// An ordinary user.
    pub(crate) fn ordinary() -> Probes {
        Probes {
            euid: 1000,
            privileges: 0,
            lockable: Some(8 << 20),
            may_rise: false,
            bpf_map: Err(Errno::PERM),
            bpf_program: Err(Errno::PERM),
            pressure_program: Err(Refusal::new("Operation not permitted (os error 1)")),
            thread_time_programs: Err(Refusal::new("Operation not permitted (os error 1)")),
            request_programs: Err(Refusal::new("Operation not permitted (os error 1)")),
            block_programs: Err(Refusal::new("Operation not permitted (os error 1)")),
            flow_programs: Err(Refusal::new("Operation not permitted (os error 1)")),
            process_programs: Err(Refusal::new("Operation not permitted (os error 1)")),
            tasks_program: Err(Refusal::new("Operation not permitted (os error 1)")),
            cycles: Err(Errno::NOENT),
            ..everything()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_leave_no_descriptor_open() {
        let open = || std::fs::read_dir("/proc/self/fd").expect("listed").count();
        // Other tests of this process open files too, so one quiet round out of many suffices.
        let quiet = (0..100).any(|_| {
            let before = open();
            let probes = Probes::make(Path::new("."));
            probes.tick_ns > 0 && probes.clock_ns > 0 && open() == before
        });
        assert!(quiet);
    }

    #[test]
    fn a_privilege_is_a_bit() {
        let mut probes = testing::ordinary();
        assert!(!probes.may(Privilege::SysPtrace));
        probes.privileges = 1 << 19;
        assert!(probes.may(Privilege::SysPtrace));
        assert!(!probes.may(Privilege::Bpf));
    }
}
