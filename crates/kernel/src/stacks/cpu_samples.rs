//! What runs on each CPU, looked at by the clock: perf's cpu-clock event (perf_event_open(2)), which needs neither
//! BPF nor hardware counters.
//!
//! Each look gives the kernel's stack, and of user space the registers with a copy of the top of the stack, because
//! most programs are built without frame pointers.

use std::os::fd::{FromRawFd as _, OwnedFd};
use std::time::Duration;

use libbpf_rs::libbpf_sys::{
    PERF_COUNT_SW_CPU_CLOCK, PERF_FLAG_FD_CLOEXEC, PERF_TYPE_SOFTWARE, perf_event_attr,
};
use model::sentence;
use rustix::io::Errno;

use super::records::{self, REGISTERS, Record, SAMPLE_TYPE};
use super::ring::Ring;
use crate::bpf::Refusal;

/// What is copied of a stack: Debian's PostgreSQL needs up to 6 KiB in its planner, Java and Node more. A record has
/// at most 65,528 bytes.
const STACK_BYTES: u32 = 16 << 10;
/// Room of a sample, with its kernel stack.
const SAMPLE_BYTES: u64 = STACK_BYTES as u64 + 1_500;
/// A ring has room for the samples of this time: its reader may be starved.
const ROOM_MS: u64 = 300;
/// Bounds of a CPU's ring, bytes.
const RING_BYTES: std::ops::RangeInclusive<u64> = (256 << 10)..=(8 << 20);
/// How often rings are read, at most: a sampler's tick.
const LONGEST_PERIOD: Duration = Duration::from_millis(100);

/// The samples of all CPUs.
pub struct CpuSamples {
    rings: Vec<Ring>,
    /// For records that wrap.
    scratch: Vec<u8>,
    period_ns: i64,
    reading_period: Duration,
}

impl CpuSamples {
    /// Begins to look at each of these CPUs `rate` times a second.
    ///
    /// # Errors
    /// Where the kernel does not let this user look at all processes, or has no room.
    pub fn open(rate: u32, cpus: &[u32]) -> Result<Self, Refusal> {
        let rate = rate.max(1);
        let per_second = u64::from(rate) * SAMPLE_BYTES;
        let wanted = per_second * ROOM_MS / 1_000;
        let bytes = wanted.clamp(*RING_BYTES.start(), *RING_BYTES.end());
        let bytes = bytes.next_power_of_two();
        let mut rings = Vec::new();
        for cpu in cpus {
            match open_on(rate, *cpu) {
                Ok(event) => {
                    let ring = Ring::map(event, bytes as usize);
                    rings.push(ring.map_err(|errno| refusal("mmap", errno))?);
                }
                // It went offline since they were listed.
                Err(Errno::NODEV) => {}
                Err(errno) => return Err(refusal("perf_event_open(2)", errno)),
            }
        }
        Ok(Self {
            rings,
            scratch: Vec::with_capacity(usize::from(u16::MAX)),
            period_ns: 1_000_000_000 / i64::from(rate),
            // A third of its room is filled by then.
            reading_period: Duration::from_millis(bytes * 1_000 / per_second / 3)
                .clamp(Duration::from_millis(1), LONGEST_PERIOD),
        })
    }

    /// The CPU time that a sample stands for, ns.
    pub fn period_ns(&self) -> i64 {
        self.period_ns
    }

    /// How often `read` is to be called.
    pub fn reading_period(&self) -> Duration {
        self.reading_period
    }

    /// Memory of the rings, bytes.
    pub fn kernel_bytes(&self) -> u64 {
        self.rings.iter().map(Ring::bytes).sum()
    }

    /// Calls `each` for every record since the last call; those of a CPU in the order of time.
    pub fn read(&mut self, mut each: impl FnMut(Record<'_>)) {
        for ring in &mut self.rings {
            ring.drain(&mut self.scratch, |bytes| {
                if let Some(record) = records::record(bytes) {
                    each(record);
                }
            });
        }
    }
}

fn refusal(what: &'static str, errno: Errno) -> Refusal {
    let rights = matches!(errno, Errno::ACCESS | Errno::PERM);
    match rights && !rustix::process::geteuid().is_root() {
        true => Refusal::new(
            "only root, or who has CAP_PERFMON, may see what all processes run; kernel.perf_event_paranoid=0 allows everybody to",
        ),
        false => Refusal::new(sentence!("{}: {}", what, &Refusal::from(errno))),
    }
}

/// Opens the event of a CPU, for all processes.
fn open_on(rate: u32, cpu: u32) -> Result<OwnedFd, Errno> {
    let mut attributes = perf_event_attr {
        type_: PERF_TYPE_SOFTWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_SW_CPU_CLOCK),
        sample_type: u64::from(SAMPLE_TYPE),
        sample_regs_user: REGISTERS,
        sample_stack_user: STACK_BYTES,
        clockid: libc::CLOCK_BOOTTIME,
        ..perf_event_attr::default()
    };
    attributes.__bindgen_anon_1.sample_period = 1_000_000_000 / u64::from(rate);
    attributes.set_exclude_idle(1);
    attributes.set_exclude_hv(1);
    // User stacks are unwound from the copy.
    attributes.set_exclude_callchain_user(1);
    attributes.set_use_clockid(1);
    // Which process has which files mapped: those at the start are read from /proc, these are the changes.
    attributes.set_mmap(1);
    attributes.set_mmap2(1);
    attributes.set_comm(1);
    attributes.set_comm_exec(1);
    attributes.set_task(1);
    for_all_processes(&attributes, cpu)
}

/// Opens an event of a CPU, for all processes.
pub(crate) fn for_all_processes(attributes: &perf_event_attr, cpu: u32) -> Result<OwnedFd, Errno> {
    let (all_processes, no_group): (libc::c_long, libc::c_long) = (-1, -1);
    // SAFETY: the kernel reads `attributes` up to the size stated in it, and returns a new descriptor or an error.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            all_processes,
            libc::c_long::from(cpu),
            no_group,
            libc::c_long::from(PERF_FLAG_FD_CLOEXEC),
        )
    };
    match i32::try_from(answer) {
        // SAFETY: the kernel has just returned this descriptor, and no other code has it.
        Ok(number) if number >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
}
