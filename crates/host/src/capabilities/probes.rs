//! What the running kernel lets this process do, found out by trying, never by assuming.
//!
//! Each probe is undone at once and changes nothing for other processes. Probes run only if the tree that is
//! examined belongs to this kernel.

use std::env::consts::ARCH;
use std::ffi::c_long;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_getres};

use crate::bpf::Refusal;
use crate::bpf::pressure::Pressure;
use crate::bpf::requests::Requests;
use crate::bpf::tasks::Tasks;
use crate::bpf::thread_time::ThreadTime;
use crate::clock::boottime;
use crate::initial_namespaces::{Namespace, is_initial};

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

/// Kernel memory that programs took while they were loaded, bytes, if known.
pub(crate) type Taken = Option<u64>;

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
    /// The same for the program that walks over all threads.
    pub(crate) tasks_program: Result<Taken, Refusal>,
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
            bpf_map: bpf_map(),
            bpf_program: bpf_program(),
            pressure_program: Pressure::load().map(|it| it.kernel_bytes()),
            thread_time_programs: ThreadTime::load(ARCH).map(|it| it.kernel_bytes()),
            request_programs: Requests::load().map(|it| it.kernel_bytes()),
            tasks_program: Tasks::load().map(|it| it.kernel_bytes()),
            cpu_clock: perf_event(PERF_TYPE_SOFTWARE),
            cycles: perf_event(PERF_TYPE_HARDWARE),
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

/// Argument of bpf(2): the first fields of the kernel's union, the others 0 (include/uapi/linux/bpf.h).
#[repr(C, align(8))]
struct Question([u32; 32]);

const BPF_MAP_CREATE: c_long = 0;
const BPF_PROG_LOAD: c_long = 5;

fn bpf_map() -> Result<(), Errno> {
    const ARRAY: u32 = 2;
    let mut question = Question([0; 32]);
    // Type, key size, value size, entries.
    question.0[..4].copy_from_slice(&[ARRAY, 4, 8, 1]);
    ask_bpf(BPF_MAP_CREATE, &question)
}

/// A tracepoint program that does nothing, not attached.
fn bpf_program() -> Result<(), Errno> {
    const TRACEPOINT: u32 = 5;
    /// `r0 = 0; exit`.
    static DO_NOTHING: [u64; 2] = [0xb7, 0x95];
    static LICENCE: &[u8; 4] = b"GPL\0";
    let mut question = Question([0; 32]);
    question.0[..2].copy_from_slice(&[TRACEPOINT, DO_NOTHING.len() as u32]);
    for (at, address) in [
        (2, DO_NOTHING.as_ptr() as u64),
        (4, LICENCE.as_ptr() as u64),
    ] {
        let halves = [address.to_ne_bytes()];
        let [a, b, c, d, e, f, g, h] = halves[0];
        question.0[at] = u32::from_ne_bytes([a, b, c, d]);
        question.0[at + 1] = u32::from_ne_bytes([e, f, g, h]);
    }
    ask_bpf(BPF_PROG_LOAD, &question)
}

fn ask_bpf(command: c_long, question: &Question) -> Result<(), Errno> {
    // SAFETY: the kernel reads the whole of `question` and the statics that it points to; it writes nothing
    // there, and returns a new descriptor or an error.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_ref(question),
            size_of::<Question>(),
        )
    };
    closed(answer)
}

const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_TYPE_SOFTWARE: u32 = 1;

/// Opens event 0 of a type (cycles, cpu-clock) on this thread in user space; it is never enabled.
fn perf_event(kind: u32) -> Result<(), Errno> {
    /// The oldest layout of perf_event_attr, which every kernel accepts (PERF_ATTR_SIZE_VER0).
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        unused: [u64; 3],
        flags: u64,
        rest: [u64; 2],
    }
    const DISABLED: u64 = 1;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const CLOSE_ON_EXEC: c_long = 8;
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config: 0,
        unused: [0; 3],
        flags: DISABLED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        rest: [0; 2],
    };
    let (this_thread, any_cpu, no_group): (c_long, c_long, c_long) = (0, -1, -1);
    // SAFETY: the kernel reads `attributes` up to the size stated in it, and returns a new descriptor or an
    // error.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_cpu,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    closed(answer)
}

/// Closes the descriptor that a system call returned.
fn closed(answer: c_long) -> Result<(), Errno> {
    match i32::try_from(answer) {
        Ok(number) if number >= 0 => {
            // SAFETY: the kernel has just returned this descriptor, and no other code has it.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
            Ok(())
        }
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
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
            tasks_program: Ok(Some(1_500_000)),
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
